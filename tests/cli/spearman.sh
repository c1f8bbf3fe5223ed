#!/usr/bin/env bash
# xlm-mpi: rank correlations worked out by hand. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
is() { # WANTED PAIR...
    local wanted=$1 got
    shift
    got=$(printf '%s\n' "$@" | xlm_spearman) && [ "$got" = "$wanted" ] || fail "$*: $got, not $wanted"
}
# rho = 1 - 6 sum d^2 / (n (n^2 - 1)), d^2 being 4, 1, 1, 1, 1: 1 - 48 / 120 = 0.6; t = 0.6 sqrt(3 / 0.64) = 1.299, and with 3
# degrees of freedom p = 1 - 2 (atan(t / sqrt 3) + (t / sqrt 3) / (1 + t^2 / 3)) / pi.
p=$(awk "BEGIN { u = 0.6 / 0.8; printf \"%.4g\", 1 - 2 * (atan2(u, 1) + u / (1 + u * u)) / 3.14159265358979 }")
is "5 0.6000 $p" "1 3" "2 1" "3 2" "4 5" "5 4"
is '4 1.0000 0' '1 10' '2 100' '3 1000' '4 1e9'
is '4 -1.0000 0' '1 -10' '2 -100' '3 -1000' '4 -1e9'
# Ties: ranks 1.5 1.5 3 4 against 1 2 3 4: covariance 4.5 of deviations 4.5 and 5.
rho_p=$(awk 'BEGIN { r = 4.5 / sqrt(4.5 * 5); t = r * sqrt(2 / (1 - r * r)); printf "%.4f %.4g", r, 1 - t / sqrt(2 + t * t) }')
is "4 $rho_p" '7 1' '7 2' '8 3' '9 4'
is '3 nan nan' '1 1' '1 2' '1 3'
expect 65 'needs at least 3' xlm_spearman </dev/null
expect 65 'standard input:1: not two numbers' xlm_spearman <<<'1 x'
expect 65 'standard input:1: not two numbers' xlm_spearman <<<'1 2 3'
expect 65 'standard input:2: a byte 0' xlm_spearman < <(printf '1 2\n2 3\0 4\n3 1\n4 4\n')
expect 64 'from standard input' xlm_spearman file
finish
