#!/usr/bin/env python3
"""Combines the JSON files of one run of run.sh into one table: medians over the rounds.

usage: combine.py FOLDER
"""
import json
import statistics
import sys
from pathlib import Path


def load(pattern):
    return [json.loads(path.read_text()) for path in sorted(folder.glob(pattern))]


def ours(reports, beginning):
    return statistics.median(
        row["ours_ms"] for report in reports for row in report["rows"]
        if row["work"].startswith(beginning))


def peer(results, key):
    return statistics.median(result[key] for result in results)


folder = Path(sys.argv[1])
apply, dense = load("apply-*.json"), load("from_dense-*.json")
table = [("work", "ours ms", "peer", "what the peer does", "peer ms", "ratio")]


def add(work, our_ms, name, what, peer_ms):
    table.append((work, f"{our_ms:.2f}", name, what, f"{peer_ms:.2f}", f"{peer_ms / our_ms:.2f}"))


stream = "QS apply, diagonal, order 8, n 524288, 1 rhs, "
for copies, beginnings in {
    "memory": {"matrices in turn": ""},
    "cache": {"one matrix": "", "symmetric": ", generators shared"},
}.items():
    results = load(f"celerite-{copies}-*.json")
    if not results:
        continue
    for key, suffix in beginnings.items():
        our_ms = statistics.median(
            row["ours_ms"] for report in apply for row in report["rows"]
            if row["work"].startswith(stream) and key in row["work"])
        where = "matrices in turn" if copies == "memory" else "one matrix"
        for timing, what in (("lower_upper_diagonal_ms", "matmul_lower, matmul_upper, diagonal"),
                             ("lower_twice_diagonal_ms", "matmul_lower twice, diagonal")):
            add(f"QS apply, order 8, n 524288, {where}{suffix}", our_ms, results[0]["peer"], what,
                peer(results, timing))

for key, what in (("fflas-full", "LTBruhatGen, order pivots"),
                  ("fflas-renewed", "LTBruhatGen, about n / 2 pivots")):
    results = load(f"{key}-4000-*.json")
    if not results:
        continue
    one = peer(results, "one_triangle_ms")
    start = "from_dense, n 4000, order 32, "
    add(start + "lower triangular", ours(dense, start + "lower"), results[0]["peer"],
        what + ", one triangle", one)
    add(start + "both triangles", ours(dense, start + "both"), results[0]["peer"],
        what + ", twice its one triangle", 2 * one)

for key in ("full", "renewed"):
    for n, order in ((4000, 32), (8000, 64)):
        results = load(f"fflas-{key}-{n}-*.json")
        if results:
            add(f"exact rank profile, n {n}, order {order}, one triangle", peer(results, "rank_profile_ms"),
                results[0]["peer"], f"LTBruhatGen, {results[0]['pivots']} pivots",
                peer(results, "one_triangle_ms"))

header = apply[0]["header"]
print(f"{header['cpu']}; structmat {header['commit']}, SIMD path {header['simd']}; "
      f"BLAS {header['blas']} {header['blas_core']}; one thread each; "
      f"medians over {len(apply)} rounds\n")
widths = [max(len(row[c]) for row in table) for c in range(len(table[0]))]
for i, row in enumerate(table):
    print("| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths)) + " |")
    if i == 0:
        print("|" + "|".join("-" * (w + 2) for w in widths) + "|")
