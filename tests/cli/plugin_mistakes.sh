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
finish
