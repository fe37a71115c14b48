#!/bin/bash
# Runs bench_report and the public peers by turns, on one thread each, and prints one table.
#
# usage: bench/peers/run.sh [rounds]     see bench/peers/README.md
# BUILD:  build folder of structmat           (build/release)
# PEERS:  build folder of bench/peers         (build/peers)
# PYTHON: interpreter that has celerite2      (build/peers/venv/bin/python)
# A peer that is not there is left out, with a line that says so.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
rounds=${1:-5}
build=${BUILD:-$root/build/release}
peers=${PEERS:-$root/build/peers}
python=${PYTHON:-$peers/venv/bin/python}
report=$build/bench/bench_report
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$report" --export "$folder/problem"

celerite=yes fflas=yes
"$python" -c 'import celerite2' 2>/dev/null || { celerite=no; echo "left out: celerite2" >&2; }
[ -x "$peers/fflas_bruhat" ] || { fflas=no; echo "left out: fflas-ffpack" >&2; }

for ((i = 1; i <= rounds; ++i)); do
  echo "round $i of $rounds" >&2
  "$report" --part apply --repetitions 5 --json "$folder/apply-$i.json" >"$folder/apply.log"
  if [ $celerite = yes ]; then
    # 80 MB a set: 16 of them exceed any cache.
    "$python" "$root/bench/peers/celerite2_matmul.py" "$folder/problem" --repetitions 5 \
      --json "$folder/celerite-cache-$i.json" >/dev/null
    "$python" "$root/bench/peers/celerite2_matmul.py" "$folder/problem" --repetitions 16 \
      --copies 16 --json "$folder/celerite-memory-$i.json" >/dev/null
  fi
  "$report" --part from_dense --repetitions 3 --json "$folder/from_dense-$i.json" >"$folder/dense.log"
  if [ $fflas = yes ]; then
    for kind in full renewed; do
      "$peers/fflas_bruhat" 4000 32 3 $kind >"$folder/fflas-$kind-4000-$i.json"
      "$peers/fflas_bruhat" 8000 64 3 $kind >"$folder/fflas-$kind-8000-$i.json"
    done
  fi
done
python3 "$root/bench/peers/combine.py" "$folder"
