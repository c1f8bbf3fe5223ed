# xlm-mpi: the libraries that PyTorch is tried with; sourced by comparisons. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash

# peers_blas: lines DIRECTORY [VARIABLE=VALUE], of Debian's directories with a libblas.so.3 and those in XLM_PEERS_BLAS, with the
# environment variable that selects other kernels. The reference BLAS is left out: it is many times slower.
peers_blas() {
    local directory more
    read -ra more <<<"${XLM_PEERS_BLAS:-}"
    for directory in /usr/lib/*/{openblas,blis}* "${more[@]}"; do
        [[ -e $directory/libblas.so.3 ]] || continue
        echo "$directory"
        # Neither library takes the 512-bit kernels by itself on every processor that has them; 0 is skx.
        ! grep -qw avx512f /proc/cpuinfo || case ${directory##*/} in
            *openblas*) echo "$directory OPENBLAS_CORETYPE=SKYLAKEX" ;;
            *blis*) echo "$directory BLIS_ARCH_TYPE=0" ;;
        esac
    done
}
