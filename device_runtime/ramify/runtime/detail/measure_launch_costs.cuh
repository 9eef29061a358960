// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Measures the launch costs of the current device.
///
/// Each cost is the slope between a short and a long sequence of launches, by the host clock, so
/// that constant costs cancel. Each time is the minimum of several runs, because other work can
/// only add to it. All measurements together take well under a second. They allocate driver memory
/// for the launch pool, if no kernel that can launch has run before.

#include <ramify/runtime/build.hpp>

#if RAMIFY_ON_CUDA && RAMIFY_DEVICE_LAUNCH

#include <algorithm>
#include <optional>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/captured_graph.cuh>
#include <ramify/runtime/detail/host_clock.hpp>
#include <ramify/runtime/graph_loop.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/launch_costs.hpp>
#include <ramify/runtime/limits.cuh>
#include <ramify/runtime/slots.cuh>
#include <ramify/runtime/stream.cuh>
#include <string>

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

// ---- the kernels: one thread each, templates because nvcc accepts no inline kernels -------------

/// The device memory of the measurements.
struct launch_trial {
  run_status status;
  unsigned slots;            ///< launch slots that the measurements hold
  unsigned iterations_left;  ///< of a graph loop
};

/// The stream into which a chain of grids launches its next grid.
enum class trial_stream { fire_and_forget, named, tail };

template <class Trial>
__global__ void trial_nothing(Trial*) {}

/// Acquires all slots that a sequence of launches from the device needs.
template <class Trial>
__global__ void trial_acquire_slots(Trial* trial, launch_slots slots, unsigned count) {
  trial->slots = slots.acquire(trial->status, count) ? count : 0;
}

/// Releases the slots that trial_acquire_slots has acquired, if any.
template <class Trial>
__global__ void trial_release_slots(Trial* trial, launch_slots slots) {
  slots.release(trial->slots);
}

/// Launches `count` independent grids.
template <class Trial>
__global__ void trial_sequence(Trial* trial, unsigned count) {
  RAMIFY_NO_UNROLL
  for (unsigned i = 0; i < count; ++i) {
    const auto launched = launch(trial_nothing<Trial>, {1, 1}, fire_and_forget(), trial);
    if (!launched) trial->status.record_error(launched.code(), __func__, 0);
  }
}

/// Launches a chain of `left` more grids, each of which launches the next one. Join: none; the host
/// waits for the last grid.
template <class Trial>
__global__ void trial_chain(Trial* trial, unsigned left, trial_stream into) {
  if (left == 0) return;
  const device_stream children(into == trial_stream::named ? child_streams::named
                                                           : child_streams::fire_and_forget);
  const cudaStream_t stream = into == trial_stream::tail ? tail_launch() : children.get();
  const auto launched = launch(trial_chain<Trial>, {1, 1}, stream, trial, left - 1, into);
  if (!launched) trial->status.record_error(launched.code(), __func__, 0);
}

template <class Trial>
__global__ void trial_set_iterations(Trial* trial, unsigned iterations) {
  trial->iterations_left = iterations;
}

template <class Trial>
__global__ void trial_iteration(Trial* trial, loop_condition loop) {
  loop.again(--trial->iterations_left > 0);
}

// ---- the measurements ---------------------------------------------------------------------------

// One function puts every sequence into the stream: with a function object for each, nvcc would
// take a second to compile the measurements.

/// The lower bound of a cost, one nanosecond: on a busy machine a slope may be negative.
inline constexpr double minimum_cost = 0.001;

/// What a measurement repeats.
enum class trial_kind {
  host_launch,
  host_round_trip,
  device_launch,
  nested_level,
  named_level,
  tail_launch,
  graph_grid,
  graph_iteration,
};

/// The measurements of measure_launch_costs(), in a stream of their own. Call each once, in this
/// order.
class launch_cost_trials {
 public:
  launch_cost_trials() {
    check(cudaMemsetAsync(trial_, 0, sizeof(launch_trial), stream_),
          "preparing to measure launches");
  }
  ~launch_cost_trials() {
    if (lease_.slots().in_use == nullptr) return;
    // This fails only if the device has failed, and then the next call reports it; or on the CPU
    // executor for lack of memory.
    try {
      static_cast<void>(
          launch(trial_release_slots<launch_trial>, {1, 1}, stream_, trial_, lease_.slots())
              .code());
    } catch (...) {
    }
  }
  launch_cost_trials(const launch_cost_trials&) = delete;
  launch_cost_trials& operator=(const launch_cost_trials&) = delete;

  /// 1. Measures launches by the host.
  void measure_host(launch_costs& costs) {
    costs.host_launch = cost_of(trial_kind::host_launch);
    costs.host_round_trip = cost_of(trial_kind::host_round_trip);
  }

  /// 2. Measures launches by kernels. It acquires the slots of the longest sequence once.
  /// \throws unavailable if they are not free; device_launch_error if a launch failed
  void measure_device(launch_costs& costs) {
    const std::size_t limit = *current_launch_limits().pending_launches;
    lease_ = slot_lease(limit);
    check_launch(launch(trial_acquire_slots<launch_trial>, {1, 1}, stream_, trial_, lease_.slots(),
                        slots_needed));
    if (read_trial().slots == 0) {
      throw unavailable("measuring launches needs " + std::to_string(slots_needed) +
                        " free launch slots, of a pending-launch limit of " +
                        std::to_string(limit));
    }
    costs.device_launch = cost_of(trial_kind::device_launch);
    costs.nested_level = cost_of(trial_kind::nested_level);
    costs.named_level = cost_of(trial_kind::named_level);
    costs.tail_launch = cost_of(trial_kind::tail_launch);
    read_trial().status.check_launches();
  }

  /// 3. Measures grids in a captured graph.
  void measure_graph(launch_costs& costs) {
    few_grids_ = graph_of(short_sequence);
    many_grids_ = graph_of(long_sequence);
    costs.graph_grid = cost_of(trial_kind::graph_grid);
  }

  /// 4. Measures graph loops. If the driver does not support them, their costs stay 0.
  void measure_graph_loop(launch_costs& costs) {
    if (!graph_loop_obstacle().empty()) return;
    try {
      loop_ = make_loop();
      costs.graph_iteration = cost_of(trial_kind::graph_iteration);
      costs.graph_loop = time_of_making_a_loop();
    } catch (const unavailable&) {  // the driver does not support loops after all
      costs.graph_iteration = 0;
      costs.graph_loop = 0;
    }
  }

 private:
  static constexpr unsigned short_sequence = 8;
  static constexpr unsigned long_sequence = 40;
  static constexpr unsigned slots_needed = long_sequence + 8;  // a tail launch may need two

  static void check_launch(const launch_status& status) {
    check(status.code(), "launching a grid to measure");
  }

  void launch_nothing() {
    check_launch(launch(trial_nothing<launch_trial>, {1, 1}, stream_, trial_));
  }
  void launch_chain(unsigned steps, trial_stream into) {
    check_launch(launch(trial_chain<launch_trial>, {1, 1}, stream_, trial_, steps, into));
  }

  [[nodiscard]] launch_trial read_trial() {
    return read_back(trial_, stream_, "reading the state of the measurement");
  }

  [[nodiscard]] captured_graph graph_of(unsigned grids) {
    const auto put = [&] {
      for (unsigned i = 0; i < grids; ++i) launch_nothing();
    };
    return captured_graph(stream_, put, cudaStreamCaptureModeRelaxed);
  }
  [[nodiscard]] graph_loop make_loop() {
    return graph_loop([&](cudaStream_t into, const loop_condition& condition) {
      check_launch(launch(trial_iteration<launch_trial>, {1, 1}, into, trial_, condition));
    });
  }

  /// Puts a sequence into the stream.
  void put(trial_kind kind, unsigned count) {
    switch (kind) {
      case trial_kind::host_launch:
        for (unsigned i = 0; i < count; ++i) launch_nothing();
        break;
      case trial_kind::host_round_trip:
        for (unsigned i = 0; i < count; ++i) {
          launch_nothing();
          static_cast<void>(read_back(&trial_->iterations_left, stream_, "reading a value"));
        }
        break;
      case trial_kind::device_launch:
        check_launch(launch(trial_sequence<launch_trial>, {1, 1}, stream_, trial_, count));
        break;
      case trial_kind::nested_level: launch_chain(count, trial_stream::fire_and_forget); break;
      case trial_kind::named_level: launch_chain(count, trial_stream::named); break;
      case trial_kind::tail_launch: launch_chain(count, trial_stream::tail); break;
      case trial_kind::graph_grid:
        (count == short_sequence ? few_grids_ : many_grids_)->launch(stream_);
        break;
      case trial_kind::graph_iteration:
        check_launch(launch(trial_set_iterations<launch_trial>, {1, 1}, stream_, trial_, count));
        loop_->launch(stream_);
        break;
    }
  }

  /// Returns the microseconds that a sequence takes, by the host clock.
  [[nodiscard]] double time_of(trial_kind kind, unsigned count) {
    const double begin = host_seconds();
    put(kind, count);
    own_.synchronize();
    return (host_seconds() - begin) * 1e6;
  }
  /// Returns the microseconds that the host takes to make a loop: the minimum of seven times.
  [[nodiscard]] double time_of_making_a_loop() {
    double minimum = 0;
    for (int i = 0; i < 7; ++i) {
      const double begin = host_seconds();
      static_cast<void>(make_loop());
      const double time = (host_seconds() - begin) * 1e6;
      minimum = i == 0 ? time : std::min(minimum, time);
    }
    return minimum;
  }
  /// Returns the minimum of seven times, measured one after another.
  [[nodiscard]] double minimum_time(trial_kind kind, unsigned count) {
    double minimum = time_of(kind, count);
    for (int i = 0; i < 6; ++i) minimum = std::min(minimum, time_of(kind, count));
    return minimum;
  }

  /// Returns the cost of one repetition.
  [[nodiscard]] double cost_of(trial_kind kind) {
    static_cast<void>(time_of(kind, short_sequence));  // warm-up: first launches take longer
    static_cast<void>(time_of(kind, long_sequence));
    const double of_long = minimum_time(kind, long_sequence);
    const double of_short = minimum_time(kind, short_sequence);
    return std::max((of_long - of_short) / (long_sequence - short_sequence), minimum_cost);
  }

  relaxed_capture_scope nothing_captured_;  // these calls concern only streams created here
  host_stream own_;
  cudaStream_t stream_ = own_.get();
  device_buffer<launch_trial> memory_{1, stream_};
  launch_trial* trial_ = memory_.data();
  slot_lease lease_;
  std::optional<captured_graph> few_grids_;
  std::optional<captured_graph> many_grids_;
  std::optional<graph_loop> loop_;
};

/// Measures the launch costs of the current device.
///
/// It waits only for its own work, in its own stream. Other work on the device at the same time
/// increases the results.
/// \throws unavailable if too few launch slots are free; cuda_error, device_launch_error
inline launch_costs measure_launch_costs() {
  launch_costs costs;
  launch_cost_trials trials;
  trials.measure_host(costs);
  trials.measure_device(costs);
  trials.measure_graph(costs);
  trials.measure_graph_loop(costs);
  return costs;
}

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD

#endif
