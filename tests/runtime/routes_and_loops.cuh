// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Which route is taken, and the loop of a flat one.

#include <cstddef>
#include <optional>
#include <ramify/runtime/graph_loop.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/launch_costs.cuh>
#include <ramify/runtime/run_control.cuh>
#include <ramify/runtime/stream.cuh>
#include <stdexcept>
#include <string>

#include "cases.hpp"
#include "device_vectors.cuh"

namespace tests::inline RAMIFY_BUILD {

// ---- routes -------------------------------------------------------------------------------------

inline std::string route_reason(route wanted, std::size_t pending_launches) {
  const route_choice choice =
      choose_route(wanted, pending_launches, 3, {route::device, "preferred"});
  return std::string(to_string(choice.taken)) + ": " + choice.reason;
}

inline std::string planned_route(route wanted, std::size_t pending_launches,
                                 [[maybe_unused]] bool captured) {
  const host_stream stream;
  const route_plans plans{{.host_round_trips = 1000}, {.nested_levels = 1}, route::flat};
#if RAMIFY_ON_CUDA
  if (captured) {
    check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal), "capturing");
  }
#endif
  const route_choice choice = choose_route(wanted, pending_launches, 3, plans, stream.get());
#if RAMIFY_ON_CUDA
  if (captured) {
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(stream.get(), &graph), "capturing");
    check(cudaGraphDestroy(graph), "destroying a graph");
  }
#endif
  return std::string(to_string(choice.taken)) + ": " + choice.reason;
}

#if RAMIFY_ON_CUDA
inline launch_costs measure_and_keep_costs(const std::string& folder) {
  return measure_and_keep_launch_costs(folder, current_launch_costs_origin());
}
inline std::optional<launch_costs> kept_costs(const std::string& folder) {
  return load_launch_costs(folder, current_launch_costs_origin());
}
#else
inline constexpr launch_costs (*measure_and_keep_costs)(const std::string&) = nullptr;
inline constexpr std::optional<launch_costs> (*kept_costs)(const std::string&) = nullptr;
#endif

// ---- loops --------------------------------------------------------------------------------------

struct loop_counts {
  unsigned iterations;
  unsigned counted;
};

__global__ void begin_iteration(loop_counts* counts) { ++counts->iterations; }

__global__ void count_one(loop_counts* counts, unsigned n, loop_condition loop) {
  if (counts->counted < n) ++counts->counted;
  loop.again(counts->counted < n);
}

inline loop_seen run_loop(const loop_request& request) {
  const host_stream stream;
  const auto counts = zeros<loop_counts>(1);
  check(cudaStreamSynchronize(nullptr), "clearing the counts");
  const auto body = [&](cudaStream_t into, loop_condition condition) {
    check(launch(begin_iteration, {1, 1}, into, counts.data()).code(), "launching");
    check(launch(count_one, {1, 1}, into, counts.data(), request.n, condition).code(), "launching");
  };
  const auto look = [&] {
    loop_counts seen{};
    check(cudaMemcpyAsync(&seen, counts.data(), sizeof seen, cudaMemcpyDeviceToHost, stream.get()),
          "reading the counts");
    stream.synchronize();
    return seen;
  };
  loop_seen result;
  std::optional<graph_loop> loop =
      make_flat_loop(request.wanted, stream.get(), body, result.reason);
  result.in_graph = loop.has_value();
  for (unsigned i = 0; i < request.launches; ++i) {
    check(cudaMemsetAsync(&counts.data()->counted, 0, sizeof(unsigned), stream.get()), "clearing");
    if (loop) {
      loop->launch(stream.get());
    } else {
      do body(stream.get(), {});
      while (look().counted < request.n);
    }
  }
  loop.reset();  // while it may be under way
  const loop_counts seen = look();
  result.counted = seen.counted;
  result.iterations = seen.iterations;
  return result;
}

inline bool loop_after_bad_body() {
  std::string reason;
  try {
    (void)make_flat_loop(
        flat_loop::graph, nullptr,
        [](cudaStream_t, loop_condition) { throw std::length_error("the body's own"); }, reason);
    return false;
  } catch (const std::length_error&) {
  }
  return run_loop({.n = 5}).iterations == 5;
}

}  // namespace tests::inline RAMIFY_BUILD
