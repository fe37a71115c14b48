#!/usr/bin/env python3
"""Nonuniform Fourier transforms by FINUFFT and exponential sums by numpy, as peers of bench_vandermonde.

Each peer is checked first against sums in extended precision at some points. Times are the least of
all repetitions, on one thread: the plan made and the points set beforehand (execute), and all in one
call (whole).

usage: vandermonde.py [--repetitions N]
Set OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1. What stands beside it:
  bench_vandermonde --benchmark_filter='nonuniform_fft|exponential_sum'
"""
import argparse
import time

import finufft
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--repetitions", type=int, default=15)
repetitions = parser.parse_args().repetitions


def least(work):
    best = np.inf
    for _ in range(repetitions):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return 1e3 * best


def report(name, milliseconds):
    print(f"{name:44s} {milliseconds:8.2f} ms")


n, tolerance = 65536, 1e-12
random = np.random.default_rng(1)
t = random.uniform(-np.pi, np.pi, n)
c = random.standard_normal(n) + 1j * random.standard_normal(n)
modes = np.arange(-n // 2, n // 2)

rows = slice(0, n, n // 8)
phase = np.outer(t[rows].astype(np.longdouble), modes)
exact = (np.cos(phase) + 1j * np.sin(phase)) @ c
got = finufft.nufft1d2(t, c, eps=tolerance, isign=1, nthreads=1)[rows]
print("FINUFFT, relative error at 8 points", float(np.linalg.norm(got - exact) / np.linalg.norm(exact)))

for kind, sign, whole in (
    (2, 1, lambda: finufft.nufft1d2(t, c, eps=tolerance, isign=1, nthreads=1)),
    (1, -1, lambda: finufft.nufft1d1(t, c, n, eps=tolerance, isign=-1, nthreads=1)),
):
    plan = finufft.Plan(kind, (n,), eps=tolerance, isign=sign, nthreads=1)
    plan.setpts(t)
    report(f"FINUFFT type {kind}, n = m = {n}, execute", least(lambda: plan.execute(c)))
    report(f"FINUFFT type {kind}, n = m = {n}, whole", least(whole))

poles, lags = 64, 65536
k = np.arange(poles)
a = -1e-4 * (k + 1) + 0.04j * k
weights = c[:poles]
report(
    f"numpy broadcast, {poles} poles x {lags} lags",
    least(lambda: np.exp(np.arange(lags)[:, None] * a) @ weights),
)
