#!/usr/bin/env python3
"""Times celerite2's product with the matrix of the n = 524288 row of bench_report.

One product is: z = d x (NumPy), then celerite2.driver.matmul_lower and matmul_upper, which add
to z; U and V serve both triangles. The result is compared with ours (y.npy).

usage: celerite2_matmul.py FOLDER [--repetitions N] [--copies N] [--json FILE]
FOLDER comes from `bench_report --export FOLDER`. With --copies N, N equal sets of generators are
used in turn, so that they come from memory and not from the cache.
"""
import argparse
import json
import statistics
import time
from pathlib import Path

import celerite2
import numpy as np
from celerite2 import driver

parser = argparse.ArgumentParser()
parser.add_argument("folder", type=Path)
parser.add_argument("--repetitions", type=int, default=7)
parser.add_argument("--copies", type=int, default=1)
parser.add_argument("--json", type=Path)
args = parser.parse_args()

t, c, d, u, v, x, y = (np.load(args.folder / f"{name}.npy") for name in "tcduvxy")
t, c, d = t.ravel(), c.ravel(), d.ravel()
sets = [(t.copy(), c, d.copy(), u.copy(), v.copy()) for _ in range(args.copies)]
z = np.empty_like(x)


def product(t, c, d, u, v):
    np.multiply(d[:, None], x, out=z)
    driver.matmul_lower(t, c, u, v, x, z)
    driver.matmul_upper(t, c, u, v, x, z)


def two_lower(t, c, d, u, v):
    np.multiply(d[:, None], x, out=z)
    driver.matmul_lower(t, c, u, v, x, z)
    driver.matmul_lower(t, c, u, v, x, z)


def milliseconds(work):
    times = []
    for i in range(args.repetitions + 1):
        begin = time.perf_counter()
        work(*sets[i % len(sets)])
        times.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times[1:])


product(*sets[0])
error = float(np.max(np.abs(z - y)) / np.max(np.abs(y)))
if not error < 1e-12:
    raise SystemExit(f"celerite2 and structmat disagree: {error:.2e}")
result = {
    "peer": "celerite2 " + celerite2.__version__,
    "n": len(t),
    "order": len(c),
    "copies": args.copies,
    "difference": error,
    "lower_upper_diagonal_ms": milliseconds(product),
    "lower_twice_diagonal_ms": milliseconds(two_lower),
}
print(json.dumps(result))
if args.json:
    args.json.write_text(json.dumps(result))
