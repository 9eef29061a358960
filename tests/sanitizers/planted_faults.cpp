// SPDX-License-Identifier: BSD-3-Clause
// Kernels with one fault each, which the sanitizer of this build must find. Otherwise its silence
// in the other tests proves nothing.
#include <iostream>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/residency.cuh>
#include <ramify/runtime/shared.cuh>
#include <string>

using namespace ramify;

__global__ void race_between_blocks(int* counter) {
  for (int i = 0; i < 100; ++i) *counter += 1;  // without an atomic
}

// Blocks share an incumbent, as in lesson 29: it is read by a plain read, or by load_relaxed().
__global__ void search(int* best, int* sum, bool reads_plainly) {
  for (int i = 0; i < 100; ++i) {
    const int incumbent = reads_plainly ? *best : load_relaxed(*best);
    atomicAdd(sum, incumbent);
    atomicMax(best, 100 * static_cast<int>(blockIdx.x) + i);
  }
}

__global__ void write_after_global_memory(int* data, int size) { data[size] = 1; }

__global__ void write_after_shared_memory(int size) { (&dynamic_shared<int>())[size] = 1; }

__global__ void overflow(int* data) { data[0] = data[1] + 1; }

int main(int argc, char** argv) {
  const std::string fault = argc > 1 ? argv[1] : "";
  const device_buffer<int> data(2, nullptr);
  data.data()[0] = 0;
  data.data()[1] = 2'147'483'647;
  launch_status status = [&] {
    if (fault == "race") return launch(race_between_blocks, {1000, 8}, nullptr, data.data());
    if (fault == "plain_read" || fault == "no_plain_read") {
      return launch(search, {1000, 1}, nullptr, data.data(), data.data() + 1,
                    fault == "plain_read");
    }
    if (fault == "global")
      return launch(write_after_global_memory, {1, 1}, nullptr, data.data(), 2);
    if (fault == "shared") return launch(write_after_shared_memory, {1, 1, 16}, nullptr, 4);
    return launch(overflow, {1, 1}, nullptr, data.data());
  }();
  std::cout << "launch: " << status.code() << ", nothing found\n";
}
