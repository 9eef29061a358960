#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the example quicksort and sorts a real file: the sizes of all files under /usr. Passes its
# arguments to the example, for instance: examples/demo.sh --strategy binary --descending
set -euo pipefail
cd "$(dirname "$0")/.."

cmake/install_packages.sh
build=build/demo
mkdir -p $build
# Without a GPU, build only for the CPU executor, with little optimization, to save time.
options=()
nvidia-smi -L >/dev/null 2>&1 ||
  options=(-DRAMIFY_CUDA=OFF "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG")
cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Release "${options[@]}" \
  -DRAMIFY_TESTS=OFF -DRAMIFY_BENCHMARKS=OFF >$build/configure.log 2>&1 ||
  { cat $build/configure.log; exit 1; }
grep 'Ramify:' $build/configure.log || true
cmake --build $build --target quicksort

find /usr -xdev -type f -printf '%s\n' >$build/file_sizes.txt
sort_sizes() { # output, arguments...
  local output=$1
  shift
  echo
  echo "\$ quicksort --input file_sizes.txt --output $output --verify $*"
  $build/examples/quicksort --input $build/file_sizes.txt --output $build/"$output" --verify "$@"
}
sort_sizes sorted.txt "$@"
if [ $# -eq 0 ]; then
  # Sort again with the device route: grids launch grids, one per segment.
  sort_sizes sorted_again.txt --route device --strategy binary
  cmp $build/sorted.txt $build/sorted_again.txt
fi

lines=$(wc -l <$build/sorted.txt)
echo
echo "The sizes in bytes of the $lines files under /usr, sorted, are in $build/sorted.txt:"
echo "  first  $(head -n 1 $build/sorted.txt)"
echo "  middle $(sed -n "$((lines / 2 + 1))p" $build/sorted.txt)"
echo "  last   $(tail -n 1 $build/sorted.txt)"
