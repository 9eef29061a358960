// SPDX-License-Identifier: BSD-3-Clause
// Lesson 20c: tiles that need their neighbors, and several steps a tile.
//
// Read first     Lessons 8 and 20b.
// You will see   heat that spreads along a rod of 4096 cells for 32 steps, while the device has
//                memory for 512 cells and their neighbors. First each tile is copied in, makes one
//                step, and is copied out. Then each makes eight steps at a time: an eighth of the
//                copies and of the launches by the host, for a few more cells that are computed.
// The rule       A step of a cell needs both neighbors. A tile that makes k steps on its own needs
//                a halo of k cells on each side. At each step one more cell of the halo becomes
//                wrong, because its own neighbor is missing; the cells of the tile stay right.
// The pitfall    A halo that is too narrow makes wrong cells near the sides of tiles only, without
//                an error. All tiles read the old rod and write the new one: if a tile wrote to the
//                old rod, its neighbor would read cells of the wrong step.
// Plain CUDA     advance<<<gridDim.x, threads, 0, cudaStreamTailLaunch>>>(then, now, count,
//                steps - 1, failures)
// Try            In step 1, write `steps - 1`. Cells near the sides of the tiles become wrong: the
//                outermost ones in the first sweep, and their neighbors in the next ones.
#include <algorithm>

#include "lesson.hpp"

using namespace ramify;

constexpr unsigned cells = 4096;
constexpr unsigned all_steps = 32;
constexpr unsigned tile = 512;
constexpr unsigned threads = 128;

// Integers, so that all orders of the work give the same numbers.
__host__ __device__ unsigned next(unsigned left, unsigned here, unsigned right) {
  return (left + 2 * here + right) / 4;
}

// 2. One step of `count` cells. The first and the last one keep their values. The last step of a
//    tile launches nothing.
__global__ void advance(unsigned* now, unsigned* then, unsigned count, unsigned steps,
                        int* failures) {
  const unsigned i = blockIdx.x * threads + threadIdx.x;
  if (i < count) {
    const bool is_end = i == 0 || i == count - 1;
    then[i] = is_end ? now[i] : next(now[i - 1], now[i], now[i + 1]);
  }
  // 3. Join: the next step begins after all blocks of this one have ended.
  if (i == 0 && steps > 1) {
    const auto launched =
        launch(advance, {gridDim.x, threads}, tail_launch(), then, now, count, steps - 1, failures);
    if (!launched) atomicAdd(failures, 1);
  }
}

struct totals {
  unsigned copied = 0;    // cells copied in and out
  unsigned computed = 0;  // cells
  unsigned launches = 0;  // by the host
};

// All cells make `steps` steps, tile by tile, from `old_rod` to `rod`.
void sweep(const std::vector<unsigned>& old_rod, std::vector<unsigned>& rod, unsigned steps,
           const device_buffer<unsigned>* memory, int* failures, totals& all) {
  const unsigned halo = steps;  // 1.
  for (unsigned begin = 0; begin < cells; begin += tile) {
    // 4. Copy the tile and its halo, as far as the rod extends, to the device.
    const unsigned first = std::max(begin, halo) - halo;
    const unsigned count = std::min(begin + tile + halo, cells) - first;
    check(cudaMemcpyAsync(memory[0].data(), &old_rod[first], count * sizeof(unsigned),
                          cudaMemcpyHostToDevice),
          "copying a tile to the device");
    // 5. The host launches the first of the steps.
    const unsigned blocks = (count + threads - 1) / threads;
    check(launch(advance, {blocks, threads}, nullptr, memory[0].data(), memory[1].data(), count,
                 steps, failures)
              .code(),
          "launching the first step");
    // 6. Copy the tile to the host, without its halo.
    const unsigned* const result = memory[steps % 2].data();
    check(cudaMemcpyAsync(&rod[begin], result + (begin - first), tile * sizeof(unsigned),
                          cudaMemcpyDeviceToHost),
          "copying a tile to the host");
    all.copied += count + tile;
    all.computed += count * steps;
    all.launches += 1;
  }
}

void show(unsigned steps, const std::vector<unsigned>& hot, const std::vector<unsigned>& expected) {
  const device_buffer<unsigned> memory[] = {device_buffer<unsigned>(tile + 2 * steps, nullptr),
                                            device_buffer<unsigned>(tile + 2 * steps, nullptr)};
  const lesson::device_array<int> failures(1);
  std::vector<unsigned> rod = hot;
  std::vector<unsigned> new_rod(cells);
  totals all;
  for (unsigned step = 0; step < all_steps; step += steps) {
    sweep(rod, new_rod, steps, memory, failures.data(), all);
    check(cudaStreamSynchronize(nullptr), "waiting for the tiles");
    std::swap(rod, new_rod);
  }
  unsigned right = 0;
  for (unsigned i = 0; i < cells; ++i) right += rod[i] == expected[i] ? 1 : 0;
  std::cout << "steps a tile: " << steps << '\n'
            << "  copied in and out:    " << all.copied * sizeof(unsigned) / 1024 << " KiB\n"
            << "  launches by the host: " << all.launches << ", failed ones of kernels "
            << failures.read()[0] << '\n'
            << "  cells computed:       " << all.computed << '\n'
            << "  cells that are right: " << right << " of " << cells << '\n';
}

int main() {
  return lesson::run([] {
    std::vector<unsigned> hot(cells);
    for (unsigned i = 0; i < cells; ++i) hot[i] = i * 2654435761u % 100'000'000;
    // 7. The same on the host, without tiles.
    std::vector<unsigned> expected = hot;
    for (unsigned step = 0; step < all_steps; ++step) {
      const std::vector<unsigned> old = expected;
      for (unsigned i = 1; i + 1 < cells; ++i) expected[i] = next(old[i - 1], old[i], old[i + 1]);
    }
    show(1, hot, expected);
    show(8, hot, expected);
  });
}
