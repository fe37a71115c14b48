#!/usr/bin/env python3
"""Factorisation, triangular solve, log-likelihood and its gradient: celerite2 and structmat by turns.

The matrix is the covariance of a sum of eight exponentials at 524,288 irregular times plus noise.
Results are compared first: pivots, W, L^-1 y, the value, and the gradients with respect to the
diagonal, V and y. The gradient with respect to U of celerite2 0.3.3 (backprop.factor_rev) disagrees
with central differences of its own factor, and those of t and c with it; ours is compared with
differences of celerite2's value along a random direction.

Times are CPU times of the thread, the least of all repetitions and rounds.

usage: celerite2_likelihood.py PROGRAM [--rounds N] [--repetitions N] [--json FILE]
PROGRAM is `likelihood`, built from likelihood.cpp. Set OMP_NUM_THREADS=1.
"""
import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path

import celerite2
import numpy as np
from celerite2 import backprop, driver

parser = argparse.ArgumentParser()
parser.add_argument("program", type=Path)
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--repetitions", type=int, default=5)
parser.add_argument("--json", type=Path)
args = parser.parse_args()

with tempfile.TemporaryDirectory() as folder:
    subprocess.run([args.program, "export", folder], check=True)
    data = {path.stem: np.load(path) for path in Path(folder).glob("*.npy")}
t, c, a, y = (data[name].ravel() for name in ("t", "c", "d", "y"))
U, V = data["u"], data["v"]
n, J = U.shape
Y = y[:, None].copy()
d, W, S = np.empty(n), np.empty((n, J)), np.empty((n, J, J))
Z, F = np.empty((n, 1)), np.empty((n, J, 1))
bt, bc, ba, bU, bV = np.empty(n), np.empty(J), np.empty(n), np.empty((n, J)), np.empty((n, J))
bt2, bc2, bU2, bW, bY = np.empty(n), np.empty(J), np.empty((n, J)), np.empty((n, J)), np.empty((n, 1))


def factor():
    driver.factor(t, c, a, U, V, d, W)


def solve_lower():
    driver.solve_lower(t, c, U, W, Y, Z)


def solve():
    np.copyto(Z, Y)
    driver.solve_lower(t, c, U, W, Y, Z)
    np.divide(Z, d[:, None], out=Z)
    driver.solve_upper(t, c, U, W, Z, Z)


def likelihood():
    return -0.5 * (np.sum(Z[:, 0] ** 2 / d) + np.sum(np.log(d)) + n * np.log(2 * np.pi))


def value(u=U):
    driver.factor(t, c, a, u, V, d, W)
    driver.solve_lower(t, c, u, W, Y, Z)
    return likelihood()


def value_and_gradient():
    backprop.factor_fwd(t, c, a, U, V, d, W, S)
    backprop.solve_lower_fwd(t, c, U, W, Y, Z, F)
    result = likelihood()
    bZ = -Z / d[:, None]
    bd = 0.5 * (Z[:, 0] ** 2 / d - 1) / d
    backprop.solve_lower_rev(t, c, U, W, Y, Z, F, bZ, bt2, bc2, bU2, bW, bY)
    backprop.factor_rev(t, c, a, U, V, d, W, S, bd, bW, bt, bc, ba, bU, bV)
    np.add(bU, bU2, out=bU)
    np.add(bt, bt2, out=bt)
    np.add(bc, bc2, out=bc)
    return result


def compare():
    got = value_and_gradient()
    # The first ratio and the first p are not part of the matrix.
    ratio = np.exp(-c * np.diff(t, prepend=t[0])[:, None])
    U_bar = data["ours_p_bar"] * ratio
    pairs = {
        "pivots": (data["ours_d"].ravel(), d),
        "W": (data["ours_w"][:-1], W[:-1]),
        "L^-1 y": (data["ours_z"].ravel(), Z[:, 0]),
        "value": (data["ours_value"].ravel(), np.array([got])),
        "diagonal": (data["ours_d_bar"].ravel(), ba),
        "V": (data["ours_q_bar"], bV),
        "y": (data["ours_y_bar"].ravel(), bY[:, 0]),
    }
    differences = {
        name: float(np.max(np.abs(ours - theirs)) / np.max(np.abs(theirs)))
        for name, (ours, theirs) in pairs.items()
    }
    direction = np.random.default_rng(1).normal(size=U.shape)
    step = 1e-6
    slope = (value(U + step * direction) - value(U - step * direction)) / (2 * step)
    along = float(np.sum(U_bar * direction))
    if not abs(along - slope) < 1e-5 * (1 + abs(slope)):
        raise SystemExit(f"the gradient of U along a direction is {along}, by differences {slope}")
    if not max(differences.values()) < 1e-9:
        raise SystemExit(f"celerite2 and structmat disagree: {differences}")
    return differences


def milliseconds(work):
    times = []
    for _ in range(args.repetitions + 1):
        begin = time.thread_time()
        work()
        times.append(1e3 * (time.thread_time() - begin))
    return min(times)


differences = compare()
works = {w.__name__: w for w in (factor, solve_lower, solve, value, value_and_gradient)}
ours, theirs = [], []
for _ in range(args.rounds):
    run = subprocess.run([args.program, "time", str(args.repetitions)], check=True, capture_output=True)
    ours.append(json.loads(run.stdout))
    theirs.append({name: milliseconds(work) for name, work in works.items()})

result = {
    "peer": "celerite2 " + celerite2.__version__,
    "n": n,
    "order": J,
    "differences": differences,
    "ours_ms": {name: min(r[name] for r in ours) for name in works},
    "peer_ms": {name: min(r[name] for r in theirs) for name in works},
}
print(f"largest relative difference: {max(differences.values()):.1e}")
print(f"| {'work':20} | ours ms | {result['peer']} ms | ratio |")
print(f"|{'-' * 22}|---------|--------------------|-------|")
for name in works:
    o, p = result["ours_ms"][name], result["peer_ms"][name]
    print(f"| {name:20} | {o:7.2f} | {p:18.2f} | {p / o:5.2f} |")
if args.json:
    args.json.write_text(json.dumps(result))
