#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds all example programs in build/dev, which is the build folder of the preset dev, and links them
# into build/bin. Arguments name the programs to build instead, for instance: examples/build.sh nbody
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/.."
mapfile -t all < <(sed '/^#/d; s/ .*//' examples/programs.txt)
programs=("$@")
[ $# -gt 0 ] || programs=("${all[@]}")
for program in "${programs[@]}"; do
  printf '%s\0' "${all[@]}" | grep -qzxF -e "$program" ||
    { echo "examples/build.sh: there is no program '$program'; there are ${all[*]}" >&2; exit 2; }
done

cmake/install_packages.sh
mkdir -p build/bin
# To save time, a new build folder compiles the sources of a library as one and, without a GPU, for
# the CPU executor only.
options=()
if [ ! -f build/dev/CMakeCache.txt ]; then
  options=(-G Ninja -DRAMIFY_UNITY=ON)
  if ! nvidia-smi -L >/dev/null 2>&1; then
    options+=(-DRAMIFY_CUDA=OFF)
    echo "There is no GPU. To compile for one nevertheless: cmake --preset dev -DRAMIFY_CUDA=AUTO"
  fi
fi
cmake --preset dev "${options[@]}" >build/configure.log 2>&1 ||
  { cat build/configure.log >&2; exit 1; }
grep 'Ramify:' build/configure.log || true
cmake --build --preset dev --target "${programs[@]}"
for program in "${programs[@]}"; do ln -sf "../dev/examples/$program" "build/bin/$program"; done

echo "The programs are in build/bin: ${programs[*]}"
