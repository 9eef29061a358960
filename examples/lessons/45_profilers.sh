#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Lesson 45: what NVIDIA's profilers show of kernels that launch kernels.
#
# Read first     Lessons 15 and 25.
# You will see   a parent that launches eight children, under Nsight Systems (nsys) and under Nsight
#                Compute (ncu), if they are installed: how many runs of which kernel they list.
# The rule       nsys shows a timeline: which kernel the host launched when, and where the GPU was
#                idle. ncu runs a kernel several times and measures it: memory traffic, stalls,
#                occupancy. It lists no children of a kernel, because it hooks into launches by the
#                host. For them use a launch trace (lesson 25, --trace), which Ramify's kernels write
#                themselves.
# The pitfall    The time of a parent in a profile contains that of its children, because a grid is
#                complete when they are. A kernel that ncu repeats must give the same work each
#                time: a queue that was emptied once is not.
# Try            Launch `child` by the host, `child<<<8, 32>>>(counter)`, and profile again: a
#                kernel that a profiler is to measure is best launched by the host once.
set -euo pipefail

# shellcheck source=examples/nvcc.sh
source "$(dirname "$(realpath "$0")")/../nvcc.sh"
begin_lesson
command -v nsys >/dev/null || command -v ncu >/dev/null ||
  { echo "skipped: there is neither nsys nor ncu"; exit 77; }

cat >main.cu <<'END'
#include <cstdio>
__global__ void child(int* counter) { atomicAdd(counter, 1); }
__global__ void parent(int* counter) {
  for (int i = 0; i < 8; ++i) child<<<1, 32, 0, cudaStreamFireAndForget>>>(counter);
}
int main() {
  int *counter = nullptr, threads = 0;
  if (cudaMalloc(&counter, sizeof(int)) != cudaSuccess) return 1;
  if (cudaMemset(counter, 0, sizeof(int)) != cudaSuccess) return 1;
  parent<<<1, 1>>>(counter);
  if (cudaMemcpy(&threads, counter, sizeof(int), cudaMemcpyDefault) != cudaSuccess) return 1;
  return threads == 8 * 32 ? 0 : 1;
}
END
"$nvcc" -arch="$arch" -rdc=true -lineinfo main.cu -o program
./program || { echo "the program is wrong without a profiler"; exit 1; }

# Prints how many runs of a kernel a table lists.
runs_of() { # kernel, table
  awk -F, -v kernel="$1" 'index($0, kernel "(") { n += $2 } END { print n + 0 }' "$2"
}

echo "1. nsys: a timeline of the process, and a table of its kernels."
if command -v nsys >/dev/null; then
  nsys profile --output=report --force-overwrite=true --trace=cuda ./program >nsys.log 2>&1 ||
    { cat nsys.log; exit 1; }
  nsys stats --report cuda_gpu_kern_sum --format csv:nohdr report.nsys-rep 2>/dev/null |
    awk -F, '{ print $NF "," $3 }' | tr -d '"' >nsys.csv
  echo "   parent: $(runs_of parent nsys.csv) run, child: $(runs_of child nsys.csv) of 8 runs"
else
  echo "   not installed"
fi

echo "2. ncu: counters of one kernel."
if command -v ncu >/dev/null; then
  # Counters may be reserved for the administrator, and some versions refuse programs like this.
  if ncu --csv --metrics gpu__time_duration.sum ./program >ncu.log 2>&1; then
    grep -c '"parent(' ncu.log >parents || true
    grep -c '"child(' ncu.log >children || true
    echo "   parent: $(cat parents) run, child: $(cat children) of 8 runs"
  else
    echo "   it cannot measure here: $(grep -m1 -oE 'ERR_[A-Z]+|==ERROR==.*' ncu.log || true)"
  fi
else
  echo "   not installed"
fi
