#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Fails if clang-format 14 would change a source file, or if a line of a source file has more than 100
# columns. Later versions of clang-format break lines elsewhere.
#   format_test.sh ROOT
set -euo pipefail
cd "$1"
formatter=$(command -v clang-format-14) || { echo "needs clang-format-14"; exit 77; }
sources=$(find algorithms device_runtime examples tests benchmarks \
  \( -name '*.cuh' -o -name '*.hpp' -o -name '*.cu' -o -name '*.cpp' \) | sort)
status=0
xargs "$formatter" --dry-run -Werror <<<"$sources" || status=1
while IFS= read -r line; do
  echo "more than 100 columns: $line"
  status=1
done < <(xargs awk 'length($0) > 100 { print FILENAME ":" FNR }' <<<"$sources")
exit $status
