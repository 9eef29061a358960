// SPDX-License-Identifier: BSD-3-Clause
// Measures the cost of a launch: from the host, from kernels by stream, width and depth, and in a
// CUDA graph. The benchmark checks every launch and the number of grids before it reports a time.
// At most half of the pending-launch pool is used, because a GPU whose pool is exhausted can hang.
//   benchmark_launch_cost_cuda --part host,kernel,graph
#include <array>
#include <ramify/runtime/captured_graph.cuh>
#include <ramify/runtime/graph_loop.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/limits.cuh>
#include <ramify/runtime/residency.cuh>
#include <ramify/runtime/stream.cuh>
#include <stdexcept>
#include <string>
#include <utility>

#include "measure_cuda.cuh"

namespace {

using namespace ramify;
using benchmark::recorder;
using benchmark::timing;

constexpr int repeats = 11;
constexpr std::size_t pool_size = 16'384;
constexpr unsigned most_grids = pool_size / 2;

// ---- kernels ------------------------------------------------------------------------------------

/// Counters in device memory.
struct launch_counters {
  unsigned grids;  ///< grids that ran
  int error;       ///< first error of a launch or a stream; 0 if none
};

enum class stream_kind { null_stream, fire_and_forget, named_stream, tail_launch };

const char* to_string(stream_kind kind) {
  switch (kind) {
    case stream_kind::null_stream: return "NULL stream";
    case stream_kind::fire_and_forget: return "fire-and-forget";
    case stream_kind::named_stream: return "named stream";
    case stream_kind::tail_launch: return "tail launch";
  }
  return "?";
}

__device__ void record_error(launch_counters* counters, cudaError_t error) {
  if (error != cudaSuccess) atomicExch(&counters->error, static_cast<int>(error));
}

/// A stream for the children of one thread. The constructor creates a named stream, and the
/// destructor destroys it.
class child_stream {
 public:
  __device__ child_stream(stream_kind kind, launch_counters* counters)
      : kind_(kind), counters_(counters) {
    switch (kind) {
      case stream_kind::null_stream: break;
      case stream_kind::fire_and_forget: stream_ = cudaStreamFireAndForget; break;
      case stream_kind::tail_launch: stream_ = cudaStreamTailLaunch; break;
      case stream_kind::named_stream:
        record_error(counters, cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
        break;
    }
  }
  __device__ ~child_stream() {
    if (kind_ == stream_kind::named_stream) record_error(counters_, cudaStreamDestroy(stream_));
  }
  child_stream(const child_stream&) = delete;
  child_stream& operator=(const child_stream&) = delete;

  template <class... Parameters, class... Arguments>
  __device__ void launch(void (*kernel)(Parameters...), Arguments... arguments) const {
    record_error(counters_, ramify::launch(kernel, {1, 1}, stream_, arguments...).code());
  }

 private:
  stream_kind kind_;
  launch_counters* counters_;
  cudaStream_t stream_ = nullptr;
};

__global__ void arrive(launch_counters* counters) { atomicAdd(&counters->grids, 1u); }

/// Each block launches `children` grids, one after another.
__global__ void launch_many(stream_kind kind, unsigned children, launch_counters* counters) {
  const child_stream stream(kind, counters);
  for (unsigned i = 0; i < children; ++i) stream.launch(arrive, counters);
}

/// Launches two grids of the next level, each into its own stream.
__global__ void tree_node(stream_kind kind, unsigned levels_below, launch_counters* counters) {
  atomicAdd(&counters->grids, 1u);
  if (levels_below == 0) return;
  const child_stream left(kind, counters);
  const child_stream right(kind, counters);
  left.launch(tree_node, kind, levels_below - 1, counters);
  right.launch(tree_node, kind, levels_below - 1, counters);
}

/// Launches one grid of the next level.
__global__ void chain_node(stream_kind kind, unsigned levels_below, launch_counters* counters) {
  atomicAdd(&counters->grids, 1u);
  if (levels_below == 0) return;
  const child_stream stream(kind, counters);
  stream.launch(chain_node, kind, levels_below - 1, counters);
}

// ---- measuring ----------------------------------------------------------------------------------

/// Runs the measurements and adds their rows to the table.
class bench {
 public:
  explicit bench(recorder& out) : out_(out), memory_(1, nullptr), last_(1) {}

  void host() {
    constexpr unsigned launches = 1000;
    row("launch by the host", launches,
        host_time(
            [&] {
              for (unsigned i = 0; i < launches; ++i) launch_from_host(arrive, 1, counters());
            },
            launches));
    constexpr unsigned round_trips = 200;
    row("launch by the host, 4 bytes read back, wait", round_trips,
        host_time(
            [&] {
              for (unsigned i = 0; i < round_trips; ++i) {
                launch_from_host(arrive, 1, counters());
                check(cudaMemcpyAsync(last_.data(), &counters()->grids, sizeof(unsigned),
                                      cudaMemcpyDeviceToHost, nullptr),
                      "reading back");
                check(cudaStreamSynchronize(nullptr), "waiting");
                if (last_[0] != i + 1) throw std::runtime_error("a grid is missing");
              }
            },
            round_trips));
  }

  void kernel() {
    constexpr std::array all{stream_kind::fire_and_forget, stream_kind::null_stream,
                             stream_kind::named_stream, stream_kind::tail_launch};
    for (const stream_kind kind : all) {
      constexpr unsigned children = 1000;
      row("one thread in a loop, " + std::string(to_string(kind)), children,
          device_time([&] { launch_from_host(launch_many, 1, kind, children, counters()); },
                      children));
    }
    const unsigned blocks = multiprocessor_count();
    for (const stream_kind kind : all) {
      const unsigned children = most_grids / blocks;
      row(std::to_string(blocks) + " blocks, a thread each, " + to_string(kind), blocks * children,
          device_time([&] { launch_from_host(launch_many, blocks, kind, children, counters()); },
                      blocks * children));
    }
    for (const stream_kind kind :
         {stream_kind::fire_and_forget, stream_kind::null_stream, stream_kind::named_stream}) {
      constexpr unsigned levels_below = 12;
      constexpr unsigned grids = (2u << levels_below) - 1;
      static_assert(grids <= most_grids);
      row("binary tree of grids, " + std::string(to_string(kind)), grids,
          device_time([&] { launch_from_host(tree_node, 1, kind, levels_below, counters()); },
                      grids));
    }
    for (const stream_kind kind : all) {
      constexpr unsigned grids = 1000;
      row("chain of grids, " + std::string(to_string(kind)), grids,
          device_time([&] { launch_from_host(chain_node, 1, kind, grids - 1, counters()); },
                      grids));
    }
  }

  void graph();

 private:
  template <class... Parameters, class... Arguments>
  static void launch_from_host(void (*kernel)(Parameters...), unsigned blocks,
                               Arguments... arguments) {
    check(ramify::launch(kernel, {blocks, 1}, nullptr, arguments...).code(), "launching");
  }
  [[nodiscard]] launch_counters* counters() const { return memory_.data(); }

  void clear() {
    check(cudaMemsetAsync(counters(), 0, sizeof(launch_counters), nullptr), "clearing");
  }
  void expect(unsigned grids) const {
    const launch_counters seen = benchmark::download(counters(), 1)[0];
    if (seen.error != 0) {
      check(static_cast<cudaError_t>(seen.error), "in a kernel that launches");
    }
    if (seen.grids != grids) {
      throw std::runtime_error(std::to_string(seen.grids) + " grids ran instead of " +
                               std::to_string(grids));
    }
  }

  /// Returns the median device time of `work`, which must run `grids` grids.
  template <class Work>
  timing device_time(Work work, unsigned grids) {
    std::vector<double> times;
    for (int i = -2; i < repeats; ++i) {
      host_event begin;
      host_event end;
      clear();
      begin.record();
      work();
      end.record();
      if (const double ms = end.milliseconds_since(begin); i >= 0) times.push_back(ms);
      expect(grids);
    }
    return benchmark::summarize(times);
  }
  /// Returns the median wall-clock time of `work`, until the device is idle.
  template <class Work>
  timing host_time(Work work, unsigned grids) {
    std::vector<double> times;
    for (int i = -2; i < repeats; ++i) {
      clear();
      check(cudaDeviceSynchronize(), "waiting");
      const auto begin = std::chrono::steady_clock::now();
      work();
      check(cudaDeviceSynchronize(), "waiting");
      const std::chrono::duration<double, std::milli> elapsed =
          std::chrono::steady_clock::now() - begin;
      if (i >= 0) times.push_back(elapsed.count());
      expect(grids);
    }
    return benchmark::summarize(times);
  }

  void row(const std::string& what, unsigned grids, const timing& t) {
    out_.row({what, grids, t, 1e3 * t.median_ms / grids, grids / t.median_ms / 1e3});
  }

  recorder& out_;
  device_buffer<launch_counters> memory_;
  pinned_buffer<unsigned> last_;
};

// ---- graphs -------------------------------------------------------------------------------------

/// Repeats the loop until `grids` grids have run.
__global__ void arrive_until(unsigned grids, loop_condition loop, launch_counters* counters) {
  const unsigned before = atomicAdd(&counters->grids, 1u);
  loop.again(before + 1 < grids);
}

void bench::graph() {
  constexpr unsigned grids = 1000;
  const host_stream stream;
  const captured_graph chain(stream.get(), [&] {
    for (unsigned i = 0; i < grids; ++i) {
      check(ramify::launch(arrive, {1, 1}, stream.get(), counters()).code(),
            "launching into a graph");
    }
  });
  row("chain of kernels in a CUDA graph", grids,
      device_time([&] { chain.launch(nullptr); }, grids));
  if (const std::string obstacle = graph_loop_obstacle(); !obstacle.empty()) {
    out_.row({"iterations of a WHILE node: " + obstacle, {}, {}, {}, {}});
    return;
  }
  const graph_loop loop([&](cudaStream_t stream, const loop_condition& condition) {
    check(ramify::launch(arrive_until, {1, 1}, stream, grids, condition, counters()).code(),
          "launching an iteration");
  });
  row("iterations of a WHILE node, one kernel each", grids,
      device_time([&] { loop.launch(nullptr); }, grids));
}

void measure(recorder& out, const benchmark::command_line& asked) {
  const launch_limits limits({.pending_launches = pool_size});
  if (*limits.granted().pending_launches < pool_size) {
    throw std::runtime_error("the driver grants fewer than " + std::to_string(pool_size) +
                             " pending launches");
  }
  out.table("launches", {"what", "grids", "ms", "µs a grid", "10^6 grids/s"},
            "Grids of one thread that count themselves; medians of " + std::to_string(repeats) +
                " (least–most); room for " + std::to_string(pool_size) + " pending launches");
  bench b(out);
  if (asked.has_part("host")) b.host();
  if (asked.has_part("kernel")) b.kernel();
  if (asked.has_part("graph")) b.graph();
}

}  // namespace

int main(int argc, char** argv) {
  return benchmark::run({.name = "launch_cost_cuda",
                         .about = "What a launch costs, from the host, from kernels, in graphs.",
                         .machine = benchmark::this_gpu,
                         .parts = {"host", "kernel", "graph"}},
                        argc, argv, measure);
}
