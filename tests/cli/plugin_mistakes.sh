#!/usr/bin/env bash
# xlm-mpi: mistakes of an objective's author are refused or end the program by name. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
small_corpus
sed '/^.stream pairs/,$d' job.conf >base.conf
{ cat base.conf; printf '\n[objective pull]\nplugin = ./changed.so\nstream = text\n'; } >pull.conf
{ cat base.conf; printf '\n[objective echo]\nplugin = ./changed.so\nstream = text\nhow = copy\n'; } >echo.conf
few=(--set train.steps=2 --set model.layers=1)

# ---- numbers of terms ----
# counts BODY: a change of pull-together that gives it a count of this body.
counts() {
    printf 's/^const xlm_loss_class/static int64_t wrong(xlm_loss *self, const xlm_pass *pass) { (void)self; (void)pass; %s }\\n&/\n' "$1"
    printf 's/\\.loss = pull_loss/.count = wrong, &/\n'
}
plugin_dies 'objective pull: count returned -17 terms' pull-together "$(counts 'return -17;')" 'objective pull' pull.conf "${few[@]}"
plugin_dies 'objective echo: label returned -17 terms' echo '/^static int64_t echo_label/,/^}/s/return [^;]*;/return -17;/' \
    'objective echo' echo.conf "${few[@]}"
plugin_dies 'objective pull: it gives mean 1 -17 terms' pull-together "$(counts 'xlm_pass_terms(pass, 1, -17); return 1;')
    s/xlm_declare_metric(declaration, \"never\")/xlm_declare_mean(declaration, 1)/" 'objective pull' pull.conf "${few[@]}"
# ---- tables of options ----
# table PATTERN SED: pull-together with its table changed is refused, by --help-job too.
table() {
    build_plugin changed pull-together "$2"
    expect 78 "\./changed\.so: option $1" xlm_train pull.conf --set train.output=none
    expect 64 "\./changed\.so: option $1" xlm_train --help-job=./changed.so
}
table '"sharpness": its value is not within' 's/sizeof(struct pull)/sizeof(int64_t) + 4/'
table '"sharpness": its value is not within' 's/offsetof(struct pull, sharpness)/(size_t)-4/'
table '"sharpness": it has no help' 's/"factor of the cosine"/NULL/'
table '"word": it has no choices' 's/"word", XLM_OPTION_TEXT/"word", XLM_OPTION_CHOICE/'
table '"word": it has no choices' 's/"word", XLM_OPTION_TEXT, ""/"word", XLM_OPTION_SET, "a"/'
table '"word": its type is not one of' 's/"word", XLM_OPTION_TEXT/"word", (xlm_option_type)99/'
table '"layer": an option before it has the same name' 's/{"word"/{"layer"/'
table '"a word": its name cannot be a key' 's/{"word"/{"a word"/'
table '"": its name cannot be a key' 's/{"word"/{""/'
for key in plugin stream weight begin; do
    build_plugin changed pull-together "s/{\"word\"/{\"$key\"/"
    expect 78 "\[objective pull\]: the plugin has an option \"$key\", which is a key of every section \[objective NAME\]" \
        xlm_train pull.conf --set train.output=none
done
{ cat base.conf; printf '\n[stage spans]\nplugin = ./changed.so\nstream = text\n'; } >stage.conf
build_plugin changed spans 's/{"file"/{"stream"/'
expect 78 "\[stage spans\]: the plugin has an option \"stream\"" xlm_train stage.conf --set train.output=none
finish
