#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the examples and sorts a real file: the sizes of all files under /usr. What follows on the
# command line goes to the example, for instance: examples/demo.sh --strategy binary --descending
set -euo pipefail
cd "$(dirname "$0")/.."

cmake/install_packages.sh
build=build/demo
cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DRAMIFY_TESTS=OFF -DRAMIFY_BENCHMARKS=OFF >$build.log 2>&1 || { cat $build.log; exit 1; }
grep 'Ramify:' $build.log || true
cmake --build $build --target quicksort

find /usr -xdev -type f -printf '%s\n' >$build/file_sizes.txt
echo
echo "\$ quicksort --input file_sizes.txt --output file_sizes.sorted.txt --verify $*"
$build/examples/quicksort --input $build/file_sizes.txt --output $build/file_sizes.sorted.txt \
  --verify "$@"

lines=$(wc -l <$build/file_sizes.sorted.txt)
echo
echo "The sizes in bytes of the $lines files under /usr, sorted, are in $build/file_sizes.sorted.txt:"
echo "  first  $(head -n 1 $build/file_sizes.sorted.txt)"
echo "  middle $(sed -n "$((lines / 2 + 1))p" $build/file_sizes.sorted.txt)"
echo "  last   $(tail -n 1 $build/file_sizes.sorted.txt)"
