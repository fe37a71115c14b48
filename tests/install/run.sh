#!/bin/sh
# Installs a finished build and builds the projects of users against it.
# usage: tests/install/run.sh BUILD_DIR [add_subdirectory]
# With `add_subdirectory`, a project that carries the sources is built instead, with the settings of BUILD_DIR.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
work=$build/install_test
rm -rf "$work"

cached() {
  sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"
}

# configure SOURCE BINARY [OPTION...]: the consumer, with the compiler and flags of the build.
configure() {
  source=$here/$1
  binary=$work/$2
  shift 2
  cmake -S "$source" -B "$binary" -G "$(cached CMAKE_GENERATOR)" \
    -DCMAKE_CXX_COMPILER="$(cached CMAKE_CXX_COMPILER)" \
    -DCMAKE_CXX_FLAGS="$(cached CMAKE_CXX_FLAGS)" \
    -DCMAKE_BUILD_TYPE="$(cached CMAKE_BUILD_TYPE)" \
    -DCMAKE_COMPILE_WARNING_AS_ERROR="$(cached CMAKE_COMPILE_WARNING_AS_ERROR)" \
    -DBUILD_SHARED_LIBS="$(cached BUILD_SHARED_LIBS)" \
    -DSTRUCTMAT_OPENMP="$(cached STRUCTMAT_OPENMP)" \
    -DCMAKE_PREFIX_PATH="$work/prefix" --no-warn-unused-cli "$@"
}

# must_fail COMPONENT MESSAGE: asking for the component stops the configuration with the message.
must_fail() {
  if configure find_package "missing_$1" -DCOMPONENTS="$1" >"$work/log" 2>&1; then
    echo "find_package succeeded with the component '$1'" >&2
    exit 1
  fi
  # CMake breaks the lines of its messages.
  if ! tr -s '\n ' '  ' <"$work/log" | grep -qF "$2"; then
    cat "$work/log" >&2
    echo "find_package failed with the component '$1', but did not say: $2" >&2
    exit 1
  fi
  echo "-- The component '$1' is refused with: $2"
}

if [ "${2-}" = add_subdirectory ]; then
  configure add_subdirectory subdirectory
  cmake --build "$work/subdirectory" --target consumer
  "$work/subdirectory/consumer"
  exit 0
fi

cmake --install "$build" --prefix "$work/prefix" >"$work.log"
must_fail nonsense "structmat has no component 'nonsense'; it knows: cuda, exact"
if [ "$(cached STRUCTMAT_CUDA)" = ON ]; then
  components=cuda
else
  components=
  must_fail cuda "structmat was built without CUDA (STRUCTMAT_CUDA), so it has no component 'cuda'"
fi

if [ -e "$(ls -d "$work"/prefix/lib*/cmake/structmat "$work"/prefix/lib*/*/cmake/structmat 2>/dev/null |
  head -1)/structmatExactTargets.cmake" ]; then
  components="$components;exact"
else
  must_fail exact "structmat was built without exact arithmetic (STRUCTMAT_EXACT), so it has no component 'exact'"
fi

configure find_package found -DCOMPONENTS="$components"
cmake --build "$work/found"
for program in consumer consumer_cuda consumer_exact; do
  [ ! -e "$work/found/$program" ] || "$work/found/$program"
done
if [ -e "$work/prefix/bin/structmat" ]; then
  "$work/prefix/bin/structmat" --version
fi
