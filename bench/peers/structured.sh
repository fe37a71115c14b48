#!/bin/bash
# Runs the benchmarks of Toeplitz, Cauchy and Vandermonde matrices and their public peers by turns.
#
# usage: bench/peers/structured.sh      takes about five minutes; see bench/peers/README.md
# BUILD:  build folder of structmat                                (build/release)
# PYTHON: interpreter that has scipy, finufft and fmm2dpy           (build/peers/venv/bin/python)
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
bench=${BUILD:-$root/build/release}/bench
python=${PYTHON:-$root/build/peers/venv/bin/python}
peers=$root/bench/peers
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

title() { printf '\n== %s\n' "$1"; }
ours() {
  "$bench/bench_$1" --benchmark_filter="$2" --benchmark_min_time=0.3 --benchmark_counters_tabular=true \
    2>/dev/null | grep -v -E '^(-|Benchmark)' || true
}

title "Toeplitz products, scipy"
"$python" "$peers/toeplitz.py" "$bench/bench_toeplitz" --rounds 1
title "Positive definite Toeplitz systems, scipy"
"$python" "$peers/toeplitz_solve.py" "$bench/bench_toeplitz_solve" --repetitions 3
title "General Toeplitz systems, n = 4096, LU of OpenBLAS"
ours cauchy_solve 'toeplitz_solve.*n:4096'
title "Cauchy sums in the plane, n = 10^6, 1e-12, FMM2D: 1 and 2 threads"
for threads in 1 2; do
  ours cauchy_plane "kind:[01]/n:1000000/digits:12/rhs:1/threads:$threads"
  OMP_NUM_THREADS=$threads "$python" "$peers/cauchy_plane.py" --n 1000000 --kind square --repetitions 1
done
title "Cauchy sums on a line, n = 10^6, 1e-12, FMM2D: 1 and 2 threads"
for threads in 1 2; do
  ours cauchy "line_plan_and_product/n:1000000/rhs:1/threads:$threads"
  OMP_NUM_THREADS=$threads "$python" "$peers/cauchy.py" --sizes 1000000 --repetitions 1
done
title "Vandermonde, FINUFFT and NumPy"
ours vandermonde 'exponential_sum/65536|nonuniform_fft/65536/12|plan/65536'
"$python" "$peers/vandermonde.py"
