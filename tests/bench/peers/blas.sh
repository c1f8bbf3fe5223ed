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

# fastest_blas: the line of peers_blas with which products of PyTorch on one thread take the least processor time; nothing, with
# error 1, if there is none.
fastest_blas() {
    local directory variable seconds
    while read -r directory variable; do
        seconds=$(env LD_LIBRARY_PATH="$directory" OMP_NUM_THREADS=1 ${variable:+"$variable"} /usr/bin/python3 -c 'import time
import torch
torch.set_num_threads(1)
a, b = torch.randn(2048, 512), torch.randn(512, 2048)
torch.mm(a, b)
before = time.process_time()
for _ in range(10): torch.mm(a, b)
print(time.process_time() - before)') || return 1
        echo "$seconds $directory${variable:+ $variable}"
    done < <(peers_blas) | sort -g | sed -n '1s/^[^ ]* //p' | grep .
}
