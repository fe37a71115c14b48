#!/usr/bin/env python3
"""Times Cauchy sums with NumPy, pair by pair, and with FMM2D on the unit interval.

What of ours stands beside it: `bench_cauchy`, rows `direct<double>` (n = 4096) and
`line_plan_and_product` (the same nodes in distribution, tolerance 1e-12). FMM2D makes its trees in
every call. The errors of FMM2D are those of 20 rows against sums in long double.

usage: OMP_NUM_THREADS=1 cauchy.py [--sizes 10000 100000 1000000] [--tolerance 1e-12]
"""
import argparse
import time

import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--sizes", type=int, nargs="*", default=[10_000, 100_000, 1_000_000])
parser.add_argument("--tolerance", type=float, default=1e-12)
parser.add_argument("--repetitions", type=int, default=3)
args = parser.parse_args()
random = np.random.default_rng(1)


def least_time(action):
    times = []
    for _ in range(args.repetitions):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


s, t, x = (random.random(4096) for _ in range(3))
print(f"numpy, n = 4096: {1e3 * least_time(lambda: (1 / (s[:, None] - t)) @ x):.1f} ms")

try:
    import fmm2dpy
except ImportError:
    raise SystemExit("fmm2dpy is not installed: pip install fmm2dpy")

for n in args.sizes:
    s, t, x = (random.random(n) for _ in range(3))
    sources, targets = (np.vstack([v, np.zeros(n)]) for v in (t, s))
    charges = x.astype(complex)
    run = lambda: fmm2dpy.cfmm2d(  # noqa: E731
        eps=args.tolerance, sources=sources, dipstr=charges, targets=targets, pgt=1)
    seconds = least_time(run)
    got = run().pottarg
    error = 0.0
    for i in range(0, n, n // 20):
        terms = x / (np.longdouble(s[i]) - t.astype(np.longdouble))
        error = max(error, float(abs(got[i] - terms.sum()) / abs(terms).sum()))
    print(f"fmm2d, n = {n}: {seconds:.3f} s, error {error:.1e} of the sum of absolute values")
