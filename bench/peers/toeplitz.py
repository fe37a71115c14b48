"""Toeplitz products of structmat and SciPy in one run, one thread each: prints one table of ratios.

usage: toeplitz.py BUILD/bench/bench_toeplitz [--rounds N]

SciPy: linalg.matmul_toeplitz, and rfft/irfft padded to next_fast_len(m + n - 1) with the transform of
the symbol computed beforehand or in the call. The programs take turns; the smallest time of each counts.
"""

import argparse
import json
import os
import subprocess
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np  # noqa: E402
import scipy  # noqa: E402
import scipy.fft  # noqa: E402
import scipy.linalg  # noqa: E402

SHAPES = [(256, 1), (1024, 1), (4096, 1), (16384, 1), (16384, 64), (131072, 1), (1000000, 1), (1000003, 1)]


def smallest(call, budget=0.3):
    times, begin = [], time.perf_counter()
    while len(times) < 3 or time.perf_counter() - begin < budget:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def scipy_times(n, k):
    random = np.random.default_rng(1)
    lags = random.standard_normal(2 * n - 1)  # c_{1-n}, ..., c_{n-1}
    column, row = lags[n - 1 :], lags[n - 1 :: -1]
    x = random.standard_normal((n, k) if k > 1 else n)
    length = scipy.fft.next_fast_len(2 * n - 1, real=True)

    def symbol():
        return scipy.fft.rfft(lags, length)

    def product(spectrum):
        shape = (slice(None), None) if k > 1 else slice(None)
        y = scipy.fft.irfft(spectrum[shape] * scipy.fft.rfft(x, length, axis=0), length, axis=0)
        return y[n - 1 : 2 * n - 1]

    spectrum = symbol()
    expected = scipy.linalg.matmul_toeplitz((column, row), x)
    error = np.max(np.abs(product(spectrum) - expected)) / np.max(np.abs(expected))
    if not error < 1e-10:
        raise SystemExit(f"the padded product differs from matmul_toeplitz by {error:.1e}")
    return {
        "matmul_toeplitz": smallest(lambda: scipy.linalg.matmul_toeplitz((column, row), x)),
        "planned": smallest(lambda: product(spectrum)),
        "included": smallest(lambda: product(symbol())),
    }


def own_times(program, n, k):
    arguments = f"m:{n}/n:{n}/rhs:{k}$"
    run = subprocess.run(
        [program, "--benchmark_format=json", "--benchmark_min_time=0.3",
         f"--benchmark_filter=(planned<double, fourier>|symbol_included<double>)/{arguments}"],
        check=True, capture_output=True, text=True)
    scale = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3}
    times = {}
    for entry in json.loads(run.stdout)["benchmarks"]:
        name = "planned" if entry["name"].startswith("planned") else "included"
        times[name] = entry["cpu_time"] * scale[entry["time_unit"]]
    return times


def merge(into, times):
    for name, value in times.items():
        into[name] = min(value, into.get(name, value))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=2)
    args = parser.parse_args()
    print(f"double, one thread, ms; scipy {scipy.__version__}")
    print("| n | right-hand sides | symbol at hand | scipy.fft padded | ratio | symbol included | scipy.fft padded "
          "| ratio | matmul_toeplitz | ratio |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for n, k in SHAPES:
        own, peer = {}, {}
        for _ in range(args.rounds):
            merge(own, own_times(args.program, n, k))
            merge(peer, scipy_times(n, k))
        cells = [f"{n}", f"{k}"]
        for name in ("planned", "included"):
            cells += [f"{1e3 * own[name]:.4g}", f"{1e3 * peer[name]:.4g}", f"{peer[name] / own[name]:.2f}"]
        cells += [f"{1e3 * peer['matmul_toeplitz']:.4g}", f"{peer['matmul_toeplitz'] / own['included']:.2f}"]
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
