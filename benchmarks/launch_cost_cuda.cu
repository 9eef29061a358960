// SPDX-License-Identifier: BSD-3-Clause
// What a launch costs: from the host, from kernels by stream, width and depth, and in a CUDA graph.
// Every grid counts itself, and every launch is looked at, before a time is reported. No more grids
// are pending than half of the pool has room for: a GPU whose pool runs dry can hang.
//   benchmark_launch_cost_cuda --part host,kernel,graph
#include <array>
#include <ramify/runtime/captured_graph.cuh>
#include <ramify/runtime/graph_loop.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/limits.cuh>
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

/// What has happened, in device memory.
struct tally {
  unsigned arrived;  ///< grids that ran
  int error;         ///< of a launch or a stream; 0 if there was none
};

enum class into { null_stream, fire_and_forget, named_stream, tail_launch };

const char* to_string(into kind) {
  switch (kind) {
    case into::null_stream: return "NULL stream";
    case into::fire_and_forget: return "fire-and-forget";
    case into::named_stream: return "named stream";
    case into::tail_launch: return "tail launch";
  }
  return "?";
}

__device__ void note(tally* told, cudaError_t error) {
  if (error != cudaSuccess) atomicExch(&told->error, static_cast<int>(error));
}

/// A stream of a kind, for one thread's children; a named one is made here and given back.
class child_stream {
 public:
  __device__ child_stream(into kind, tally* told) : kind_(kind), told_(told) {
    switch (kind) {
      case into::null_stream: break;
      case into::fire_and_forget: stream_ = cudaStreamFireAndForget; break;
      case into::tail_launch: stream_ = cudaStreamTailLaunch; break;
      case into::named_stream:
        note(told, cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
        break;
    }
  }
  __device__ ~child_stream() {
    if (kind_ == into::named_stream) note(told_, cudaStreamDestroy(stream_));
  }
  child_stream(const child_stream&) = delete;
  child_stream& operator=(const child_stream&) = delete;

  template <class... Parameters, class... Arguments>
  __device__ void launch(void (*kernel)(Parameters...), Arguments... arguments) const {
    note(told_, ramify::launch(kernel, {1, 1}, stream_, arguments...).code());
  }

 private:
  into kind_;
  tally* told_;
  cudaStream_t stream_ = nullptr;
};

__global__ void arrive(tally* told) { atomicAdd(&told->arrived, 1u); }

/// Each block launches so many grids, one after another.
__global__ void launch_many(into kind, unsigned children, tally* told) {
  const child_stream stream(kind, told);
  for (unsigned i = 0; i < children; ++i) stream.launch(arrive, told);
}

/// A grid that launches two of the level below, each into a stream of its own.
__global__ void tree_node(into kind, unsigned levels_below, tally* told) {
  atomicAdd(&told->arrived, 1u);
  if (levels_below == 0) return;
  const child_stream left(kind, told);
  const child_stream right(kind, told);
  left.launch(tree_node, kind, levels_below - 1, told);
  right.launch(tree_node, kind, levels_below - 1, told);
}

/// A grid that launches one of the level below.
__global__ void chain_node(into kind, unsigned levels_below, tally* told) {
  atomicAdd(&told->arrived, 1u);
  if (levels_below == 0) return;
  const child_stream stream(kind, told);
  stream.launch(chain_node, kind, levels_below - 1, told);
}

// ---- measuring ----------------------------------------------------------------------------------

/// Counts and times.
class bench {
 public:
  explicit bench(recorder& out) : out_(out), tally_(1, nullptr), last_(1) {
    int device = 0;
    check(cudaGetDevice(&device), "asking for the current device");
    check(cudaDeviceGetAttribute(&sms_, cudaDevAttrMultiProcessorCount, device),
          "asking for the SMs");
  }

  void host() {
    constexpr unsigned launches = 1000;
    row("launch by the host", launches,
        host_time(
            [&] {
              for (unsigned i = 0; i < launches; ++i) launch_from_host(arrive, 1, told());
            },
            launches));
    constexpr unsigned turns = 200;
    row("launch by the host, 4 bytes read back, wait", turns,
        host_time(
            [&] {
              for (unsigned i = 0; i < turns; ++i) {
                launch_from_host(arrive, 1, told());
                check(cudaMemcpyAsync(last_.data(), &told()->arrived, sizeof(unsigned),
                                      cudaMemcpyDeviceToHost, nullptr),
                      "reading back");
                check(cudaStreamSynchronize(nullptr), "waiting");
                if (last_[0] != i + 1) throw std::runtime_error("a grid was not seen");
              }
            },
            turns));
  }

  void kernel() {
    constexpr std::array all{into::fire_and_forget, into::null_stream, into::named_stream,
                             into::tail_launch};
    for (const into kind : all) {
      constexpr unsigned children = 1000;
      row("one thread in a loop, " + std::string(to_string(kind)), children,
          device_time([&] { launch_from_host(launch_many, 1, kind, children, told()); }, children));
    }
    const auto blocks = static_cast<unsigned>(sms_);
    for (const into kind : all) {
      const unsigned children = most_grids / blocks;
      row(std::to_string(blocks) + " blocks, a thread each, " + to_string(kind), blocks * children,
          device_time([&] { launch_from_host(launch_many, blocks, kind, children, told()); },
                      blocks * children));
    }
    for (const into kind : {into::fire_and_forget, into::null_stream, into::named_stream}) {
      constexpr unsigned levels_below = 12;
      constexpr unsigned grids = (2u << levels_below) - 1;
      static_assert(grids <= most_grids);
      row("binary tree of grids, " + std::string(to_string(kind)), grids,
          device_time([&] { launch_from_host(tree_node, 1, kind, levels_below, told()); }, grids));
    }
    for (const into kind : all) {
      constexpr unsigned grids = 1000;
      row("chain of grids, " + std::string(to_string(kind)), grids,
          device_time([&] { launch_from_host(chain_node, 1, kind, grids - 1, told()); }, grids));
    }
  }

  void graph();

 private:
  template <class... Parameters, class... Arguments>
  static void launch_from_host(void (*kernel)(Parameters...), unsigned blocks,
                               Arguments... arguments) {
    check(ramify::launch(kernel, {blocks, 1}, nullptr, arguments...).code(), "launching");
  }
  [[nodiscard]] tally* told() const { return tally_.data(); }

  void clear() { check(cudaMemsetAsync(told(), 0, sizeof(tally), nullptr), "clearing"); }
  void expect(unsigned grids) const {
    const tally seen = benchmark::download(told(), 1)[0];
    if (seen.error != 0) {
      check(static_cast<cudaError_t>(seen.error), "in a kernel that launches");
    }
    if (seen.arrived != grids) {
      throw std::runtime_error(std::to_string(seen.arrived) + " grids ran instead of " +
                               std::to_string(grids));
    }
  }

  /// The median time of `work`, by the device, in which so many grids run.
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
  /// The same by the host's clock, until the device is done.
  template <class Work>
  timing host_time(Work work, unsigned grids) {
    std::vector<double> times;
    for (int i = -2; i < repeats; ++i) {
      clear();
      check(cudaDeviceSynchronize(), "waiting");
      const auto begin = std::chrono::steady_clock::now();
      work();
      check(cudaDeviceSynchronize(), "waiting");
      const std::chrono::duration<double, std::milli> took =
          std::chrono::steady_clock::now() - begin;
      if (i >= 0) times.push_back(took.count());
      expect(grids);
    }
    return benchmark::summarize(times);
  }

  void row(const std::string& what, unsigned grids, const timing& t) {
    out_.row({what, grids, t, 1e3 * t.median_ms / grids, grids / t.median_ms / 1e3});
  }

  recorder& out_;
  device_buffer<tally> tally_;
  pinned_buffer<unsigned> last_;
  int sms_ = 0;
};

// ---- graphs -------------------------------------------------------------------------------------

/// Goes on until so many grids have counted themselves.
__global__ void arrive_until(unsigned grids, loop_condition loop, tally* told) {
  const unsigned before = atomicAdd(&told->arrived, 1u);
  loop.again(before + 1 < grids);
}

void bench::graph() {
  constexpr unsigned grids = 1000;
  const host_stream stream;
  const captured_graph chain(stream.get(), [&] {
    for (unsigned i = 0; i < grids; ++i) {
      check(ramify::launch(arrive, {1, 1}, stream.get(), told()).code(), "launching into a graph");
    }
  });
  row("chain of kernels in a CUDA graph", grids,
      device_time([&] { chain.launch(nullptr); }, grids));
  if (const std::string obstacle = graph_loop_obstacle(); !obstacle.empty()) {
    out_.row({"iterations of a WHILE node: " + obstacle, {}, {}, {}, {}});
    return;
  }
  const graph_loop loop([&](cudaStream_t into, const loop_condition& condition) {
    check(ramify::launch(arrive_until, {1, 1}, into, grids, condition, told()).code(),
          "launching a turn");
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
  if (asked.wants("host")) b.host();
  if (asked.wants("kernel")) b.kernel();
  if (asked.wants("graph")) b.graph();
}

}  // namespace

int main(int argc, char** argv) {
  return benchmark::run({.name = "launch_cost_cuda",
                         .about = "What a launch costs, from the host, from kernels, in graphs.",
                         .machine = benchmark::this_gpu,
                         .parts = {"host", "kernel", "graph"}},
                        argc, argv, measure);
}
