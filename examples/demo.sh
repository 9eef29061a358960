#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the example quicksort and sorts a real file: the sizes of all files under /usr. Passes its
# arguments to the example, for instance: examples/demo.sh --strategy binary --descending
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/.."

examples/build.sh quicksort
build=build/demo
mkdir -p $build

find /usr -xdev -type f -printf '%s\n' >$build/file_sizes.txt
sort_sizes() { # output, arguments...
  local output=$1
  shift
  echo
  echo "\$ build/bin/quicksort --input $build/file_sizes.txt --output $build/$output --verify $*"
  build/bin/quicksort --input $build/file_sizes.txt --output $build/"$output" --verify "$@"
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
others=$(sed '/^#/d; /^quicksort /d; s/ .*//' examples/programs.txt | paste -sd, | sed 's/,/, /g')
echo "examples/build.sh builds the other programs: $others."
