// SPDX-License-Identifier: BSD-3-Clause
// Lesson 20b: a problem that is larger than its budget of device memory.
//
// Read first     Lessons 17b and 17c.
// You will see   4 MiB of numbers processed with 256 KiB of device memory, in tiles that alternate
//                between two streams, and how many tiles began before the previous one was
//                complete. (On the CPU executor each call waits, so there are none.)
// The rule       The copy in, the kernels and the copy out of a tile follow one another in one
//                stream. Before the host fills a pinned buffer again, it waits for that stream
//                only.
// The pitfall    The device buffer and the pinned buffer are in use until their copy is complete.
//                Filling one too early is a race that causes no error message.
// Plain CUDA     square<<<(count + threads - 1) / threads, threads, 0,
//                cudaStreamFireAndForget>>>(data, count)
// Try            In step 3, write `pipelines[0]`. All tiles are then in one stream, and none begins
//                before the previous one is complete.
#include "lesson.hpp"

#include <algorithm>
#include <array>
#include <numeric>

using namespace ramify;

__global__ void square(unsigned* data, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] *= data[i];
}

// One thread launches the grid for the tile.
__global__ void process_tile(unsigned* data, unsigned count, int* failures) {
  const unsigned threads = 256;
  if (!launch(square, {(count + threads - 1) / threads, threads}, fire_and_forget(), data, count))
    atomicAdd(failures, 1);
}

int main() {
  return lesson::run([] {
    // 1. The budget holds two tiles at a time.
    constexpr std::size_t n = 1 << 20;
    constexpr std::size_t budget = 256 << 10;  // bytes on the device
    constexpr std::size_t tile = budget / 2 / sizeof(unsigned);
    std::vector<unsigned> numbers(n);  // ordinary memory: copying it would block the host
    std::iota(numbers.begin(), numbers.end(), 0u);

    struct pipeline {
      host_stream stream;
      device_buffer<unsigned> on_device{tile, stream.get()};
      pinned_buffer<unsigned> pinned{tile};
      unsigned* result = nullptr;  // destination of the tile in the pipeline
      std::size_t count = 0;
    };
    std::array<pipeline, 2> pipelines;
    const lesson::device_array<int> failures(1);
    check(cudaStreamSynchronize(nullptr), "waiting for the counter to be cleared");

    std::vector<host_event> begins(n / tile), ends(n / tile);  // of each tile
    int used_early = 0;  // buffers whose stream was still at work
    const auto store_result = [&](pipeline& p) {
      // 2. Wait for this pipeline and store its result. The other pipeline continues.
      p.stream.synchronize();
      used_early += cudaStreamQuery(p.stream.get()) == cudaErrorNotReady ? 1 : 0;
      std::copy_n(p.pinned.data(), p.count, p.result);
      p.count = 0;
    };
    int tiles = 0;
    for (std::size_t begin = 0; begin < n; begin += tile, ++tiles) {
      // 3. The tiles alternate between the pipelines.
      pipeline& p = pipelines[tiles % 2];
      store_result(p);
      // 4. Copy the tile into pinned memory. Copies from there do not block the host.
      p.result = numbers.data() + begin;
      p.count = std::min(tile, n - begin);
      std::copy_n(p.result, p.count, p.pinned.data());
      // 5. Submit the copy in, the kernels and the copy out to this stream without a wait. The copy
      //    out begins after the parent's child grid is complete. The events get the times.
      const std::size_t bytes = p.count * sizeof(unsigned);
      begins[tiles].record(p.stream.get());
      check(cudaMemcpyAsync(p.on_device.data(), p.pinned.data(), bytes, cudaMemcpyHostToDevice,
                            p.stream.get()),
            "copying a tile to the device");
      check(launch(process_tile, {1, 1}, p.stream.get(), p.on_device.data(),
                   static_cast<unsigned>(p.count), failures.data())
                .code(),
            "launching the kernel of a tile");
      check(cudaMemcpyAsync(p.pinned.data(), p.on_device.data(), bytes, cudaMemcpyDeviceToHost,
                            p.stream.get()),
            "copying a tile to the host");
      ends[tiles].record(p.stream.get());
    }
    for (pipeline& p : pipelines) store_result(p);

    // 6. The proof of the overlap: times of the events since the first one.
    int overlapping = 0;
    for (int i = 1; i < tiles; ++i) {
      const bool overlaps =
          begins[i].milliseconds_since(begins[0]) < ends[i - 1].milliseconds_since(begins[0]);
      overlapping += overlaps ? 1 : 0;
    }
    std::size_t right = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const auto v = static_cast<unsigned>(i);
      right += numbers[i] == v * v ? 1 : 0;
    }
    std::cout << "numbers: " << n * sizeof(unsigned) / 1024
              << " KiB, on the device at a time: " << budget / 1024 << " KiB, tiles: " << tiles
              << "\ntiles that began before the previous one was complete: " << overlapping << '\n'
              << "buffers that the host used before their copy was complete: " << used_early << '\n'
              << "right: " << right << " of " << n
              << ", launches that failed: " << failures.read()[0] << '\n';
  });
}
