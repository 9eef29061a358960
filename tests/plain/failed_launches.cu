// SPDX-License-Identifier: BSD-3-Clause
// Launches in kernels that fail, and whose error no call reads.
__global__ void too_large(int n) {
  if (n > 0) too_large<<<1, 2000>>>(n - 1);
}

// The second launch does not clear the error of the first.
__global__ void reads_it(int* error) {
  too_large<<<1, 2000>>>(0);
  too_large<<<1, 1>>>(0);
  *error = cudaGetLastError();
}

__global__ void endless() { endless<<<1, 1, 0, cudaStreamFireAndForget>>>(); }

int main() {
  int* error;
  cudaMallocManaged(&error, sizeof(int));
  too_large<<<1, 2>>>(1);
  reads_it<<<1, 1>>>(error);
  endless<<<1, 1>>>();
  cudaDeviceSynchronize();
  return *error == cudaErrorInvalidConfiguration ? 0 : 1;
}
