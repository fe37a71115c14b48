#!/usr/bin/env python3
"""SSD on the CPU: the chunked formula in compiled torch, gradients by autograd, beside structmat.

The chunked formula is the minimal SSD of Dao, Gu (2024), section 6, for one group: products inside chunks
of Q tokens, states of chunks, a recurrence over chunks, and what the states add. Both sides get the numbers
of bench_ssd and return y, and in reverse mode the cotangents of x, dt, a, B, C and D; both are compared with
the recurrence in double. Runs of the two sides alternate; times are the least and the median of all. With
--threads 1 they are CPU times, which a loaded machine disturbs less.

usage: ssd_cpu.py BENCH_SSD [--chunk Q ...] [--threads N] [--rounds N] [--repetitions N] [--json FILE]
"""
import argparse
import json
import os
import statistics
import subprocess
import time
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("program", type=Path)
parser.add_argument("--chunk", type=int, nargs="+", default=[64, 128])
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--repetitions", type=int, default=7)
parser.add_argument("--eager", action="store_true", help="time torch without torch.compile, too")
parser.add_argument("--json", type=Path)
args = parser.parse_args()
os.environ["OMP_NUM_THREADS"] = str(args.threads)

import torch  # noqa: E402  (reads OMP_NUM_THREADS)
import torch.nn.functional as F  # noqa: E402

torch.set_num_threads(args.threads)
CLOCK, KEY = (time.process_time, "cpu_time") if args.threads == 1 else (time.perf_counter, "real_time")
L, H, P, N = 4096, 8, 64, 64


def numbers(step, *shape):
    count = 1
    for extent in shape:
        count *= extent
    i = torch.arange(count, dtype=torch.float64) % 99991
    return torch.sin(step * i).reshape(shape).float()


x, y_bar = numbers(0.37, 1, L, H, P), numbers(0.61, 1, L, H, P)
b, c = numbers(0.53, 1, L, N), numbers(0.71, 1, L, N)
dt = numbers(0.29, 1, L, H)
a = (-0.1 - 0.05 * torch.arange(H, dtype=torch.float64)).float()
d = torch.ones(H)
leaves = [v.requires_grad_() for v in (x, dt, a, b, c, d)]


def segment_sums(v):
    """(..., Q) -> (..., Q, Q): sums over j < k <= i, -inf above the diagonal."""
    q = v.shape[-1]
    wide = v[..., None].expand(*v.shape, q)
    strictly = torch.ones(q, q, dtype=torch.bool).tril(-1)
    sums = wide.masked_fill(~strictly, 0).cumsum(-2)
    return sums.masked_fill(~torch.ones(q, q, dtype=torch.bool).tril(), float("-inf"))


def chunked(q):
    def ssd(x, dt, a, b, c, d):
        delta = F.softplus(dt)
        log = (delta * a).reshape(1, L // q, q, H).permute(0, 3, 1, 2)  # batch, head, chunk, token
        u = (x * delta[..., None]).reshape(1, L // q, q, H, P)
        b, c = b.reshape(1, L // q, q, N), c.reshape(1, L // q, q, N)
        cumulative = log.cumsum(-1)
        inside = torch.exp(segment_sums(log))
        scores = torch.einsum("zcin,zcjn->zcij", c, b)
        y = torch.einsum("zhcij,zcjhp->zcihp", scores[:, None] * inside, u)
        to_end = torch.exp(cumulative[..., -1:] - cumulative)
        states = torch.einsum("zcjn,zhcj,zcjhp->zchpn", b, to_end, u)
        chunks = F.pad(cumulative[..., -1], (1, 0))
        between = torch.exp(segment_sums(chunks))
        states = torch.cat([torch.zeros_like(states[:, :1]), states], 1)
        states = torch.einsum("zhij,zjhpn->zihpn", between, states)[:, :-1]
        y = y + torch.einsum("zcin,zchpn,zhci->zcihp", c, states, torch.exp(cumulative))
        return y.reshape(1, L, H, P) + d[:, None] * x

    return ssd


def recurrence():
    """y and gradients in double, token by token, reverse mode written out."""
    X, DT, A, B, C, D, Y = (v.detach().double() for v in (*leaves, y_bar))
    delta, size = F.softplus(DT), X.shape[1]
    decay = torch.exp(delta * A)
    S = torch.zeros(H, P, N, dtype=torch.float64)
    states, y = [S], torch.empty_like(X)
    for t in range(size):
        S = decay[0, t, :, None, None] * S + (delta[0, t, :, None] * X[0, t])[..., None] * B[0, t]
        states.append(S)
        y[0, t] = S @ C[0, t] + D[:, None] * X[0, t]
    g = torch.zeros_like(S)
    xb, bb, cb = D[:, None] * Y, torch.zeros_like(B), torch.zeros_like(C)
    db, ab = torch.zeros_like(DT), torch.zeros_like(A)
    for t in reversed(range(size)):
        g = g + Y[0, t][..., None] * C[0, t]
        cb[0, t] = torch.einsum("hpn,hp->n", states[t + 1], Y[0, t])
        qb = torch.einsum("hpn,hp->hn", g, X[0, t])
        bb[0, t] = delta[0, t] @ qb
        xb[0, t] += delta[0, t, :, None] * (g @ B[0, t])
        log = decay[0, t] * (g * states[t]).sum((1, 2))
        db[0, t] = qb @ B[0, t] + A * log
        ab += delta[0, t] * log
        g = decay[0, t, :, None, None] * g
    return y, [xb, db * torch.sigmoid(DT), ab, bb, cb, (X * Y).sum((0, 1, 3))]


def forward(ssd):
    with torch.no_grad():
        return ssd(*leaves)


def both(ssd):
    y = ssd(*leaves)
    return y.detach(), torch.autograd.grad(y, leaves, y_bar)


def milliseconds(work, ssd):
    begin = CLOCK()
    work(ssd)
    return 1e3 * (CLOCK() - begin)


def ours():
    """passes -> milliseconds of each repetition."""
    output = subprocess.run(
        [
            args.program,
            f"--benchmark_filter=^ssd<float>/L:{L}/H:{H}/P:{P}/N:{N}/threads:{args.threads}/",
            "--benchmark_format=json",
            "--benchmark_min_time=0.05",
            f"--benchmark_repetitions={args.repetitions}",
        ],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    times = {}
    for row in json.loads(output)["benchmarks"]:
        if row.get("run_type") == "iteration":
            times.setdefault(int(row["name"].split("passes:")[1].split("/")[0]), []).append(row[KEY])
    return times


def error(found, exact):
    return float((found.double() - exact).abs().max() / exact.abs().max())


variants = {}
for q in args.chunk:
    variants[f"compiled, Q = {q}"] = torch.compile(chunked(q), dynamic=False)
    if args.eager:
        variants[f"eager, Q = {q}"] = chunked(q)
exact, exact_bars = recurrence()
errors = {}
for name, ssd in variants.items():
    forward(ssd), both(ssd)
    y, bars = both(ssd)
    errors[name] = [error(y, exact)] + [error(v, e) for v, e in zip(bars, exact_bars)]
    if not max(errors[name]) < 1e-3:
        raise SystemExit(f"{name} is wrong: {errors[name]}")

theirs, mine = {name: {1: [], 3: []} for name in variants}, {}
for _ in range(args.rounds):
    for passes, times in ours().items():
        mine.setdefault(passes, []).extend(times)
    for name, ssd in variants.items():
        for passes, work in ((1, forward), (3, both)):
            work(ssd)
            theirs[name][passes] += [milliseconds(work, ssd) for _ in range(args.repetitions)]

print(f"torch {torch.__version__}, {args.threads} threads ({KEY}), L {L}, H {H}, P {P}, N {N}, float; ms: least (median)")
print("| torch | forward | ours | ratio | forward + reverse | ours | ratio | torch: errors of y; x, dt, a, B, C, D |")
print("|---|---:|---:|---:|---:|---:|---:|---|")
rows = []
for name in variants:
    cells = []
    for passes in (1, 3):
        t, o = theirs[name][passes], mine[passes]
        cells += [f"{min(t):.2f} ({statistics.median(t):.2f})", f"{min(o):.2f} ({statistics.median(o):.2f})",
                  f"{min(t) / min(o):.2f} ({statistics.median(t) / statistics.median(o):.2f})"]
        rows.append({"peer": name, "passes": passes, "peer_ms": t, "ours_ms": o, "peer_errors": errors[name]})
    print("| " + " | ".join([name, *cells, " ".join(f"{e:.1e}" for e in errors[name])]) + " |")
if args.json:
    args.json.write_text(json.dumps({"torch": torch.__version__, "threads": args.threads, "rows": rows}, indent=1))
