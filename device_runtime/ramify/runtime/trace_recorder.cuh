// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// trace_recorder: the host's side of a trace, from its memory to the launch_trace that comes of it.
///
///     launch_trace trace;
///     trace_recorder recorder(&trace, stream);
///     check(launch(kernel, {1, 32}, stream, recorder.ticket()).code(), "launching");
///     recorder.read();  // waits

#include <algorithm>
#include <memory>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/error.hpp>
#include <ramify/runtime/grid_trace.cuh>
#include <ramify/runtime/launch.cuh>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#if !RAMIFY_ON_CUDA
#include <ramify/cpu/executor.hpp>
#endif

namespace ramify::inline RAMIFY_BUILD {

/// A kernel's name, out of the device.
struct kernel_name {
  static constexpr int capacity = 64;
  char text[capacity];
};

/// Names are strings in device code, where the host cannot read them. One thread a grid.
template <class Name>
__global__ void copy_kernel_names(const running_grid* grids, unsigned count, Name* names) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count || grids[i].turns == 0) return;
  const char* name = grids[i].kernel;
  int c = 0;
  for (; c < Name::capacity - 1 && name[c] != '\0'; ++c) names[i].text[c] = name[c];
  names[i].text[c] = '\0';
}

#if RAMIFY_TRACE

/// Records what runs in one stream. Without a trace to write to, nothing. Movable; moved-from it may
/// only be destroyed. Must outlive the grids that it records.
class trace_recorder {
 public:
  /// Takes device memory for `into->capacity` grids and puts its clearing into `stream`.
  /// \throws std::invalid_argument if the capacity is not in [1, 2^24]; cuda_error
  trace_recorder(launch_trace* into, cudaStream_t stream) {
    if (into == nullptr) return;
    if (into->capacity == 0 || into->capacity > most_grids) {
      throw std::invalid_argument("launch_trace.capacity is " + std::to_string(into->capacity) +
                                  "; it must be in [1, 2^24]");
    }
    into->ran_on = RAMIFY_ON_CUDA ? backend::cuda : backend::cpu;
#if !RAMIFY_ON_CUDA
    into->counts_steps = cpu::current_executor_config().order != cpu::schedule::parallel;
#endif
    state_ = std::make_unique<state>(*into, stream);
  }

  /// For the arguments of kernels that the host launches.
  [[nodiscard]] trace_ticket ticket() const {
    return state_ == nullptr ? trace_ticket() : trace_ticket(state_->memory, &state_->by_host);
  }

  /// Waits for the stream; then the trace has all grids that ran. Again and again if need be: a trace
  /// may have one recorder after another, but not two at a time. \throws cuda_error
  void read() {
    if (state_ != nullptr) state_->read();
  }

 private:
  static constexpr std::size_t most_grids = std::size_t{1} << 24;

  struct state {
    state(launch_trace& into, cudaStream_t stream)
        : trace(into),
          first(into.grids.size()),
          lost_before(into.lost),
          stream(stream),
          capacity(static_cast<unsigned>(into.capacity)) {
      buffer = device_buffer<std::byte>(lay_out(nullptr), stream);
      lay_out(buffer.data());
      by_host.capacity = capacity;
      by_host.running = image.running + capacity;
      check(cudaMemsetAsync(image.running, 0, 2 * std::size_t{capacity} * sizeof(running_grid),
                            stream),
            "clearing a trace");
      check(cudaMemcpyAsync(memory, &image, sizeof image, cudaMemcpyHostToDevice, stream),
            "beginning a trace");
    }

    /// Places all arrays in one piece of memory; its size.
    std::size_t lay_out(void* base) {
      memory_layout layout(base);
      memory = layout.take<trace_memory>(1);
      image.capacity = capacity;
      image.by_kernels = layout.take<launched_grid>(capacity);
      image.running = layout.take<running_grid>(2 * std::size_t{capacity});
      return layout.size();
    }

    void read() {
      check(cudaMemcpyAsync(&image, memory, sizeof image, cudaMemcpyDeviceToHost, stream),
            "reading a trace");
      check(cudaStreamSynchronize(stream), "waiting for a traced run");
      const std::size_t launches = std::min<std::size_t>(image.launches, capacity);
      trace.lost = lost_before + by_host.lost + (image.launches - launches);

      // 1. What was launched, and what ran of it, by kernels and then by the host.
      std::vector<launched_grid> launched = copied(image.by_kernels, launches);
      launched.insert(launched.end(), by_host.grids.begin(), by_host.grids.end());
      std::vector<running_grid> ran = copied(image.running, launches);
      std::vector<kernel_name> names = names_of(image.running, launches);
      const auto append = [](auto& to, const auto& more) {
        to.insert(to.end(), more.begin(), more.end());
      };
      append(ran, copied(image.running + capacity, by_host.grids.size()));
      append(names, names_of(image.running + capacity, by_host.grids.size()));
      // 2. As the trace tells it.
      tell(launched, ran, names);
    }

    /// What lies in device memory, when it is there.
    template <class T>
    std::vector<T> copied(const T* from, std::size_t count) {
      std::vector<T> to(count);
      if (count == 0) return to;
      check(cudaMemcpyAsync(to.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost, stream),
            "reading a trace");
      check(cudaStreamSynchronize(stream), "reading a trace");
      return to;
    }

    std::vector<kernel_name> names_of(const running_grid* grids, std::size_t count) {
      if (count == 0) return {};
      const device_buffer<kernel_name> names(count, stream);
      constexpr unsigned threads = 128;
      const auto all = static_cast<unsigned>(count);
      check(launch(copy_kernel_names<kernel_name>, {(all - 1) / threads + 1, threads}, stream,
                   grids, all, names.data())
                .code(),
            "reading the names of kernels");
      return copied(names.data(), count);
    }

    void tell(const std::vector<launched_grid>& launched, const std::vector<running_grid>& ran,
              const std::vector<kernel_name>& names) {
      // 1. In the order in which they began; at the same tick, parents before children.
      std::vector<std::size_t> order;
      for (std::size_t i = 0; i < ran.size(); ++i) {
        if (ran[i].turns > 0) order.push_back(i);
      }
      const auto begin = [&](std::size_t i) { return ~ran[i].not_before; };
      std::ranges::sort(order, {},
                        [&](std::size_t i) { return std::tuple(begin(i), launched[i].depth, i); });
      if (first == 0 && !order.empty()) trace.origin = begin(order[0]);
      // 2. Places here become places in the trace.
      std::vector<std::size_t> index_of(ran.size(), traced_grid::no_grid);
      for (std::size_t i = 0; i < order.size(); ++i) index_of[order[i]] = first + i;
      const auto array = [](const uint3& v) { return std::array<std::uint32_t, 3>{v.x, v.y, v.z}; };
      const std::size_t by_kernels = ran.size() - by_host.grids.size();
      trace.grids.resize(first);
      for (const std::size_t i : order) {
        const launched_grid& l = launched[i];
        traced_grid grid;
        if (l.parent < by_kernels) {
          grid.parent = index_of[l.parent];
        } else if (l.parent != trace_memory::no_grid) {
          grid.parent = index_of[by_kernels + (l.parent - capacity)];
        }
        grid.kernel = names[i].text;
        grid.depth = l.depth;
        grid.blocks = array(l.grid);
        grid.threads = array(l.block);
        grid.dynamic_shared = l.dynamic_shared;
        grid.stream = l.stream;
        grid.parent_block = l.parent_block;
        grid.begin = begin(i) - trace.origin;
        grid.launched = l.stream == launch_stream::host ? grid.begin : l.launched - trace.origin;
        grid.end = ran[i].end - trace.origin;
        grid.complete = grid.end;
        grid.turns = ran[i].turns;
        trace.grids.push_back(std::move(grid));
      }
      // 3. Nested completion: children stand behind their parents.
      for (std::size_t i = trace.grids.size(); i-- > first;) {
        const traced_grid& child = trace.grids[i];
        if (child.parent == traced_grid::no_grid) continue;
        auto& parent = trace.grids[child.parent];
        parent.complete = std::max(parent.complete, child.complete);
      }
    }

    launch_trace& trace;
    std::size_t first;  // of the trace's grids that are this recorder's
    std::uint64_t lost_before;
    cudaStream_t stream;
    unsigned capacity;
    device_buffer<std::byte> buffer;
    trace_memory* memory = nullptr;
    trace_memory image{};  // what is there, as it was seen last
    host_launches by_host;
  };

  std::unique_ptr<state> state_;
};

#else

/// Of a build without traces: refuses to record one.
class trace_recorder {
 public:
  /// \throws unavailable if there is a trace to write to
  trace_recorder(const launch_trace* into, cudaStream_t) {
    if (into == nullptr) return;
    throw unavailable("a trace needs kernels that are compiled with -DRAMIFY_TRACE=1");
  }
  [[nodiscard]] trace_ticket ticket() const { return {}; }
  void read() {}
};

#endif

}  // namespace ramify::inline RAMIFY_BUILD
