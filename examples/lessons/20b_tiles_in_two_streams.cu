// SPDX-License-Identifier: BSD-3-Clause
// Lesson 20b: a problem larger than the device memory that it may have.
//
// You will see   4 MiB of numbers worked on with 256 KiB of device memory, in tiles that take turns
//                in two streams: one may be copied while the other is worked on.
// The rule       A tile's copy in, its kernels and its copy out follow one another in one stream.
//                Before the host fills a pinned buffer again, it waits for that stream only.
// The catch      Both the buffer on the device and the pinned one are in use until their copy is done.
//                Filling one too early is a race that no error tells.
// Try            In step 1, halve the budget: `128 << 10`. There are twice as many tiles then.
#include "lesson.hpp"

#include <algorithm>
#include <array>
#include <numeric>

using namespace ramify;

__global__ void square(unsigned* data, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] *= data[i];
}

// One thread, which knows the tile and launches what it needs.
__global__ void work_on_tile(unsigned* data, unsigned count, int* failures) {
  const unsigned threads = 256;
  if (!launch(square, {(count + threads - 1) / threads, threads}, fire_and_forget(), data, count))
    atomicAdd(failures, 1);
}

int main() {
  return lesson::run([] {
    // 1. What there is, and what may be used: two tiles at a time.
    constexpr std::size_t n = 1 << 20;
    constexpr std::size_t budget = 256 << 10;  // bytes on the device
    constexpr std::size_t tile = budget / 2 / sizeof(unsigned);
    std::vector<unsigned> numbers(n);  // ordinary memory: a copy of it would make the host wait
    std::iota(numbers.begin(), numbers.end(), 0u);

    struct lane {
      host_stream stream;
      device_buffer<unsigned> on_device{tile, stream.get()};
      pinned_buffer<unsigned> pinned{tile};
      unsigned* result = nullptr;  // where what is in the lane now has to go
      std::size_t count = 0;
    };
    std::array<lane, 2> lanes;
    const lesson::numbers<int> failures(1);
    check(cudaStreamSynchronize(nullptr), "waiting for the counter to be cleared");

    const auto take_out = [](lane& l) {
      // 2. Wait for this lane, and take its result. The other one goes on meanwhile.
      l.stream.synchronize();
      std::copy_n(l.pinned.data(), l.count, l.result);
      l.count = 0;
    };
    int tiles = 0;
    for (std::size_t begin = 0; begin < n; begin += tile, ++tiles) {
      lane& l = lanes[tiles % 2];
      take_out(l);
      // 3. Pack the tile into pinned memory, from which a copy makes nobody wait.
      l.result = numbers.data() + begin;
      l.count = std::min(tile, n - begin);
      std::copy_n(l.result, l.count, l.pinned.data());
      // 4. In, through the kernels, out: one after another in this stream, and none of it waited for.
      //    The copy out begins when the parent's child grid is complete.
      const std::size_t bytes = l.count * sizeof(unsigned);
      check(cudaMemcpyAsync(l.on_device.data(), l.pinned.data(), bytes, cudaMemcpyHostToDevice,
                            l.stream.get()),
            "copying a tile to the device");
      check(launch(work_on_tile, {1, 1}, l.stream.get(), l.on_device.data(),
                   static_cast<unsigned>(l.count), failures.data())
                .code(),
            "launching the work on a tile");
      check(cudaMemcpyAsync(l.pinned.data(), l.on_device.data(), bytes, cudaMemcpyDeviceToHost,
                            l.stream.get()),
            "copying a tile to the host");
    }
    for (lane& l : lanes) take_out(l);

    std::size_t right = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const auto v = static_cast<unsigned>(i);
      right += numbers[i] == v * v ? 1 : 0;
    }
    std::cout << "numbers: " << n * sizeof(unsigned) / 1024
              << " KiB, on the device at a time: " << budget / 1024 << " KiB, tiles: " << tiles
              << '\n'
              << "right: " << right << " of " << n
              << ", launches that failed: " << failures.read()[0] << '\n';
  });
}
