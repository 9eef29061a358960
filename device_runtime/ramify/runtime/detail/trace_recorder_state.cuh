// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The member functions of trace_recorder. nvcc compiles them in each program, libramify_runtime
/// has them for the CPU executor.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/detail/arguments.hpp>
#include <ramify/runtime/error.hpp>
#include <ramify/runtime/grid_trace.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/stream.cuh>
#include <ramify/runtime/trace_recorder.cuh>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#if !RAMIFY_ON_CUDA
#include <ramify/cpu/executor.hpp>
#endif

#if RAMIFY_TRACE
namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// A kernel's name, copied from device memory.
struct kernel_name {
  static constexpr int capacity = 64;
  char text[capacity];
};

/// Copies names, which are strings in device code that the host cannot read. One thread copies one
/// name.
template <class Name>
__global__ void copy_kernel_names(const char* const* names, unsigned count, Name* copies) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  int c = 0;
  for (; c < Name::capacity - 1 && names[i][c] != '\0'; ++c) copies[i].text[c] = names[i][c];
  copies[i].text[c] = '\0';
}

struct trace_recorder::state {
  state(launch_trace& into, cudaStream_t of)
      : trace(into), stream(of), capacity(static_cast<unsigned>(into.capacity)) {
    buffer = device_buffer<std::byte>(lay_out(nullptr), stream);  // lay_out() only measures here
    lay_out(buffer.data());
    by_host.capacity = capacity;
    by_host.running = image.running + capacity;
    clear(capacity, capacity);
  }

  /// Places all arrays in one allocation at `base`. Returns its size in bytes.
  std::size_t lay_out(void* base) {
    memory_layout layout(base);
    memory = layout.take<trace_memory>(1);
    image.capacity = capacity;
    image.by_kernels = layout.take<launched_grid>(capacity);
    image.running = layout.take<running_grid>(2 * std::size_t{capacity});
    return layout.size();
  }

  /// Clears the first `by_kernels` records of grids that kernels launched, and the first
  /// `of_host` records of grids that the host launched.
  void clear(std::size_t by_kernels, std::size_t of_host) {
    const auto zero = [&](running_grid* grids, std::size_t count) {
      check(cudaMemsetAsync(grids, 0, count * sizeof(running_grid), stream), "clearing a trace");
    };
    zero(image.running, by_kernels);
    zero(by_host.running, of_host);
    by_host.grids.clear();
    by_host.lost = 0;
    image.launches = 0;
    check(cudaMemcpyAsync(memory, &image, sizeof image, cudaMemcpyHostToDevice, stream),
          "initializing a trace");
  }

  void read() {
    image = read_back(memory, stream, "waiting for a traced run");
    const std::size_t launches = std::min<std::size_t>(image.launches, capacity);
    trace.lost += by_host.lost + (image.launches - launches);
    // The grids that kernels launched come first, then those of the host.
    std::vector<launched_grid> launched = copied(image.by_kernels, launches);
    launched.insert(launched.end(), by_host.grids.begin(), by_host.grids.end());
    std::vector<running_grid> ran = copied(image.running, launches);
    const std::vector<running_grid> more = copied(by_host.running, by_host.grids.size());
    ran.insert(ran.end(), more.begin(), more.end());
    find_names(ran);
    append(launched, ran, launches);
    clear(launches, more.size());
  }

  /// Returns a copy of an array in device memory.
  template <class T>
  std::vector<T> copied(const T* from, std::size_t count) {
    std::vector<T> to(count);
    if (count == 0) return to;
    check(cudaMemcpyAsync(to.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost, stream),
          "reading a trace");
    check(cudaStreamSynchronize(stream), "reading a trace");
    return to;
  }

  /// Reads the kernel names that are not in `names` yet.
  void find_names(const std::vector<running_grid>& ran) {
    std::vector<const char*> unknown;
    for (const running_grid& g : ran) {
      if (g.runs > 0 && names.try_emplace(g.kernel).second) unknown.push_back(g.kernel);
    }
    if (unknown.empty()) return;
    const device_buffer<const char*> which(unknown.size(), stream);
    const device_buffer<kernel_name> copies(unknown.size(), stream);
    check(cudaMemcpyAsync(which.data(), unknown.data(), unknown.size() * sizeof unknown[0],
                          cudaMemcpyHostToDevice, stream),
          "reading the names of kernels");
    constexpr unsigned threads = 32;
    const auto count = static_cast<unsigned>(unknown.size());
    check(launch(copy_kernel_names<kernel_name>, {(count - 1) / threads + 1, threads}, stream,
                 which.data(), count, copies.data())
              .code(),
          "reading the names of kernels");
    const std::vector<kernel_name> found = copied(copies.data(), unknown.size());
    for (std::size_t i = 0; i < found.size(); ++i) names[unknown[i]] = found[i].text;
  }

  /// Appends the grids that ran to the trace. Kernels launched the first `by_kernels` of
  /// `launched` and `ran`; the host launched the others.
  void append(const std::vector<launched_grid>& launched, const std::vector<running_grid>& ran,
              std::size_t by_kernels) {
    // 1. Sort by begin; at the same clock tick, parents come before children.
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < ran.size(); ++i) {
      if (ran[i].runs > 0) order.push_back(i);
    }
    const auto begin = [&](std::size_t i) { return ~ran[i].not_before; };  // see running_grid
    std::ranges::sort(order, {},
                      [&](std::size_t i) { return std::tuple(begin(i), launched[i].depth, i); });
    if (order.empty()) return;
    const std::size_t first = trace.grids.size();
    if (first == 0 || begin(order[0]) < trace.origin) move_origin(begin(order[0]));
    // 2. Append, with ids replaced by indices into the trace.
    std::vector<std::size_t> index_of(ran.size(), traced_grid::no_grid);
    for (std::size_t i = 0; i < order.size(); ++i) index_of[order[i]] = first + i;
    const auto index_of_id = [&](unsigned id) {
      if (id == trace_memory::no_grid) return traced_grid::no_grid;
      return index_of[id < capacity ? id : by_kernels + (id - capacity)];
    };
    for (const std::size_t i : order) {
      trace.grids.push_back(to_traced_grid(launched[i], ran[i]));
      trace.grids.back().parent = index_of_id(launched[i].parent);
    }
    // 3. Nested completion: a grid is complete after all its children. The loop goes backwards,
    //    because children come after their parents.
    for (std::size_t i = trace.grids.size(); i-- > first;) {
      const traced_grid& child = trace.grids[i];
      if (child.parent == traced_grid::no_grid) continue;
      auto& parent = trace.grids[child.parent];
      parent.complete = std::max(parent.complete, child.complete);
    }
    // 4. Merge. Recorders of nested runs, or of runs in several streams, append to one trace, so
    //    a later read may find earlier grids.
    if (first > 0 && trace.grids[first].begin < trace.grids[first - 1].begin) {
      merge_from(first);
    }
  }

  /// Returns the record of a grid from its two parts. The parent is not set.
  traced_grid to_traced_grid(const launched_grid& launched, const running_grid& ran) {
    const auto array = [](const uint3& v) { return std::array<std::uint32_t, 3>{v.x, v.y, v.z}; };
    traced_grid grid;
    grid.kernel = names[ran.kernel];
    grid.depth = launched.depth;
    grid.blocks = array(launched.facts.grid);
    grid.threads = array(launched.facts.block);
    grid.dynamic_shared = launched.facts.dynamic_shared;
    grid.stream = launched.stream;
    grid.parent_block = launched.parent_block;
    grid.begin = ~ran.not_before - trace.origin;
    grid.launched = grid.begin;
    if (launched.stream != launch_stream::host) grid.launched = launched.launched - trace.origin;
    grid.end = ran.end - trace.origin;
    grid.complete = grid.end;
    grid.runs = ran.runs;
    return grid;
  }

  /// Makes all times relative to `origin`.
  void move_origin(std::uint64_t origin) {
    const std::uint64_t shift = trace.origin - origin;
    for (traced_grid& g : trace.grids) {
      for (std::uint64_t* time : {&g.launched, &g.begin, &g.end, &g.complete}) *time += shift;
    }
    trace.origin = origin;
  }

  /// Merges the grids from index `first` on into the earlier ones, by begin. The sort is stable,
  /// so that a parent stays before its child at the same clock tick.
  void merge_from(std::size_t first) {
    std::vector<traced_grid>& grids = trace.grids;
    const auto begin = [](const traced_grid& g) { return g.begin; };
    const auto later = std::ranges::upper_bound(
        grids.begin(), grids.begin() + std::ptrdiff_t(first), grids[first].begin, {}, begin);
    const auto from = static_cast<std::size_t>(later - grids.begin());
    std::vector<std::size_t> order(grids.size() - from);
    std::iota(order.begin(), order.end(), from);
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return grids[i].begin; });
    std::vector<std::size_t> index_of(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) index_of[order[i] - from] = from + i;
    std::vector<traced_grid> ordered;
    ordered.reserve(order.size());
    for (const std::size_t i : order) {
      traced_grid& grid = ordered.emplace_back(std::move(grids[i]));
      const bool moves = grid.parent != traced_grid::no_grid && grid.parent >= from;
      if (moves) grid.parent = index_of[grid.parent - from];
    }
    std::ranges::move(ordered, grids.begin() + std::ptrdiff_t(from));
  }

  launch_trace& trace;
  cudaStream_t stream;
  unsigned capacity;
  device_buffer<std::byte> buffer;
  trace_memory* memory = nullptr;
  trace_memory image{};  // the host's copy of *memory
  host_launches by_host;
  std::map<const char*, std::string> names;
};

RAMIFY_INLINE_ON_CUDA trace_recorder::trace_recorder(launch_trace* into, cudaStream_t stream) {
  if (into == nullptr) return;
  constexpr std::size_t max_capacity = std::size_t{1} << 24;
  check_field(into->capacity >= 1 && into->capacity <= max_capacity, "launch_trace.capacity",
              into->capacity, "in [1, 2^24]");
  constexpr backend here = RAMIFY_ON_CUDA ? backend::cuda : backend::cpu;
#if RAMIFY_ON_CUDA
  constexpr bool steps = false;
#else
  const bool steps = cpu::current_executor_config().order != cpu::schedule::parallel;
#endif
  if (!into->grids.empty() && (into->ran_on != here || into->counts_steps != steps)) {
    throw std::invalid_argument(
        "launch_trace.grids has grids with times of another clock: use a new trace");
  }
  if (is_being_captured(stream)) throw unavailable("a trace cannot begin in a captured stream");
  into->ran_on = here;
  into->counts_steps = steps;
  state_ = std::make_unique<state>(*into, stream);
}

RAMIFY_INLINE_ON_CUDA trace_recorder::trace_recorder(trace_recorder&&) noexcept = default;
RAMIFY_INLINE_ON_CUDA trace_recorder& trace_recorder::operator=(trace_recorder&&) noexcept =
    default;
RAMIFY_INLINE_ON_CUDA trace_recorder::~trace_recorder() = default;

RAMIFY_INLINE_ON_CUDA trace_ticket trace_recorder::ticket() const {
  return state_ == nullptr ? trace_ticket() : trace_ticket(state_->memory, &state_->by_host);
}

RAMIFY_INLINE_ON_CUDA void trace_recorder::read() {
  if (state_ != nullptr) state_->read();
}

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
#endif
