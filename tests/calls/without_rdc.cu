// SPDX-License-Identifier: BSD-3-Clause
// A call from a kernel, for a compilation without -rdc=true.
#include <ramify/quicksort.cuh>

using sorts = ramify::quicksort_calls<int>;

__global__ void call(int* keys, ramify::call_status* status,
                     ramify::kernel_environment<sorts> calls) {
  *status = ramify::quicksort(keys, 2, ramify::ascending{}, calls);
}
