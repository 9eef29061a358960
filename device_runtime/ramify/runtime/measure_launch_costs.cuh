// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Measures what launches cost on the current device.
///
/// Each cost is the slope between a short row of launches and a long one, by the host's clock, so that
/// what comes once for both drops out; of each row, the least of a few times, for work of others at the
/// same time only adds to them. Takes well under a second, and
/// memory of the driver's: the launch pool, if no kernel that can launch has run before.

#include <ramify/runtime/build.hpp>

#if RAMIFY_ON_CUDA && RAMIFY_DEVICE_LAUNCH

#include <algorithm>
#include <chrono>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/captured_graph.cuh>
#include <ramify/runtime/graph_loop.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/launch_costs.hpp>
#include <ramify/runtime/limits.cuh>
#include <ramify/runtime/slots.cuh>
#include <ramify/runtime/stream.cuh>
#include <string>

namespace ramify::inline RAMIFY_BUILD {

// ---- what is launched. One thread each; templates, as nvcc takes no inline kernels --------------

/// What launches are measured with: on the device.
struct launch_trial {
  run_status status;
  unsigned has_slots;   ///< 1 if there were slots for the longest row
  unsigned turns_left;  ///< of a loop
};

enum class trial_link { fire_and_forget, named, tail };

template <class Trial>
__global__ void trial_nothing(Trial*) {}

/// Takes all slots that a row of launches from the device can need.
template <class Trial>
__global__ void trial_take_slots(Trial* trial, launch_slots slots, unsigned count) {
  trial->has_slots = slots.acquire(trial->status, count) ? 1 : 0;
}

/// Gives them back, if there were any.
template <class Trial>
__global__ void trial_give_slots_back(Trial* trial, launch_slots slots, unsigned count) {
  if (trial->has_slots != 0) slots.release(count);
}

/// Launches grids one after another, into one stream that does not make them wait.
template <class Trial>
__global__ void trial_row(Trial* trial, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    const auto launched = launch(trial_nothing<Trial>, {1, 1}, fire_and_forget(), trial);
    if (!launched) trial->status.record_error(launched.code(), __func__, 0);
  }
}

/// Launches itself until none is left. Join: nobody needs one; the host waits for the last.
template <class Trial>
__global__ void trial_chain(Trial* trial, unsigned left, trial_link by) {
  if (left == 0) return;
  const device_stream aside(by == trial_link::named ? child_streams::named
                                                    : child_streams::fire_and_forget);
  const cudaStream_t stream = by == trial_link::tail ? tail_launch() : aside.get();
  const auto launched = launch(trial_chain<Trial>, {1, 1}, stream, trial, left - 1, by);
  if (!launched) trial->status.record_error(launched.code(), __func__, 0);
}

template <class Trial>
__global__ void trial_set_turns(Trial* trial, unsigned turns) {
  trial->turns_left = turns;
}

template <class Trial>
__global__ void trial_turn(Trial* trial, loop_condition loop) {
  loop.again(--trial->turns_left > 0);
}

/// Slots for launches of kernels in a stream, taken and given back there.
class trial_slots {
 public:
  trial_slots(launch_trial* trial, std::size_t pending_launch_limit, unsigned count,
              cudaStream_t stream)
      : trial_(trial), lease_(pending_launch_limit), count_(count), stream_(stream) {
    check(
        launch(trial_take_slots<launch_trial>, {1, 1}, stream, trial, lease_.slots(), count).code(),
        "taking launch slots");
  }
  ~trial_slots() {
    // Only a broken device fails here, and the next call says so.
    static_cast<void>(
        launch(trial_give_slots_back<launch_trial>, {1, 1}, stream_, trial_, lease_.slots(), count_)
            .code());
  }
  trial_slots(const trial_slots&) = delete;
  trial_slots& operator=(const trial_slots&) = delete;

 private:
  launch_trial* trial_;
  slot_lease lease_;
  unsigned count_;
  cudaStream_t stream_;
};

// ---- measuring ----------------------------------------------------------------------------------

/// The least of a few times that are measured one after another.
template <class Measure>
[[nodiscard]] double least_time(Measure measure) {
  double least = measure();
  for (int i = 0; i < 6; ++i) least = std::min(least, measure());
  return least;
}

/// At least a nanosecond: next to nothing, and on a busy machine a slope may come out as less.
inline constexpr double least_cost = 0.001;

/// Microseconds that `work` takes, by the host's clock.
template <class Work>
[[nodiscard]] double host_microseconds(Work work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin)
      .count();
}

/// Measures on the current device. For the whole device: work of others at the same time makes it
/// seem slower. Waits for its own work only, in a stream of its own.
/// \throws unavailable if the launch slots do not suffice; cuda_error, device_launch_error
inline launch_costs measure_launch_costs() {
  constexpr unsigned short_row = 8;
  constexpr unsigned long_row = 40;
  constexpr unsigned slots_needed = long_row + 8;  // a tail launch may need two

  const relaxed_capture_scope here;  // all of this concerns streams of its own
  const host_stream own;
  const cudaStream_t stream = own.get();
  const device_buffer<launch_trial> memory(1, stream);
  launch_trial* const trial = memory.data();
  check(cudaMemsetAsync(trial, 0, sizeof(launch_trial), stream), "preparing to measure launches");

  const auto launched = [](const launch_status& status) {
    check(status.code(), "launching what is measured");
  };
  launch_trial seen{};
  const auto look = [&] {
    check(cudaMemcpyAsync(&seen, trial, sizeof seen, cudaMemcpyDeviceToHost, stream),
          "reading what was measured");
    own.synchronize();
  };
  // What a step adds, if row(n) puts n of them into the stream.
  const auto cost_in = [&](auto row) {
    const auto time_of = [&](unsigned steps) {
      return host_microseconds([&] {
        row(steps);
        own.synchronize();
      });
    };
    static_cast<void>(time_of(short_row));  // what is done for the first time takes longer
    static_cast<void>(time_of(long_row));
    const double of_long = least_time([&] { return time_of(long_row); });
    const double of_short = least_time([&] { return time_of(short_row); });
    return std::max((of_long - of_short) / (long_row - short_row), least_cost);
  };

  launch_costs costs;
  // 1. By the host.
  costs.host_launch = cost_in([&](unsigned steps) {
    for (unsigned i = 0; i < steps; ++i) {
      launched(launch(trial_nothing<launch_trial>, {1, 1}, stream, trial));
    }
  });
  unsigned word = 0;
  costs.host_round_trip = cost_in([&](unsigned steps) {
    for (unsigned i = 0; i < steps; ++i) {
      launched(launch(trial_nothing<launch_trial>, {1, 1}, stream, trial));
      check(cudaMemcpyAsync(&word, &trial->turns_left, sizeof word, cudaMemcpyDeviceToHost, stream),
            "reading a word");
      own.synchronize();
    }
  });
  // 2. By kernels, with slots of the quota for the longest row, and for as long as it takes.
  const std::size_t limit = *current_launch_limits().pending_launches;
  const trial_slots slots(trial, limit, slots_needed, stream);
  look();
  if (seen.has_slots == 0) {
    throw unavailable("measuring launches needs " + std::to_string(slots_needed) +
                      " free launch slots, of a pending-launch limit of " + std::to_string(limit));
  }
  const auto cost_of_chain = [&](trial_link by) {
    return cost_in([&, by](unsigned steps) {
      launched(launch(trial_chain<launch_trial>, {1, 1}, stream, trial, steps, by));
    });
  };
  costs.device_launch = cost_in([&](unsigned steps) {
    launched(launch(trial_row<launch_trial>, {1, 1}, stream, trial, steps));
  });
  costs.nested_level = cost_of_chain(trial_link::fire_and_forget);
  costs.named_level = cost_of_chain(trial_link::named);
  costs.tail_launch = cost_of_chain(trial_link::tail);
  look();
  if (seen.status.error != 0) {
    throw device_launch_error(
        seen.status.error, seen.status.error_kernel, 0,
        std::string("a launch in kernel ") + seen.status.error_kernel +
            " failed: " + cudaGetErrorString(static_cast<cudaError_t>(seen.status.error)));
  }
  // 3. By graphs.
  const auto graph_of = [&](unsigned grids) {
    const auto put = [&] {
      for (unsigned i = 0; i < grids; ++i) {
        launched(launch(trial_nothing<launch_trial>, {1, 1}, stream, trial));
      }
    };
    return captured_graph(stream, put, cudaStreamCaptureModeRelaxed);
  };
  const captured_graph few = graph_of(short_row);
  const captured_graph many = graph_of(long_row);
  costs.graph_grid =
      cost_in([&](unsigned steps) { (steps == short_row ? few : many).launch(stream); });
  if (!graph_loop_obstacle().empty()) return costs;
  const auto make_loop = [&] {
    return graph_loop([&](cudaStream_t into, const loop_condition& condition) {
      launched(launch(trial_turn<launch_trial>, {1, 1}, into, trial, condition));
    });
  };
  try {
    const graph_loop loop = make_loop();
    costs.graph_turn = cost_in([&](unsigned steps) {
      launched(launch(trial_set_turns<launch_trial>, {1, 1}, stream, trial, steps));
      loop.launch(stream);
    });
    costs.graph_loop =
        least_time([&] { return host_microseconds([&] { const graph_loop made = make_loop(); }); });
  } catch (const unavailable&) {  // this driver has none
    costs.graph_turn = 0;
    costs.graph_loop = 0;
  }
  return costs;
}

}  // namespace ramify::inline RAMIFY_BUILD

#endif
