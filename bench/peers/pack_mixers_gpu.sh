#!/bin/bash
# Packs what bench/peers/mixers_gpu.py needs beside torch and triton into build/dev/peers.tar.xz, for a machine without
# a network. All of it is Python.
#
# usage: bench/peers/pack_mixers_gpu.sh [archive]
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
archive=${1:-$root/build/dev/peers.tar.xz}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

download() { pip download --quiet --no-deps --dest "$folder" "$@"; }
download fla-core==0.6.0 einops==0.8.2 packaging==26.4
download setuptools wheel --dest "$folder/tools"

# mamba-ssm is a source distribution whose setup imports torch, which nothing here needs.
mkdir -p "$folder/setup/torch/utils" "$folder/peers"
printf '%s\n' '__version__ = "2.11.0"' 'class version: cuda = hip = None' >"$folder/setup/torch/__init__.py"
touch "$folder/setup/torch/utils/__init__.py"
printf '%s\n' 'BuildExtension = CppExtension = CUDAExtension = object' 'CUDA_HOME = HIP_HOME = ROCM_HOME = None' \
  >"$folder/setup/torch/utils/cpp_extension.py"
for wheel in "$folder"/tools/*.whl "$folder"/packaging-*.whl; do
  python3 -m zipfile -e "$wheel" "$folder/setup"
done
PYTHONPATH=$folder/setup MAMBA_SKIP_CUDA_BUILD=TRUE \
  pip download --quiet --no-deps --no-build-isolation --no-binary mamba-ssm --dest "$folder" mamba-ssm==2.3.2.post1

for wheel in "$folder"/*.whl; do python3 -m zipfile -e "$wheel" "$folder/peers"; done
tar xzf "$folder"/mamba_ssm-*.tar.gz -C "$folder"
cp -r "$folder"/mamba_ssm-*/mamba_ssm "$folder/peers/"
mkdir -p "$(dirname "$archive")"
tar cJf "$archive" -C "$folder/peers" .
ls -l "$archive"
