// SPDX-License-Identifier: BSD-3-Clause
// Errors that the compiler finds in the translation. A comment marks the lines that it names.
// clang-format off
struct value {
  int x;
};
__global__ void kernel(value v, int* p) { *p = v.x; }

#define LAUNCH(k, ...)   \
  k<<<1, 1>>>(__VA_ARGS__)

__global__ void parent(int* p) {
  extern __shared__ int shared[];
  shared[0] = undeclared;  // error
  kernel<<<1,
           1>>>(value{}, p);
  missing<<<1, 1>>>(p);  // error
}

int main() {
  kernel<<<1, 1>>>(value{}, "text");  // error
  kernel<<<"blocks", 1>>>(value{}, nullptr);  // error
  LAUNCH(kernel, value{}, 0);
  LAUNCH(kernel, value{}, 0.5);  // error
  int x = 3;
  x();  // error
}
