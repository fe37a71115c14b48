#!/bin/bash
# Runs the GPU tests and benchmarks on a machine with a GPU and records what happened in docs/gpu-results.json.
#
#   gpu/device-check.sh [--build DIR | --compile] [--libs DIR] [--commit SHA]
#
#   --build DIR    programs built beforehand, DIR/gpu/gpu_* or DIR/gpu_* (default: build/cuda)
#   --compile      build the CUDA component here instead, with CMake, in build/device-check
#   --libs DIR     where shared libraries that this machine lacks were put
#   --commit SHA   the commit to record, where the working tree has no .git
#
# Each test runs once under compute-sanitizer (--quick where the test offers it) and once plainly. The record is
# copied to $OUT, with the logs, if that is set. Exits with 1 if anything failed or could not be run; a missing
# compute-sanitizer is recorded, not counted.
set -u
cd "$(dirname "$0")/.." || exit 1
build=build/cuda compile=no libs='' commit=''
while [ $# -gt 0 ]; do
  case $1 in
    --build) build=$2; shift 2 ;;
    --compile) compile=yes; shift ;;
    --libs) libs=$2; shift 2 ;;
    --commit) commit=$2; shift 2 ;;
    *) sed -n '2,/^set/{/^#/p}' "$0"; exit 2 ;;
  esac
done
[ -n "$commit" ] || commit=$(git rev-parse HEAD 2>/dev/null || echo unknown)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PATH=$PATH:/usr/local/cuda/bin:/usr/local/cuda/compute-sanitizer

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

run() { # NAME COMMAND...: output to the log and the screen, status to NAME.status
  local name=$1
  shift
  echo "== $name: $*"
  timeout 170 "$@" 2>&1 | tee "$work/$name.log" | tail -40
  echo "${PIPESTATUS[0]}" >"$work/$name.status"
}

for program in "$programs"/gpu_test_*; do
  [ -x "$program" ] || continue
  name=$(basename "$program")
  run "$name.plain" "$program"
  if [ -s "$work/sanitizer" ]; then
    quick=''
    grep -aq -e '--quick' "$program" && quick=--quick
    # The device-memory test makes an allocation fail on purpose; API errors are for the program to check.
    run "$name.sanitizer" compute-sanitizer --tool memcheck --report-api-errors no --error-exitcode 99 \
      "$program" $quick
  fi
done
for program in "$programs"/gpu_bench_*; do
  [ -x "$program" ] || continue
  name=$(basename "$program")
  run "$name.bench" "$program" --json "$work/$name.json"
done

mkdir -p docs
python3 - "$work" "$commit" "$device" <<'PYTHON'
import datetime, glob, json, os, re, sys

work, commit, device = sys.argv[1:]
failures = []


def read(path):
    return open(path, errors="replace").read()


def status(path):
    return int(read(path))


tests = {"passed": 0, "failed": 0, "skipped": 0, "programs": {}}
for path in sorted(glob.glob(f"{work}/*.plain.status")):
    name = os.path.basename(path)[: -len(".plain.status")]
    code = status(path)
    counts = re.findall(r"^(\d+) passed, (\d+) failed, (\d+) skipped$",
                        read(path.replace(".status", ".log")), re.M)
    if counts:
        passed, failed, skipped = map(int, counts[-1])
    else:  # a program that counts nothing is one test
        passed, failed, skipped = int(code == 0), int(code not in (0, 77)), int(code == 77)
    if code not in (0, 77) and failed == 0:
        failed = 1
    tests["passed"] += passed
    tests["failed"] += failed
    tests["skipped"] += skipped
    tests["programs"][name] = {"exit": code, "passed": passed, "failed": failed, "skipped": skipped}
    if code != 0:
        failures.append(f"{name} exited with {code}")
if not tests["programs"]:
    failures.append("no test program found")

sanitizer = {"available": os.path.getsize(f"{work}/sanitizer") > 0, "errors": None, "programs": {}}
for path in sorted(glob.glob(f"{work}/*.sanitizer.status")):
    name = os.path.basename(path)[: -len(".sanitizer.status")]
    summary = re.findall(r"ERROR SUMMARY: (\d+) error", read(path.replace(".status", ".log")))
    errors = int(summary[-1]) if summary else None
    code = status(path)
    sanitizer["programs"][name] = {"exit": code, "errors": errors}
    if errors is not None:
        sanitizer["errors"] = (sanitizer["errors"] or 0) + errors
    if code != 0 or errors != 0:
        failures.append(f"{name} under compute-sanitizer: exit {code}, errors {errors}")

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
print(f"tests: {tests['passed']} passed, {tests['failed']} failed, {tests['skipped']} skipped; "
      f"sanitizer errors: {sanitizer['errors'] if sanitizer['available'] else 'not run'}; "
      f"{len(benchmarks)} benchmark rows")
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
