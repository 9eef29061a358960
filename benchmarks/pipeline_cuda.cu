// SPDX-License-Identifier: BSD-3-Clause
// A pipeline of four algorithms (a filter, a sort, a spatial tree, clusters) with ten inputs, in
// four forms: a graph that has captured calls with a device_count; the same calls without a graph;
// a host that reads the number of the filter's results back, and starts the other steps with it;
// and a host that also waits for each step. Times are by the clock of the host, from the start of
// the filter to the last get(), in sum for the inputs. All labels of all forms are compared. A
// second table has the times of each step on the GPU, between events.
//   benchmark_pipeline_cuda [--quick]
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <optional>
#include <ramify/quicksort.cuh>
#include <ramify/runtime/captured_graph.cuh>
#include <ramify/runtime/stream.cuh>
#include <ramify/spatial_tree.cuh>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "measure_cuda.cuh"

namespace {

using namespace ramify;
using position = point<float, 3>;
using clock_type = std::chrono::steady_clock;

constexpr int repeats = 5;
constexpr unsigned inputs = 10;
constexpr unsigned threads = 256;
constexpr float stars_of_center = 50;

struct star {
  unsigned brightness;
  position at;
};

/// Returns a number of [0, 1).
__device__ float uniform(std::uint64_t bits) {
  return static_cast<float>(bits & 0xffffff) / 0x1000000;
}

/// Makes the stars of an input, around random centers. No two stars have the same brightness.
__global__ void make_stars(star* all, unsigned n, unsigned input) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const std::uint64_t seed = std::uint64_t{input} << 40;
  const auto centers = static_cast<unsigned>(n / stars_of_center) + 1;
  const std::uint64_t center = seed + (std::uint64_t{1} << 36) + i % centers;
  const float distance = cbrtf(1.0f / static_cast<float>(centers));
  all[i].brightness = (i + input) * 2'654'435'761u;
  for (unsigned axis = 0; axis < 3; ++axis) {
    const std::uint64_t random = benchmark::scrambled(seed + 3 * std::uint64_t{i} + axis);
    const float offset = uniform(random) + uniform(random >> 24) - 1;
    all[i].at.x[axis] = uniform(benchmark::scrambled(3 * center + axis)) + distance * offset / 4;
  }
}

/// The filter: copies the stars of at least *least brightness, in any order, and counts them.
__global__ void keep_bright(const star* all, unsigned n, const unsigned* least,
                            unsigned* brightness, position* positions, unsigned* count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool is_bright = i < n && all[i].brightness >= *least;
  const unsigned bright = __ballot_sync(0xffffffff, is_bright);
  if (bright == 0) return;
  const unsigned lane = threadIdx.x % 32;
  unsigned first = 0;
  if (lane == 0) first = atomicAdd(count, static_cast<unsigned>(__popc(bright)));
  first = __shfl_sync(0xffffffff, first, 0);
  if (!is_bright) return;
  const unsigned to = first + static_cast<unsigned>(__popc(bright & ((1u << lane) - 1)));
  brightness[to] = all[i].brightness;
  positions[to] = all[i].at;
}

/// Counts the labels that differ.
__global__ void count_differences(const std::uint32_t* labels, const std::uint32_t* expected,
                                  std::size_t n, unsigned* count) {
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += std::size_t{gridDim.x} * blockDim.x) {
    if (labels[i] != expected[i]) atomicAdd(count, 1u);
  }
}

/// The pipeline over up to n stars, its arrays and its memory.
class pipeline {
 public:
  explicit pipeline(unsigned n)
      : n_(n),
        radius_(std::cbrt(stars_of_center / static_cast<float>(n)) / 10),
        stars_(n, nullptr),
        brightness_(n, nullptr),
        positions_(n, nullptr),
        labels_(n, nullptr),
        // A sort or a build of a number of the host has more scratch memory or less.
        of_sort_(std::max(quicksort_scratch_bytes<unsigned, position, descending>(count()),
                          quicksort_scratch_bytes<unsigned, position, descending>(n)),
                 nullptr),
        of_tree_(std::max(spatial_tree_scratch_bytes<float, 3>(count()),
                          spatial_tree_scratch_bytes<float, 3>(n)),
                 nullptr),
        of_clusters_(find_clusters_scratch_bytes(n), nullptr) {}

  /// Makes an input of which about this share is bright. Waits.
  void prepare(unsigned input, double share) const {
    make_stars<<<(n_ + threads - 1) / threads, threads>>>(stars_.data(), n_, input);
    const auto least = static_cast<unsigned>((1 - share) * 0x1p32);
    check(cudaMemcpy(least_.data(), &least, sizeof least, cudaMemcpyHostToDevice),
          "setting the least brightness");
    check(cudaDeviceSynchronize(), "waiting for an input");
  }

  /// Starts the filter.
  void filter() const {
    check(cudaMemsetAsync(bright_.data(), 0, sizeof(unsigned), stream()), "clearing a count");
    check(launch(keep_bright, {(n_ + threads - 1) / threads, threads}, stream(), stars_.data(), n_,
                 least_.data(), brightness_.data(), positions_.data(), bright_.data())
              .code(),
          "launching the filter");
  }
  /// Returns the number of bright stars.
  [[nodiscard]] device_count count() const { return {bright_.data(), n_}; }

  // The other steps, for n stars: a number or a device_count.
  template <class Count>
  auto sort_only(const Count& n) const {
    return quicksort_pairs_async(brightness_.data(), positions_.data(), n, descending{},
                                 {.stream = stream(), .memory = of_sort_});
  }
  template <class Count>
  auto tree_only(const Count& n) const {
    return spatial_tree_async(positions_.data(), n, {.stream = stream(), .memory = of_tree_});
  }
  template <class Count>
  auto clusters_only(const Count& n) const {
    return find_clusters_async(spatial_tree_view_in<float, 3>(of_tree_, n), radius_, labels_.data(),
                               1, {.stream = stream(), .memory = of_clusters_});
  }
  template <class Count>
  auto start(const Count& n) const {
    auto sort = sort_only(n);
    auto tree = tree_only(n);
    return std::tuple(std::move(sort), std::move(tree), clusters_only(n));
  }
  auto start_with_count() const {
    filter();
    return start(count());
  }
  /// Starts the filter, and the other steps with the number that it has written. Waits for the
  /// filter.
  auto start_with_number() const {
    filter();
    return start(std::size_t{read_bright()});
  }
  /// Runs all steps. Waits for each.
  void run_each_step() const {
    filter();
    const std::size_t n = read_bright();
    quicksort_pairs(brightness_.data(), positions_.data(), n, descending{},
                    {.stream = stream(), .memory = of_sort_});
    const ramify::spatial_tree tree(positions_.data(), n, {.stream = stream(), .memory = of_tree_});
    find_clusters(tree.view(), radius_, labels_.data(), 1,
                  {.stream = stream(), .memory = of_clusters_});
  }

  /// Returns the number of bright stars. Waits for the stream.
  [[nodiscard]] unsigned read_bright() const {
    unsigned bright = 0;
    check(cudaMemcpyAsync(&bright, bright_.data(), sizeof bright, cudaMemcpyDeviceToHost, stream()),
          "reading the number of stars");
    check(cudaStreamSynchronize(stream()), "waiting for the filter");
    return bright;
  }

  [[nodiscard]] const std::uint32_t* labels() const { return labels_.data(); }
  [[nodiscard]] cudaStream_t stream() const { return stream_.get(); }

 private:
  unsigned n_;
  float radius_;
  host_stream stream_;
  device_buffer<unsigned> least_{1, nullptr};
  device_buffer<unsigned> bright_{1, nullptr};
  device_buffer<star> stars_;
  device_buffer<unsigned> brightness_;
  device_buffer<position> positions_;
  device_buffer<std::uint32_t> labels_;
  device_buffer<std::byte> of_sort_, of_tree_, of_clusters_;
};

/// Completes the steps of a run, and checks them.
template <class Runs>
void get_all(Runs& runs) {
  std::apply([](auto&... run) { (static_cast<void>(run.get()), ...); }, runs);
}

/// The runs of the three steps after the filter, over a number or a device_count.
template <class Count>
class step_runs {
 public:
  step_runs(const pipeline& stages, const Count& n) : stages_(stages), n_(n) {}

  /// Starts a step.
  void put(unsigned step) {
    if (step == 0) static_cast<void>(sort_.emplace(stages_.sort_only(n_)));
    if (step == 1) static_cast<void>(tree_.emplace(stages_.tree_only(n_)));
    if (step == 2) static_cast<void>(clusters_.emplace(stages_.clusters_only(n_)));
  }
  /// Waits for all steps, and checks them.
  void get() {
    static_cast<void>(sort_->get());
    static_cast<void>(tree_->get());
    static_cast<void>(clusters_->get());
  }

 private:
  const pipeline& stages_;
  Count n_;
  std::optional<decltype(std::declval<pipeline>().sort_only(std::declval<Count>()))> sort_;
  std::optional<decltype(std::declval<pipeline>().tree_only(std::declval<Count>()))> tree_;
  std::optional<decltype(std::declval<pipeline>().clusters_only(std::declval<Count>()))> clusters_;
};

/// Starts each of three steps, waits for the last one, and returns their times on the GPU, in us.
template <class Put>
std::array<double, 3> times_of_steps(cudaStream_t stream, const Put& put) {
  std::array<host_event, 4> marks;
  marks[0].record(stream);
  for (unsigned step = 0; step < 3; ++step) {
    put(step);
    marks[step + 1].record(stream);
  }
  std::array<double, 3> times{};
  for (unsigned step = 0; step < 3; ++step) {
    times[step] = 1000 * marks[step + 1].milliseconds_since(marks[step]);
  }
  return times;
}

/// The measurements of one size.
class pipeline_bench {
 public:
  explicit pipeline_bench(unsigned n) : n_(n), stages_(n), expected_(n, nullptr) {
    stages_.prepare(0, 0.5);
    check(cudaDeviceSynchronize(), "waiting for memory");
  }

  void add_row(benchmark::recorder& out, double share) {
    using captured_runs = decltype(stages_.start_with_count());
    std::optional<captured_runs> captured;
    const captured_graph graph(stages_.stream(),
                               [&] { captured.emplace(stages_.start_with_count()); });
    const auto by_graph = [&] {
      graph.launch(stages_.stream());
      get_all(*captured);
    };
    const auto by_count = [&] {
      auto runs = stages_.start_with_count();
      get_all(runs);
    };
    const auto by_number = [&] {
      auto runs = stages_.start_with_number();
      get_all(runs);
    };
    const auto by_step = [&] { stages_.run_each_step(); };

    std::array<std::vector<double>, 4> times;
    for (int i = -1; i < repeats; ++i) {
      std::array<double, 4> sums{};
      for (unsigned input = 0; input < inputs; ++input) {
        // Each input has another number of bright stars.
        stages_.prepare(input, share * (0.82 + 0.04 * input));
        sums[3] += time_of(by_step);
        keep_labels();
        sums[0] += time_of(by_graph);
        require_equal("the graph");
        sums[1] += time_of(by_count);
        require_equal("the calls with device_count");
        sums[2] += time_of(by_number);
        require_equal("the calls with the number");
      }
      for (unsigned form = 0; i >= 0 && form < 4; ++form) times[form].push_back(sums[form]);
    }
    const auto graphs = benchmark::summarize(times[0]);
    const auto numbers = benchmark::summarize(times[2]);
    out.row({n_, share, graphs, benchmark::summarize(times[1]), numbers,
             benchmark::summarize(times[3]), numbers.median_ms / graphs.median_ms});
  }

  /// Adds the times of each step of one input: in a graph of its own, and with the number.
  void add_row_of_steps(benchmark::recorder& out, double share) {
    cudaStream_t stream = stages_.stream();
    step_runs captured(stages_, stages_.count());
    std::vector<captured_graph> graphs;
    for (unsigned step = 0; step < 3; ++step) {
      graphs.emplace_back(stream, [&] { captured.put(step); });
    }
    std::array<std::vector<double>, 6> times;
    const auto keep = [&](unsigned form, const std::array<double, 3>& of_steps) {
      for (unsigned step = 0; step < 3; ++step) {
        times[2 * step + form].push_back(of_steps[step] / 1000);  // summarize() takes ms
      }
    };
    stages_.prepare(0, share);
    for (int i = -2; i < repeats; ++i) {
      stages_.filter();
      const auto of_graphs =
          times_of_steps(stream, [&](unsigned step) { graphs[step].launch(stream); });
      captured.get();
      stages_.filter();
      step_runs of_number(stages_, std::size_t{stages_.read_bright()});
      const auto of_calls = times_of_steps(stream, [&](unsigned step) { of_number.put(step); });
      of_number.get();
      if (i < 0) continue;
      keep(0, of_graphs);
      keep(1, of_calls);
    }
    const auto median_us = [&](unsigned i) {
      return 1000 * benchmark::summarize(times[i]).median_ms;
    };
    out.row({n_, share, median_us(0), median_us(1), median_us(2), median_us(3), median_us(4),
             median_us(5)});
  }

 private:
  /// Returns the time of `run`, which waits, in ms. Clears the labels before.
  template <class Run>
  double time_of(const Run& run) const {
    check(
        cudaMemset(const_cast<std::uint32_t*>(stages_.labels()), 0xfe, n_ * sizeof(std::uint32_t)),
        "clearing labels");
    check(cudaDeviceSynchronize(), "waiting for the device");
    const auto begin = clock_type::now();
    run();
    const std::chrono::duration<double, std::milli> elapsed = clock_type::now() - begin;
    return elapsed.count();
  }

  void keep_labels() {
    check(cudaMemcpy(expected_.data(), stages_.labels(), n_ * sizeof(std::uint32_t),
                     cudaMemcpyDeviceToDevice),
          "keeping labels");
  }

  void require_equal(const char* form) {
    check(cudaMemset(differences_.data(), 0, sizeof(unsigned)), "clearing a count");
    count_differences<<<1024, 256>>>(stages_.labels(), expected_.data(), n_, differences_.data());
    const unsigned differences = benchmark::download(differences_.data(), 1)[0];
    if (differences != 0) {
      throw std::runtime_error(std::string(form) + ": " + std::to_string(differences) +
                               " labels differ");
    }
  }

  unsigned n_;
  pipeline stages_;
  device_buffer<std::uint32_t> expected_;
  device_buffer<unsigned> differences_{1, nullptr};
};

void measure_all(benchmark::recorder& out, const benchmark::command_line& line) {
  out.table(
      "pipeline",
      {"stars", "bright", "graph, ms", "calls with a device_count, ms",
       "the host reads the number, ms", "the host waits for each step, ms", "host reads / graph"},
      "Ten inputs, one after another, of which 0.82 to 1.18 of the share is bright; medians "
      "of " +
          std::to_string(repeats) + " (least–most)");
  std::vector<unsigned> sizes{10'000, 100'000};
  if (!line.quick) sizes.insert(sizes.end(), {1'000'000, 10'000'000});
  constexpr std::array shares{0.1, 0.5, 0.8};
  for (const unsigned n : sizes) {
    pipeline_bench bench(n);
    for (const double share : shares) bench.add_row(out, share);
  }
  out.table("pipeline_steps",
            {"stars", "bright", "sort, us: graph", "number", "tree, us: graph", "number",
             "clusters, us: graph", "number"},
            "Steps of one input between CUDA events; medians of " + std::to_string(repeats));
  for (const unsigned n : sizes) {
    pipeline_bench bench(n);
    for (const double share : shares) bench.add_row_of_steps(out, share);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return benchmark::run({.name = "pipeline_cuda",
                         .about = "a pipeline in a graph, beside a host that reads numbers back",
                         .machine = benchmark::this_gpu,
                         .has_quick = true},
                        argc, argv, measure_all);
}
