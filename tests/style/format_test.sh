#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Fails if clang-format 14 would change a source file, or if a line of a source file has more than
# 100 columns. Later versions of clang-format break lines elsewhere.
#   format_test.sh ROOT
set -euo pipefail
cd "$1"
formatter=$(command -v clang-format-14) || { echo "needs clang-format-14"; exit 77; }
sources=$(find algorithms device_runtime docs examples tests benchmarks \
  \( -name '*.cuh' -o -name '*.hpp' -o -name '*.cu' -o -name '*.cpp' \) | sort)
status=0
xargs "$formatter" --dry-run -Werror <<<"$sources" || status=1
# In UTF-8 a character that is not ASCII has several bytes; they count as one column.
while IFS= read -r line; do
  echo "more than 100 columns: $line"
  status=1
done < <(LC_ALL=C.UTF-8 xargs grep -nHE '^.{101,}$' <<<"$sources" | cut -d: -f1,2)
exit $status
