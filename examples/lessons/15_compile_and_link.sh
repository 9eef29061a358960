#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Lesson 15: how a program that launches from the device is compiled and linked.
#
# Read first     Lesson 6.
# You will see   a parent in one file and its child in another, built in one step, in three steps,
#                and with the child in a static library; then four builds with a part missing.
# The rule       Kernels that launch are compiled to relocatable device code (-rdc=true; -dc means
#                -rdc=true -c). Then the device code of all objects is linked with the device
#                runtime cudadevrt, before the host's linker makes the program.
# The pitfall    Device code is linked once for a program. A shared library with kernels that launch
#                also links, but on an H200 its kernels failed at run time when the program had
#                kernels that launch, too.
# Try            In step 2, drop child.o from the device link. nvlink then reports what is missing.
set -euo pipefail

# shellcheck source=examples/nvcc.sh
source "$(dirname "$(realpath "$0")")/../nvcc.sh"
begin_lesson sm_90 # without a GPU, build for Hopper
libraries=$toolkit/lib64

cat >child.cu <<'END'
__global__ void child(int* threads) { atomicAdd(threads, 1); }
END
cat >main.cu <<'END'
#include <cstdio>
__global__ void child(int* threads);
__global__ void parent(int* threads) {
  child<<<2, 4, 0, cudaStreamFireAndForget>>>(threads);
  if (cudaGetLastError() != cudaSuccess) atomicAdd(threads, -1000);
}
int main() {
  int devices = 0, threads = 0, *counter = nullptr;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return 77;
  if (cudaMalloc(&counter, sizeof(int)) != cudaSuccess) return 1;
  if (cudaMemset(counter, 0, sizeof(int)) != cudaSuccess) return 1;
  parent<<<1, 1>>>(counter);
  if (cudaMemcpy(&threads, counter, sizeof(int), cudaMemcpyDefault) != cudaSuccess) return 1;
  std::printf("%d threads of the child ran\n", threads);
  return threads == 8 ? 0 : 1;
}
END

try_it() { # program: runs it if there is a GPU
  local status=0
  "./$1" || status=$?
  [ $status != 77 ] || echo "no GPU here; on one: 8 threads of the child ran"
  [ $status = 0 ] || [ $status = 77 ] || { echo "$1 ends with status $status"; exit 1; }
}
must_fail() { # pattern of the message, command...
  local message
  if message=$("${@:2}" 2>&1); then echo "this was built: ${*:2}"; exit 1; fi
  grep -o -m1 -e "$1" <<<"$message" || { echo "$message"; exit 1; }
}

echo "1. In one step: nvcc compiles, links the device code and calls the host's linker."
"$nvcc" -arch="$arch" -rdc=true main.cu child.cu -o one_step
try_it one_step

echo "2. In three steps: compile, link the device code, link the program with the host's linker."
"$nvcc" -arch="$arch" -dc main.cu child.cu
"$nvcc" -arch="$arch" -dlink main.o child.o -o device_code.o
host_link=(g++ -L"$libraries" main.o child.o -o three_steps)
host_libraries=(-lcudadevrt -lcudart_static -ldl -lrt -lpthread)
"${host_link[@]}" device_code.o "${host_libraries[@]}"
try_it three_steps

echo "3. A static library keeps relocatable code; the program's device link includes it."
ar rcs libchild.a child.o
"$nvcc" -arch="$arch" main.o -L. -lchild -o with_library
try_it with_library

echo "4. Without -rdc=true, the compiler:"
must_fail 'kernel launch from .*' "$nvcc" -arch="$arch" -c main.cu -o flat.o
echo "5. Without the device link, the host's linker:"
must_fail 'undefined reference to .__cudaRegisterLinkedBinary' \
  "${host_link[@]}" "${host_libraries[@]}"
echo "6. Without the device runtime, nvlink:"
must_fail "Undefined reference to '__cudaCDP2.*" \
  "$nvcc" -arch="$arch" -dlink -cudadevrt=none main.o child.o -o no_runtime.o
echo "7. Without the child's object, nvlink:"
must_fail "Undefined reference to '_Z5childPi.*" "$nvcc" -arch="$arch" -dlink main.o -o no_child.o
