#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Lesson 44: what relocatable device code costs, and what the device runtime costs.
#
# Read first     Lesson 15.
# You will see   one kernel in four programs: compiled as a whole, with relocatable code, with a
#                function in another file, and beside a kernel that launches it. For each, the
#                registers of the kernel and the size of the program; on a GPU also the memory in
#                use on the device.
# The rule       nvlink takes the device runtime cudadevrt into the program only if a kernel
#                launches. It adds about a megabyte to the file, and the device reserves memory for
#                pending launches. -rdc=true alone adds little; it lets a kernel call functions of
#                other files.
# The pitfall    The compiler does not see the body of a function in another file, so it cannot
#                inline it. The call takes registers and time in an inner loop. Keep such functions
#                in headers, or link with -dlto.
# Try            In step 3, remove -DOTHER_FILE and mix.cu. The function is then in main.cu, and the
#                kernel has as few registers as in step 2.
set -euo pipefail

# shellcheck source=examples/nvcc.sh
source "$(dirname "$(realpath "$0")")/../nvcc.sh"
begin_lesson sm_90 # without a GPU, build for Hopper

cat >mix.cu <<'END'
__device__ unsigned mix(unsigned x) { return x * 2654435761u ^ x >> 15; }
END
cat >main.cu <<'END'
#include <cstdio>
#ifdef OTHER_FILE
__device__ unsigned mix(unsigned x);
#else
#include "mix.cu"
#endif
__global__ void work(unsigned* numbers) {
  unsigned x = threadIdx.x;
  for (int i = 0; i < 100; ++i) x = mix(x);
  numbers[threadIdx.x] = x;
}
#ifdef LAUNCHES
__global__ void parent(unsigned* numbers) { work<<<1, 32, 0, cudaStreamFireAndForget>>>(numbers); }
#else
__global__ void parent(unsigned*) {}
#endif
int main() {
  int devices = 0;
  unsigned* numbers = nullptr;
  size_t free = 0, all = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return 77;
  if (cudaMalloc(&numbers, 32 * sizeof(unsigned)) != cudaSuccess) return 1;
  parent<<<1, 1>>>(numbers);
  work<<<1, 32>>>(numbers);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  if (cudaMemGetInfo(&free, &all) != cudaSuccess) return 1;
  std::printf("%zu MiB used", (all - free) >> 20);
}
END

# Builds a program. Sets `registers` to those of `work`, and `size` to the KiB of the program.
build() { # program, options and files...
  local messages
  messages=$("$nvcc" -arch="$arch" -Xptxas -v -Xnvlink -v -o "$@" 2>&1) ||
    { echo "$messages"; exit 1; }
  # ptxas prints them, and after it nvlink, whose number counts.
  registers=$(awk '/Compiling entry function|Function properties for/ { is_work = /_Z4workPj/ }
    is_work && match($0, /[Uu]sed [0-9]+ registers/) { split(substr($0, RSTART), w, " "); n = w[2] }
    END { print n }' <<<"$messages")
  size=$(($(stat -c %s "$1") / 1024))
}
show() { # program
  local used status=0
  used=$("./$1") || status=$?
  [ $status = 77 ] && used="no GPU here"
  [ $status = 0 ] || [ $status = 77 ] || { echo "$1 ends with status $status"; exit 1; }
  echo "   $registers registers, $size KiB; on the device: $used"
}
is_more() { if [ $(($1)) -gt $(($2)) ]; then echo yes; else echo no; fi; }

echo "1. Compiled as a whole:"
build whole main.cu
show whole
least=$registers small=$size
echo "2. With relocatable code:"
build relocatable -rdc=true main.cu
show relocatable
echo "   more registers: $(is_more "$registers" "$least"), 500 KiB more:" \
  "$(is_more "$size" "$small + 500")"
echo "3. With the function in another file:"
build other_file -rdc=true -DOTHER_FILE main.cu mix.cu
show other_file
echo "   more registers: $(is_more "$registers" "$least"), 500 KiB more:" \
  "$(is_more "$size" "$small + 500")"
echo "4. With a kernel that launches:"
build launches -rdc=true -DLAUNCHES main.cu
show launches
echo "   more registers: $(is_more "$registers" "$least"), 500 KiB more:" \
  "$(is_more "$size" "$small + 500")"
