#!/bin/sh
# Installs what building and testing structmat need on Debian 12. See --help.
set -eu

usage() {
  cat <<'END'
usage: docs/setup-debian.sh [--dev]

Installs the Debian packages that building, testing and benchmarking structmat
need. Installed packages are left alone; when nothing is missing, nothing runs.

  --dev    also what .ci/run needs: formatting, static analysis, fuzzing,
           ccache, the FFLAS-FFPACK peer of the exact arithmetic, plots
  --help   this text

CUDA is optional and not installed here. For the CUDA component, add NVIDIA's
repository (https://developer.nvidia.com/cuda-downloads, Debian 12, "deb
(network)") and install cuda-nvcc-13-0, cuda-cudart-dev-13-0, libcublas-dev-13-0,
libcufft-dev-13-0 and libcusolver-dev-13-0, or cuda-toolkit-13-0 for everything;
then put /usr/local/cuda/bin on PATH. Compiling needs no GPU.
END
}

fail() {
  echo "setup-debian.sh: $*" >&2
  exit 1
}

packages="
  g++ cmake ninja-build
  libopenblas-openmp-dev liblapacke-dev libfftw3-dev libflint-dev
  nlohmann-json3-dev libcli11-dev libfmt-dev
  catch2 libbenchmark-dev python3-numpy"
dev_packages="
  git ccache clang-format clang-tidy clang libclang-rt-14-dev
  fflas-ffpack libgivaro-dev gnuplot-nox"

for argument in "$@"; do
  case $argument in
    --dev) packages="$packages $dev_packages" ;;
    --help | -h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  fail "this is no Debian system (no apt-get). Install the counterparts of:" $packages
fi

missing=
for package in $packages; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing="$missing $package"
done
if [ -z "$missing" ]; then
  echo "Everything is installed."
  exit 0
fi

if [ "$(id -u)" -eq 0 ]; then
  as_root=
elif command -v sudo >/dev/null; then
  as_root=sudo
else
  fail "neither root nor sudo. As root, run: apt-get install$missing"
fi

echo "Installing:$missing"
$as_root apt-get -q update
$as_root env DEBIAN_FRONTEND=noninteractive \
  apt-get -q -y -o DPkg::Lock::Timeout=600 install --no-install-recommends $missing
