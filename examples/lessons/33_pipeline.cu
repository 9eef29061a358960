// SPDX-License-Identifier: BSD-3-Clause
// Lesson 33: a pipeline of four algorithms whose sizes only the device has.
//
// Read first     Lesson 32.
// You will see   ten photographs of one sky, each exposed longer than the one before. A filter
//                keeps the bright stars, a sort orders them, a spatial tree and its clusters find
//                their groups. The host starts all four steps at once, without reading a size,
//                and waits only after it has started the last one. On a GPU a graph captures the
//                steps once, and is launched for each photograph. The host computes the groups
//                again, by brute force.
// The rule       The filter leaves the number of bright stars in device memory. A device_count is
//                the address of this number and an upper bound. A call that takes it reads the
//                number in the order of the stream, so the host can start a step before the
//                previous step has run. A cluster's label is the least index of its stars. As the
//                sort puts the brightest star first, this is the rank of the brightest one.
// The pitfall    Arrays and scratch memory must have space for the upper bound. If the number is
//                greater, the calls process no stars, and get() throws.
// The cost       Memory has the size of the upper bound, and some grids do. A host that reads the
//                number and passes it may take less time; benchmarks/pipeline.md has tables.
// Plain CUDA     keep_bright<<<(stars + 127) / 128, 128, 0, stream>>>(photograph.data(),
//                brightness.data(), positions.data(), bright.data())
// Try            Let `most_bright` be 500. The longest exposures have more bright stars than that.
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <ramify/quicksort.cuh>
#include <ramify/runtime/captured_graph.cuh>
#include <ramify/spatial_tree.cuh>
#include <random>
#include <stdexcept>
#include <tuple>

#include "lesson.hpp"

using namespace ramify;
using position = point<float, 2>;

constexpr unsigned stars = 1'000;
constexpr unsigned most_bright = 800;  // the upper bound of the number of bright stars
constexpr unsigned least_brightness = 3'000;
constexpr float radius = 12;        // the greatest distance of neighbors in a group
constexpr unsigned min_points = 1;  // in a ball, its center included: a star alone is a group, too

struct star {
  unsigned brightness;
  position at;
};

/// Copies the bright stars, in any order, and counts them.
__global__ void keep_bright(const star* all, unsigned* brightness, position* positions,
                            unsigned* count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= stars || all[i].brightness < least_brightness) return;
  const unsigned to = atomicAdd(count, 1u);
  if (to >= most_bright) return;  // get() will throw
  brightness[to] = all[i].brightness;
  positions[to] = all[i].at;
}

/// The arrays and the scratch memory of the pipeline.
struct pipeline {
  lesson::device_array<star> photograph{stars};
  lesson::device_array<unsigned> brightness{most_bright};
  lesson::device_array<position> positions{most_bright};
  lesson::device_array<unsigned> bright{1};
  lesson::device_array<std::uint32_t> labels{most_bright};
  const device_count count{bright.data(), most_bright};
  device_buffer<std::byte> of_sort{quicksort_scratch_bytes<unsigned, position, descending>(count),
                                   nullptr};
  device_buffer<std::byte> of_tree{spatial_tree_scratch_bytes<float, 2>(count), nullptr};
  device_buffer<std::byte> of_clusters{find_clusters_scratch_bytes(most_bright), nullptr};

  /// Puts all steps into the stream. No step waits, and none reads a number on the host.
  auto start(cudaStream_t stream) const {
    check(cudaMemsetAsync(bright.data(), 0, sizeof(unsigned), stream), "clearing the number");
    check(launch(keep_bright, {(stars + 127) / 128, 128}, stream, photograph.data(),
                 brightness.data(), positions.data(), bright.data())
              .code(),
          "launching the filter");
    auto sort = quicksort_pairs_async(brightness.data(), positions.data(), count, descending{},
                                      {.stream = stream, .memory = of_sort});
    auto tree = spatial_tree_async(positions.data(), count, {.stream = stream, .memory = of_tree});
    // The host has no number of points for the view of spatial_tree_view_in(). Kernels read it
    // from the tree in the memory, which is complete when they run.
    auto groups =
        find_clusters_async(spatial_tree_view_in<float, 2>(of_tree, count), radius, labels.data(),
                            min_points, {.stream = stream, .memory = of_clusters});
    return std::tuple(std::move(sort), std::move(tree), std::move(groups));
  }
};

/// Returns the stars of the sky, around 40 centers, after an exposure.
std::vector<star> expose(unsigned seconds) {
  std::vector<star> all(stars);
  std::minstd_rand random;
  const auto offset = [&] { return random() % 30 + random() % 30; };
  for (unsigned i = 0; i < stars; ++i) {
    const unsigned x = 100 * (i % 8) + static_cast<unsigned>(offset());
    const unsigned y = 100 * (i % 5) + static_cast<unsigned>(offset());
    // No two stars have the same brightness, because 1009 is a prime.
    all[i] = {(i + 1) * 400 % 1009 * seconds, {static_cast<float>(x), static_cast<float>(y)}};
  }
  return all;
}

/// Returns the label of each bright star, in the order of the sort, from the distances of all
/// pairs.
std::vector<std::uint32_t> labels_by_host(std::vector<star> all) {
  std::erase_if(all, [](const star& s) { return s.brightness < least_brightness; });
  std::sort(all.begin(), all.end(),
            [](const star& a, const star& b) { return a.brightness > b.brightness; });
  std::vector<std::uint32_t> labels(all.size());
  std::iota(labels.begin(), labels.end(), 0u);
  for (bool changes = true; changes;) {
    changes = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const float x = all[i].at.x[0] - all[j].at.x[0];
        const float y = all[i].at.x[1] - all[j].at.x[1];
        if (x * x + y * y > radius * radius || labels[i] == labels[j]) continue;
        labels[i] = labels[j] = std::min(labels[i], labels[j]);
        changes = true;
      }
    }
  }
  return labels;
}

int main() {
  return lesson::run([] {
    const pipeline sky;
    const host_stream stream;
    std::optional<decltype(sky.start(stream.get()))> runs;
#if RAMIFY_ON_CUDA
    check(cudaDeviceSynchronize(), "waiting for the arrays");
    const captured_graph graph(stream.get(), [&] { runs.emplace(sky.start(stream.get())); });
#endif
    for (unsigned seconds = 1; seconds <= 10; ++seconds) {
      const std::vector<star> photograph = expose(seconds);
      check(cudaMemcpy(sky.photograph.data(), photograph.data(), stars * sizeof(star),
                       cudaMemcpyHostToDevice),
            "copying a photograph");
#if RAMIFY_ON_CUDA
      graph.launch(stream.get());
#else
      runs.emplace(sky.start(stream.get()));  // the CPU executor has no graphs
#endif
      std::cout << seconds << " s: ";
      try {
        // Each launch of the graph runs the captured steps again, and allows another get().
        auto& [sort, tree, groups] = *runs;
        sort.get();
        const std::uint64_t found = groups.get().clusters;
        std::vector<std::uint32_t> labels = sky.labels.read();
        labels.resize(tree.get().report().points);  // the number of bright stars
        std::cout << labels.size() << " bright stars in " << found << " groups, as the host finds: "
                  << lesson::yes_or_no(labels == labels_by_host(photograph)) << '\n';
      } catch (const std::length_error& e) {
        std::cout << e.what() << '\n';
      }
    }
  });
}
