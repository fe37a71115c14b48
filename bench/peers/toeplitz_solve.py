#!/usr/bin/env python3
"""Symmetric positive definite Toeplitz systems: Levinson recursion of scipy beside structmat.

The matrix and the right-hand side are those of bench_toeplitz_solve. scipy solves one system, without
the determinant; beyond n = 16384 its time is extrapolated with n^2 (marked ~). Times are the least of
all repetitions.

usage: toeplitz_solve.py BENCH_TOEPLITZ_SOLVE [--repetitions N] [--json FILE]
Set OMP_NUM_THREADS=1 and OPENBLAS_NUM_THREADS=1.
"""
import argparse
import json
import subprocess
import time
from pathlib import Path

import numpy as np
import scipy
from scipy.linalg import solve_toeplitz

parser = argparse.ArgumentParser()
parser.add_argument("program", type=Path)
parser.add_argument("--repetitions", type=int, default=5)
parser.add_argument("--json", type=Path)
args = parser.parse_args()
SIZES, LAST = (1024, 4096, 16384, 65536, 262144), 16384


def levinson(n):
    t = np.arange(n)
    column = np.exp(-t / 100) * np.cos(0.05 * t) + 0.5 * np.exp(-t / 10)
    column[0] += 0.1
    b = np.sin(t.astype(float))
    times = []
    for _ in range(args.repetitions):
        begin = time.perf_counter()
        solve_toeplitz(column, b)
        times.append(1e3 * (time.perf_counter() - begin))
    return min(times)


def ours():
    """n -> milliseconds of inverse, determinant and solution."""
    output = subprocess.run(
        [
            args.program,
            "--benchmark_filter=^factor_and_solve",
            "--benchmark_format=json",
            f"--benchmark_repetitions={args.repetitions}",
        ],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    times = {}
    for row in json.loads(output)["benchmarks"]:
        if row.get("run_type") != "iteration":
            continue
        n = int(row["name"].split("n:")[1].split("/")[0])
        times[n] = min(times.get(n, np.inf), row["real_time"])
    return times


structmat, peer = ours(), {n: levinson(n) for n in SIZES if n <= LAST}
rows = []
print(f"scipy {scipy.__version__}, milliseconds")
print("|      n | scipy Levinson, solve | structmat, inverse + logdet + solve | ratio |")
print("|-------:|----------------------:|------------------------------------:|------:|")
for n in SIZES:
    extrapolated = n not in peer
    theirs = peer[LAST] * (n / LAST) ** 2 if extrapolated else peer[n]
    mark = "~" if extrapolated else ""
    print(f"| {n} | {mark}{theirs:.4g} | {structmat[n]:.4g} | {mark}{theirs / structmat[n]:.3g} |")
    rows.append({"n": n, "scipy": theirs, "extrapolated": extrapolated, "structmat": structmat[n]})
if args.json:
    args.json.write_text(json.dumps({"scipy": scipy.__version__, "milliseconds": rows}, indent=1))
