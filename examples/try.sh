#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Compiles one file of kernels and runs it: on the GPU if there is one, else on the CPU executor.
#
#   examples/try.sh [--cpu] FILE.cu [ARGUMENT...]
#
# The first use builds the CPU executor in build/try, unless build/dev has it already. RAMIFY_BUILD
# names another build folder. The command lines are printed; they also work without this script.
set -euo pipefail
root=$(realpath "$(dirname "$(realpath "$0")")/..") # "$0" may be a link
usage() { echo "usage: examples/try.sh [--cpu] FILE.cu [ARGUMENT...]" >&2; exit 2; }

on_gpu=no
if [ "${1-}" = --cpu ]; then
  shift
elif nvidia-smi -L >/dev/null 2>&1; then
  on_gpu=yes
fi
[ $# -gt 0 ] || usage
case $1 in
  -*) usage ;;
  *.cu) ;;
  *) echo "examples/try.sh: '$1' must end in .cu" >&2; exit 2 ;;
esac
[ -f "$1" ] || { echo "examples/try.sh: there is no file '$1'" >&2; exit 2; }
if grep -q '^ *# *include *[<"]ramify/cluster/' "$1"; then
  echo "examples/try.sh: '$1' includes ramify/cluster, which needs MPI: build it with CMake (see" \
    "lesson 30 in examples/README.md)" >&2
  exit 2
fi
source=$1
shift

place=$root/build/try
mkdir -p "$place"
program=$(mktemp "$place/$(basename "$source" .cu).XXXXXX")
trap 'rm -f "$program"' EXIT
includes=(-I "$root/device_runtime" -I "$root/algorithms" -I "$root/examples/lessons")
show_and_run() {
  echo "+ $*" >&2
  "$@"
}

nvcc=${CUDACXX:-nvcc}
command -v "$nvcc" >/dev/null || nvcc=${CUDA_PATH:-/usr/local/cuda}/bin/nvcc
if [ $on_gpu = yes ] && command -v "$nvcc" >/dev/null; then
  show_and_run "$nvcc" -std=c++20 -arch=native -rdc=true "${includes[@]}" "$source" \
    -lcudadevrt -o "$program"
else
  build=${RAMIFY_BUILD-}
  if [ -z "$build" ]; then
    build=$root/build/dev
    if [ ! -f "$build/device_runtime/libramify_runtime.a" ]; then
      build=$place
      if [ ! -f "$build/CMakeCache.txt" ]; then
        # The script needs only some of these packages, so it continues if they cannot be installed.
        "$root/cmake/install_packages.sh" >&2 || true
        echo "Building the CPU executor in build/try" >&2
        # A fresh Debian or Ubuntu has no make. CMake keeps the generator in its cache.
        if command -v ninja >/dev/null; then export CMAKE_GENERATOR=Ninja; fi
      fi
      cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DRAMIFY_CUDA=OFF \
        -DRAMIFY_TESTS=OFF -DRAMIFY_EXAMPLES=OFF -DRAMIFY_BENCHMARKS=OFF >"$place/log" 2>&1 ||
        { cat "$place/log" >&2; exit 1; }
    fi
    # Only what has changed since the last use is compiled.
    cmake --build "$build" --target ramify_runtime --parallel "$(nproc)" >"$place/log" 2>&1 ||
      { cat "$place/log" >&2; exit 1; }
  fi
  library=$build/device_runtime/libramify_runtime.a
  [ -f "$library" ] || { echo "examples/try.sh: there is no $library" >&2; exit 1; }
  show_and_run "${CXX:-g++}" -std=c++20 -O1 -g "${includes[@]}" -x c++ "$source" -x none \
    "$library" -lboost_context -rdynamic -o "$program"
fi
status=0
"$program" "$@" || status=$?
exit $status
