#!/bin/bash
# Runs the GPU tests and benchmarks on a machine with a GPU and records what happened in docs/gpu-results.json.
#
#   gpu/device-check.sh [--build DIR | --compile] [--libs DIR] [--commit SHA] [--races]
#
#   --build DIR    programs built beforehand, DIR/gpu/gpu_* or DIR/gpu_* (default: build/cuda)
#   --compile      build the CUDA component here instead, with CMake, in build/device-check
#   --libs DIR     where shared libraries that this machine lacks were put
#   --commit SHA   the commit to record, where the working tree has no .git
#   --races        racecheck as well, on the tests that call every operation once or twice ([core_fixed_shape],
#                  [core_waiting], [nn_fixed_shape]): a minute for each case at most, one that needs more counts as not finished
#
# The tests of each operation run plainly, and with small sizes under compute-sanitizer's memcheck, a few
# operations at a time; then the benchmarks, one by one. The record is copied to $OUT, with the logs, if that is
# set. Exits with 1 if anything failed or could not be run; a missing compute-sanitizer, tests that skip themselves and a
# racecheck that does not finish are recorded, not counted.
set -u
cd "$(dirname "$0")/.." || exit 1
build=build/cuda compile=no libs='' commit='' races=no
while [ $# -gt 0 ]; do
  case $1 in
    --build) build=$2; shift 2 ;;
    --compile) compile=yes; shift ;;
    --libs) libs=$2; shift 2 ;;
    --commit) commit=$2; shift 2 ;;
    --races) races=yes; shift ;;
    *) sed -n '2,/^set/{/^#/p}' "$0"; exit 2 ;;
  esac
done
[ -n "$commit" ] || commit=$(git rev-parse HEAD 2>/dev/null || echo unknown)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PATH=$PATH:/usr/local/cuda/bin:/usr/local/cuda/compute-sanitizer
# Several tests at a time share the processors.
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-2} OPENBLAS_NUM_THREADS=${OPENBLAS_NUM_THREADS:-2}

# cuBLAS: from the toolkit, or from the Python packages of NVIDIA.
for dir in $libs /usr/local/cuda/lib64 \
  $(python3 -c 'import site, glob
for s in site.getsitepackages(): print(*glob.glob(s + "/nvidia/*/lib"))'); do
  [ -d "$dir" ] && LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$(realpath "$dir")
done
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}

if [ $compile = yes ]; then
  build=build/device-check
  cmake -S . -B $build -DCMAKE_BUILD_TYPE=Release -DSTRUCTMAT_CUDA=ON &&
    cmake --build $build -j "$(nproc)" || exit 1
fi
programs=$build
[ -d "$build/gpu" ] && programs=$build/gpu

device=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -1)
echo "device: ${device:-none found by nvidia-smi}; commit: $commit"
command -v compute-sanitizer >"$work/sanitizer" || echo "compute-sanitizer: not found"

run() { # NAME COMMAND...: output to the log and the screen, status to NAME.status; 124 after $limit seconds
  local name=$1
  shift
  echo "== $name: $*"
  timeout "${limit:-170}" "$@" </dev/null 2>&1 | tee "$work/$name.log" | tail -40
  echo "${PIPESTATUS[0]}" >"$work/$name.status"
}

tests=$programs/gpu_tests
check_operation() {
  run "$1.plain" "$tests" "[$1]"
  [ -s "$work/sanitizer" ] || return
  # Some tests make an allocation fail on purpose; API errors are for the tests to check.
  STRUCTMAT_QUICK=1 run "$1.memcheck" compute-sanitizer --tool memcheck --report-api-errors no \
    --error-exitcode 99 "$tests" "[$1]"
}
for operation in $("$tests" --list-tags | sed -n 's/^ *[0-9]* *\[\([a-z0-9_]*\)\]$/\1/p'); do
  check_operation "$operation" &
  [ "$(jobs -r | wc -l)" -lt 8 ] || wait -n
done
wait
if [ $races = yes ] && [ -s "$work/sanitizer" ]; then
  while read -r case; do
    limit=60 STRUCTMAT_QUICK=2 run "${case//[^A-Za-z0-9]/_}.racecheck" compute-sanitizer --tool racecheck \
      --error-exitcode 99 "$tests" "${case//,/\\,}" &
    [ "$(jobs -r | wc -l)" -lt 4 ] || wait -n
  done < <("$tests" --list-test-names-only "[core_fixed_shape],[core_waiting],[nn_fixed_shape]")
  wait
fi
for program in "$programs"/gpu_bench_*; do
  [ -x "$program" ] || continue
  name=$(basename "$program")
  run "$name.bench" "$program" --json "$work/$name.json"
done

mkdir -p docs
python3 - "$work" "$commit" "$device" <<'PYTHON'
import datetime, glob, json, os, re, sys

work, commit, device = sys.argv[1:]
timed_out, skipped = 124, 77
failures = []


def read(path):
    return open(path, errors="replace").read()


def status(path):
    return int(read(path))


def assertions(log):
    """Passed and failed assertions, as Catch2 tells them at the end."""
    text = read(log)
    if match := re.search(r"^All tests passed \((\d+) assertion", text, re.M):
        return int(match[1]), 0
    if match := re.search(r"^assertions: +\d+ \|(?: +(\d+) passed \|)? +(\d+) failed", text, re.M):
        return int(match[1] or 0), int(match[2])
    return 0, 1


tests = {"passed": 0, "failed": 0, "operations": {}}
sanitizer = {"available": os.path.getsize(f"{work}/sanitizer") > 0, "errors": None, "not_finished": [],
             "operations": {}}
for path in sorted(glob.glob(f"{work}/*.plain.status")):
    name = os.path.basename(path)[: -len(".plain.status")]
    passed, failed = assertions(path.replace(".status", ".log"))
    code = status(path)
    tests["passed"] += passed
    tests["failed"] += failed
    tests["operations"][name] = {"exit": code, "passed": passed, "failed": failed}
    if code not in (0, skipped):
        failures.append(f"{name} exited with {code}")
if not tests["operations"]:
    failures.append("no test was run")

for path in sorted(glob.glob(f"{work}/*.memcheck.status") + glob.glob(f"{work}/*.racecheck.status")):
    name = os.path.basename(path)[: -len(".status")]
    log = read(path.replace(".status", ".log"))
    summary = re.findall(r"ERROR SUMMARY: (\d+) error", log)
    summary += re.findall(r"RACECHECK SUMMARY: (\d+) hazard", log)
    errors = int(summary[-1]) if summary else None
    code = status(path)
    if name.endswith(".racecheck") and code == timed_out:
        sanitizer["not_finished"].append(name)
        errors = None
    sanitizer["operations"][name] = {"exit": code, "errors": errors}
    if errors is not None:
        sanitizer["errors"] = (sanitizer["errors"] or 0) + errors
    if name not in sanitizer["not_finished"] and (code not in (0, skipped) or errors != 0):
        failures.append(f"{name}: exit {code}, errors {errors}")

benchmarks = []
for path in sorted(glob.glob(f"{work}/*.bench.status")):
    name = os.path.basename(path)[: -len(".bench.status")]
    code = status(path)
    if code == 0 and os.path.exists(f"{work}/{name}.json"):
        benchmarks += json.loads(read(f"{work}/{name}.json"))
    else:
        failures.append(f"{name} exited with {code}")

record = {
    "commit": commit,
    "device": device or None,
    "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
    "tests": tests,
    "sanitizer": sanitizer,
    "benchmarks": benchmarks,
    "failures": failures,
}
with open("docs/gpu-results.json", "w") as out:
    json.dump(record, out, indent=2)
    out.write("\n")
print(f"tests: {tests['passed']} passed, {tests['failed']} failed; "
      f"sanitizer errors: {sanitizer['errors'] if sanitizer['available'] else 'not run'}; "
      f"{len(benchmarks)} benchmark rows")
for name in sanitizer["not_finished"]:
    print("not finished:", name)
for failure in failures:
    print("FAILED:", failure)
sys.exit(bool(failures))
PYTHON
code=$?
if [ -n "${OUT:-}" ]; then
  cp docs/gpu-results.json "$OUT/"
  cat "$work"/*.log >"$OUT/device-check.log"
fi
exit $code
