// SPDX-License-Identifier: BSD-3-Clause
// A broken rule ends a program that catches nothing, after its output.
#include <stdio.h>

__global__ void child(int* p) { *p = 1; }

__global__ void parent() {
  int local = 0;
  printf("before\n");
  child<<<1, 1>>>(&local);
}

int main() { parent<<<1, 1>>>(); }
