#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Checks that the objects of a program contain no kernel of the sort, and that the program does.
#   no_kernels_test.sh <program> <object>...
set -euo pipefail
shopt -s inherit_errexit
kernels() {
  local symbols
  symbols=$(nm -C "$@")
  grep -E '[^U] void ramify::detail::quicksort::.*(sample_sort_leaves|quicksort_binary)' <<<"$symbols" || true
}
program=$1
shift
[ $# -gt 0 ] || { echo "there are no objects"; exit 1; }
found=$(kernels "$program")
[ -n "$found" ] || { echo "$program contains no kernel of the sort"; exit 1; }
found=$(kernels "$@")
[ -z "$found" ] || { echo "compiled although the library has them:"; echo "$found"; exit 1; }
