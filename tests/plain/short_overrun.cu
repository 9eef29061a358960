// SPDX-License-Identifier: BSD-3-Clause
// A kernel writes just after its dynamic shared memory: the launch requests too few bytes.
__global__ void kernel(int* out) {
  extern __shared__ int values[];
  values[10] = *out;
}

int main() {
  int* out;
  cudaMallocManaged(&out, sizeof(int));
  kernel<<<1, 1, 10 * sizeof(int)>>>(out);
}
