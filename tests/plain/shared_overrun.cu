// SPDX-License-Identifier: BSD-3-Clause
// A kernel reads after its dynamic shared memory: the launch requests too few bytes.
__global__ void kernel(int* out) {
  extern __shared__ int values[];
  *out = values[32];
}

int main() {
  int* out;
  cudaMallocManaged(&out, sizeof(int));
  kernel<<<1, 1, 32 * sizeof(int)>>>(out);
}
