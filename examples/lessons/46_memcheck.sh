#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Lesson 46: compute-sanitizer finds a child that writes beyond its array.
#
# Read first     Lessons 15 and 26.
# You will see   a child with one thread too many. The program ends as if all were well, and
#                memcheck names the kernel, the thread and the line. The tool racecheck warns that
#                it does not support kernels that launch.
# The rule       An access beyond an allocation need not fail: the memory after it often belongs to
#                something else. memcheck checks each access, also in grids that kernels launched.
#                Compile with -lineinfo, so that it names lines.
# The pitfall    memcheck finds accesses outside of all allocations. It does not find an index that
#                is wrong within an allocation, nor a launch whose error no thread reads. Use one
#                allocation for each array while you search.
# Try            Write `<` instead of `<=` in the child: memcheck finds nothing.
set -euo pipefail

# shellcheck source=examples/nvcc.sh
source "$(dirname "$(realpath "$0")")/../nvcc.sh"
begin_lesson
sanitizer=$(command -v compute-sanitizer || echo "$toolkit/bin/compute-sanitizer")
[ -x "$sanitizer" ] || { echo "skipped: there is no compute-sanitizer"; exit 77; }

cat >main.cu <<'END'
#include <cstdio>
__global__ void child(int* numbers, unsigned threads) {
  if (threadIdx.x <= threads) numbers[threadIdx.x] = 1;  // < is right
}
__global__ void parent(int* numbers) {
  child<<<1, 96, 0, cudaStreamFireAndForget>>>(numbers, 64);
  if (cudaGetLastError() != cudaSuccess) numbers[0] = -1;
}
int main() {
  int *numbers = nullptr, first = 0;
  if (cudaMalloc(&numbers, 64 * sizeof(int)) != cudaSuccess) return 1;
  parent<<<1, 1>>>(numbers);
  if (cudaMemcpy(&first, numbers, sizeof(int), cudaMemcpyDefault) != cudaSuccess) return 1;
  std::printf("the first number is %d\n", first);
}
END
"$nvcc" -arch="$arch" -rdc=true -lineinfo main.cu -o program

echo "1. Without a tool:"
echo "   $(./program)"
echo "2. memcheck:"
"$sanitizer" --tool memcheck ./program >memcheck.log 2>&1 || true
invalid=$(grep -m1 -oE 'Invalid __global__ write of size 4 bytes' memcheck.log || true)
[ -n "$invalid" ] || { cat memcheck.log; exit 1; }
echo "   $invalid"
place_of_it=$(grep -m1 -oE 'child\(int ?\*, unsigned int\).*main\.cu:[0-9]+' memcheck.log || true)
echo "   in $(sed -E 's/\(.*main/ of main/' <<<"$place_of_it")"
echo "   by $(grep -m1 -oE 'thread \([0-9,]+\) in block \([0-9,]+\)' memcheck.log || true)"
echo "3. racecheck:"
"$sanitizer" --tool racecheck ./program >racecheck.log 2>&1 || true
echo "   $(grep -m1 -oiE '(error|warning).*(dynamic parallelism|cdp).*|racecheck summary.*' \
  racecheck.log | tr -d = || true)"
