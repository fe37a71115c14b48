#!/bin/bash
# Builds and tests every combination of library kind, threads and build type, and runs all checks of
# clang-tidy, its static analyser included; .ci/run covers fewer.
set -euo pipefail
cd "$(dirname "$0")/.."

for preset in release debug asan; do
  for shared in OFF ON; do
    for openmp in OFF ON; do
      build=build/full/$preset-shared_$shared-openmp_$openmp
      printf '\n==== %s\n' "$build"
      cmake --preset "$preset" -B "$build" -DBUILD_SHARED_LIBS=$shared -DSTRUCTMAT_OPENMP=$openmp \
        -DSTRUCTMAT_INSTRUMENT_TESTS=ON -DSTRUCTMAT_BUILD_EMULATION=ON
      cmake --build "$build"
      ctest --test-dir "$build" --output-on-failure --no-tests=error
    done
  done
done

cmake --preset release -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
run-clang-tidy -quiet -j "$(nproc)" -p build/release -extra-arg=-Wno-unknown-warning-option \
  "$PWD/src/.*\.cpp$"
