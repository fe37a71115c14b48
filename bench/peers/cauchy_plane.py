#!/usr/bin/env python3
"""Times FMM2D (fmm2dpy.cfmm2d) on the node sets of bench_cauchy_plane.

usage: OMP_NUM_THREADS=1 cauchy_plane.py [--n N ...] [--kind KIND ...] [--tolerance EPS] [--repetitions N] [--json FILE]

A line a case: the shortest time, and the error at a few targets in units of sum_j |x_j| / |s_i - t_j|.
FMM2D has no plan: each call sorts the nodes again.
"""
import argparse
import json
import os
import time
from pathlib import Path

import fmm2dpy
import numpy as np


def nodes(kind, n, generator):
    a, b = generator.random(n), generator.random(n)
    angle = np.exp(2j * np.pi * a)
    if kind == "square":
        return a + 1j * b
    if kind == "circle":
        return angle
    if kind == "line":
        return a + 0j
    return 10 ** (20 * b - 10) * angle


def points(z):
    return np.ascontiguousarray(np.vstack([z.real, z.imag]))


parser = argparse.ArgumentParser()
parser.add_argument("--n", type=int, nargs="+", default=[10**4, 10**5, 10**6])
parser.add_argument("--kind", nargs="+", choices=["square", "circle", "line", "magnitudes"],
                    default=["square", "circle", "line"])
parser.add_argument("--tolerance", type=float, default=1e-12)
parser.add_argument("--repetitions", type=int, default=2)
parser.add_argument("--json", type=Path)
args = parser.parse_args()

rows = []
for kind in args.kind:
    for n in args.n:
        generator = np.random.default_rng(1)
        s, t = nodes(kind, n, generator), nodes(kind, n, generator)
        x = generator.random(n) - 0.5 + 1j * (generator.random(n) - 0.5)
        times = []
        for _ in range(args.repetitions):
            begin = time.perf_counter()
            out = fmm2dpy.cfmm2d(eps=args.tolerance, sources=points(t), dipstr=x, targets=points(s), pgt=1)
            times.append(time.perf_counter() - begin)
        y = np.asarray(out.pottarg).ravel()
        error = 0.0
        for i in range(0, n, max(1, n // 10)):
            terms = x / (s[i] - t)
            error = max(error, abs(y[i] - terms.sum()) / abs(terms).sum())
        rows.append(dict(kind=kind, n=n, seconds=min(times), error=error,
                         threads=int(os.environ.get("OMP_NUM_THREADS", 0))))
        print("{kind:10} n {n:8}  {seconds:8.3f} s  error {error:.1e}  threads {threads}".format(**rows[-1]), flush=True)
if args.json:
    args.json.write_text(json.dumps(rows))
