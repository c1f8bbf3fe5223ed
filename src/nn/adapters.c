/* xlm-mpi: the kinds of adapters, and all adapters of a model. SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "nn/adapter.h"
#include "nn/model_parts.h"
#include "options/options.h"
#include "tensor/columns.h"
#include "tensor/tape.h"

/* The table: one line per kind, in the order of XLM_ADAPTER_... */
#define KINDS(KIND) \
    KIND(lora) \
    KIND(bottleneck)

#define DECLARE(name) extern const xlm_adapter_class xlm_adapter_##name;
#define ADDRESS(name) &xlm_adapter_##name,
KINDS(DECLARE)
const xlm_adapter_class *const xlm_adapter_classes[] = {KINDS(ADDRESS) NULL};

static const xlm_adapter_class *class_of(const xlm_adapter *a) { return xlm_adapter_classes[a->kind]; }

#define EACH_ADAPTER(a, adapters) \
    for (const xlm_adapter *a = (adapters)->one; a < (adapters)->one + (adapters)->n; a++)

/* ---- what adapters are ---- */

static bool check_setting(const xlm_option *setting, const xlm_adapter *a, GError **error)
{
    xlm_option table[] = {*setting, XLM_OPTION_END};
    if (setting->type == XLM_OPTION_REAL) /* any number: those of other programs may be beyond what job files allow */
        table->minimum = table->maximum = 0;
    if (xlm_options_check(table, a, error))
        return true;
    g_prefix_error(error, "adapter %s: ", a->name);
    return false;
}

static bool check_one(const xlm_adapters *adapters, const xlm_adapter *a, GError **error)
{
    if (!xlm_adapter_is_name(a->name))
        return xlm_error_set(error, EX_CONFIG, "adapter \"%s\": names are of letters, digits, _ and -", a->name);
    if (xlm_adapters_find(adapters, a->name) != a)
        return xlm_error_set(error, EX_CONFIG, "adapter %s is there twice", a->name);
    if (!(a->dropout >= 0) || !(a->dropout < 1))
        return xlm_error_set(error, EX_CONFIG, "adapter %s: dropout = %g is not from 0 to below 1", a->name, a->dropout);
    if (a->targets != 0 && class_of(a)->beside == NULL)
        return xlm_error_set(error, EX_CONFIG, "adapter %s: kind = %s is not beside linear layers", a->name, class_of(a)->name);
    bool good = true;
    for (const xlm_option *setting = class_of(a)->settings; good && setting->name != NULL; setting++)
        good = check_setting(setting, a, error);
    return good;
}

bool xlm_adapters_check(const xlm_adapters *adapters, GError **error)
{
    bool good = (adapters->n >= 0 && adapters->n <= XLM_MAX_ADAPTERS) ||
                xlm_error_set(error, EX_CONFIG, "a model can have %d adapters, not %" G_GINT64_FORMAT, XLM_MAX_ADAPTERS,
                              adapters->n);
    for (int64_t k = 0; good && k < adapters->n; k++)
        good = check_one(adapters, &adapters->one[k], error);
    return good;
}

bool xlm_adapters_fit(const xlm_model_config *config, GError **error)
{
    EACH_ADAPTER(a, &config->adapters)
        if (class_of(a)->fits != NULL && !class_of(a)->fits(a, config, error))
            return false;
    return true;
}

void xlm_adapter_complete(xlm_adapter *adapter, const xlm_adapter *like)
{
    if (class_of(adapter)->complete != NULL)
        class_of(adapter)->complete(adapter, like, 0);
}

void xlm_adapters_fill_in_sizes(xlm_adapters *adapters, int64_t d)
{
    for (int64_t k = 0; k < adapters->n; k++)
        if (class_of(&adapters->one[k])->complete != NULL)
            class_of(&adapters->one[k])->complete(&adapters->one[k], NULL, d);
}

char *xlm_adapter_difference(const xlm_adapter *there, const xlm_adapter *here)
{
    if (there->kind != here->kind)
        return g_strdup_printf("kind = %s there, %s here", class_of(there)->name, class_of(here)->name);
    for (const xlm_option *setting = class_of(here)->settings; setting->name != NULL; setting++) {
        g_autofree char *before = xlm_option_print(setting, there), *after = xlm_option_print(setting, here);
        if (strcmp(before, after) != 0)
            return g_strdup_printf("%s = %s there, %s here", setting->name, before, after);
    }
    return NULL;
}

const char *xlm_adapters_with_relu(const xlm_adapters *adapters)
{
    EACH_ADAPTER(a, adapters)
        if (class_of(a)->has_relu)
            return class_of(a)->name;
    return NULL;
}

/* ---- beside linear layers ---- */

void xlm_adapters_declare_beside(const xlm_model_config *config, xlm_parameters *parameters, const char *linear, uint32_t target,
                                 int64_t out, int64_t in)
{
    EACH_ADAPTER(a, &config->adapters)
        if ((a->targets & target) != 0)
            class_of(a)->beside->declare(a, parameters, linear, out, in);
}

bool xlm_adapters_are_beside(const xlm_model_config *config, uint32_t targets)
{
    EACH_ADAPTER(a, &config->adapters)
        if ((a->targets & targets) != 0)
            return true;
    return false;
}

xlm_var *xlm_adapters_apply_beside(const xlm_model *model, xlm_tape *tape, int n, const xlm_adapted_linear *linear, xlm_var *x,
                                   xlm_var *y, const xlm_rotation *rotation)
{
    xlm_var *added[XLM_MAX_ADAPTERS * XLM_ADAPTER_TARGETS];
    int64_t column[XLM_MAX_ADAPTERS * XLM_ADAPTER_TARGETS];
    int terms = 0;
    for (int i = 0; i < n; i++)
        EACH_ADAPTER(a, &model->config.adapters) {
            if ((a->targets & linear[i].target) == 0)
                continue;
            column[terms] = linear[i].column;
            added[terms++] = class_of(a)->beside->apply(a, tape, linear[i].name, x);
        }
    return xlm_add_columns(tape, y, terms, added, column, rotation);
}

/* ---- after feed-forward sublayers ---- */

bool xlm_adapters_are_after(const xlm_model_config *config)
{
    EACH_ADAPTER(a, &config->adapters)
        if (class_of(a)->after != NULL)
            return true;
    return false;
}

void xlm_adapters_declare_after(const xlm_model_config *config, xlm_parameters *parameters, const char *block)
{
    EACH_ADAPTER(a, &config->adapters)
        if (class_of(a)->after != NULL)
            class_of(a)->after->declare(a, config, parameters, block);
}

xlm_var *xlm_adapters_apply_after(const xlm_model *model, xlm_tape *tape, const xlm_sublayer *block, xlm_var *x, xlm_var *f)
{
    EACH_ADAPTER(a, &model->config.adapters)
        if (class_of(a)->after != NULL)
            f = class_of(a)->after->apply(a, model, tape, block, x, f);
    return f;
}

/* ---- around stacks ---- */

void xlm_adapters_declare_around(const xlm_model_config *config, xlm_parameters *parameters, xlm_stack stack)
{
    EACH_ADAPTER(a, &config->adapters)
        if (class_of(a)->around != NULL)
            class_of(a)->around->declare(a, config, parameters, stack);
}

xlm_var *xlm_adapters_apply_around(const xlm_model *model, xlm_tape *tape, xlm_stack stack, xlm_var *x, bool back)
{
    const xlm_adapters *all = &model->config.adapters;
    for (int64_t k = 0; k < all->n; k++) {
        const xlm_adapter *a = &all->one[back ? all->n - 1 - k : k];
        if (class_of(a)->around != NULL)
            x = class_of(a)->around->apply(a, model, tape, stack, x, back);
    }
    return x;
}

/* ---- which learn ---- */

/* Has an adapter parameters with gradients at a part of a layer? */
static bool learns_at(const xlm_adapter *a, const xlm_model *model, const xlm_tape *tape, xlm_layer layer, const char *block,
                      const char *what)
{
    char part[XLM_BLOCK_NAME], name[XLM_ADAPTER_PARAMETER];
    xlm_layer_name(&model->config, layer, block, part, sizeof part);
    return !xlm_tape_is_frozen(tape, xlm_adapter_parameter(a, part, what, name));
}

bool xlm_adapters_learn(const xlm_model *model, const xlm_tape *tape, xlm_layer layer)
{
    EACH_ADAPTER(a, &model->config.adapters) {
        const xlm_adapter_class *of = class_of(a);
        const char *linear = a->targets != 0 ? xlm_adapter_target_linear(g_bit_nth_lsf(a->targets, -1)) : NULL;
        if ((linear != NULL && learns_at(a, model, tape, layer, linear, of->beside->parameter)) ||
            (of->after != NULL && learns_at(a, model, tape, layer, "feed_forward", of->after->parameter)))
            return true;
    }
    return false;
}
