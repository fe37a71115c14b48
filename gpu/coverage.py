#!/usr/bin/env python3
"""Writes docs/gpu-coverage.md from docs/gpu-results.json, the record of gpu/device-check.sh.

    gpu/coverage.py           writes the page
    gpu/coverage.py --check   exits with 1 if the page does not say what the record says
"""
import json
import pathlib
import sys

root = pathlib.Path(__file__).resolve().parent.parent
record = json.loads((root / "docs/gpu-results.json").read_text())
page = root / "docs/gpu-coverage.md"


def number(value, form):
    return "" if value is None else format(value, form)


def operations():
    """(family, operation, tag) of the tests in the tree."""
    for path in sorted((root / "gpu/tests").glob("*/test_*.cpp")):
        family, operation = path.parent.name, path.stem.removeprefix("test_")
        yield family, operation, f"{family}_{operation}"


lines = [
    "# What was seen on a device",
    "",
    "Written by `gpu/coverage.py` from [gpu-results.json](gpu-results.json), the record of `gpu/device-check.sh`:",
    f"{record['device']}, commit {record['commit']}, {record['date']}.",
    "",
    "## Tests",
    "",
    "Assertions of each operation's tests, and errors that compute-sanitizer's memcheck found in them with small sizes.",
    "A dash: not run on the device at that commit.",
    "",
    "| family | operation | passed | failed | memcheck |",
    "|---|---|---:|---:|---|",
]
for family, operation, tag in operations():
    plain = record["tests"]["operations"].get(tag)
    memory = record["sanitizer"]["operations"].get(f"{tag}.memcheck")
    if memory is None or memory["errors"] is None:
        errors = "-"
    elif memory["errors"] == 0 and memory["exit"] == 0:
        errors = "no errors"
    elif memory["errors"] == 0:
        errors = f"no errors, exit {memory['exit']}"
    else:
        errors = f"{memory['errors']} errors"
    passed, failed = (plain["passed"], plain["failed"]) if plain else ("-", "-")
    lines.append(f"| {family} | {operation} | {passed} | {failed} | {errors} |")
if record["failures"]:
    lines += ["", "What failed:", ""] + [f"- {failure}" for failure in record["failures"]]

lines += [
    "",
    "## Times",
    "",
    "Medians of CUDA events over graph replays, operands beyond the second-level cache where they are large; peers in the",
    "same run. ratio: peer over ours. floor: counted bytes over the measured copy bandwidth, or counted operations over",
    "their rate. error: against a reference in higher precision or the CPU, as the benchmark says.",
    "",
    "| | ours, ms | peer | peer, ms | ratio | floor, ms | error |",
    "|---|---:|---|---:|---:|---:|---:|",
]
for row in record["benchmarks"]:
    lines.append(
        f"| {row['name']} | {row['ours_ms']:.4f} | {row['peer'] or ''} | {number(row['peer_ms'], '.4f')} | "
        f"{number(row['ratio'], '.2f')} | {number(row['floor_ms'], '.4f')} | {number(row['error'], '.1e')} |"
    )
text = "\n".join(lines) + "\n"

if "--check" in sys.argv[1:]:
    if not page.exists() or page.read_text() != text:
        sys.exit("docs/gpu-coverage.md is not what gpu/coverage.py makes of docs/gpu-results.json")
else:
    page.write_text(text)
