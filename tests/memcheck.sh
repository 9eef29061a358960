#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Small sorts by every strategy and route under compute-sanitizer's memcheck.
#   memcheck.sh <quicksort program> <quicksort_test program>
set -euo pipefail
program=$1
tests=$2
nvidia-smi -L >/dev/null 2>&1 || { echo "needs a GPU"; exit 77; }
export PATH=$PATH:${CUDA_PATH:-/usr/local/cuda}/bin
command -v compute-sanitizer >/dev/null || { echo "needs compute-sanitizer"; exit 77; }

checked() {
  echo "-- $*"
  compute-sanitizer --tool memcheck --error-exitcode 9 "$@"
}

for strategy in multiway binary; do
  for route in device flat; do
    for input in "uniform --type u32" "zipf --type f64 --pairs"; do
      # shellcheck disable=SC2086
      checked "$program" --backend cuda --strategy $strategy --route $route --n 200000 --verify \
        --generate $input
    done
  done
  # Few launch slots: the list, the drain and the host's part.
  checked "$program" --backend cuda --strategy $strategy --route device --n 300000 --verify \
    --generate zipf --pending-launches 100
done
# Elements as large as may be, one partition and the long merge sort.
RAMIFY_TEST_BACKEND=cuda checked "$tests" --run_test='quicksort/what_is_too_deep*'
