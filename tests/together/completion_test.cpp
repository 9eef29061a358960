// SPDX-License-Identifier: BSD-3-Clause
// environment::completion: work that enters the stream after an _async call sees its complete
// results before get().
//
// A slow kernel is in the stream first, so that the host is ahead of the device. Then the inputs of
// a call are copied into place, the call is made, and copies of its results, the snapshot, enter
// the stream. The snapshot must be right before get(). The negative control is completion::by_get
// without launch slots: then the snapshot is right only if kernels have nothing to launch.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <ramify/runtime/captured_graph.cuh>
#include <ramify/runtime/graph_loop.cuh>
#include <ramify/runtime/grid_trace.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/stream.cuh>
#include <stdexcept>

#include "exceptions.hpp"
#include "printing.hpp"
#include "slot_checks.cuh"
#include "stream_calls.cuh"

using tests::names;

namespace stream_completion {
namespace {

using contents = std::vector<std::vector<word>>;

/// Returns after `nanoseconds`, or, if `flags` is not null, as soon as flags->may_end is not 0.
__global__ void wait_in_stream(unsigned long long nanoseconds, slow_kernel_flags* flags) {
  const unsigned long long begin = ramify::detail::device_time();
  while (nanoseconds > 0 && ramify::detail::device_time() - begin < nanoseconds) {
    if (flags != nullptr && flags->may_end != 0) break;
  }
  if (flags != nullptr) flags->has_ended = 1;
}

void copy(const word_array& to, const word_array& from, cudaStream_t stream) {
  check(cudaMemcpyAsync(to.data(), from.data(), to.size() * sizeof(word), cudaMemcpyDeviceToDevice,
                        stream),
        "copying an array");
}

/// Returns whether arrays are equal, or their numbers of type float differ by the fraction
/// `tolerance` at most.
bool are_near(const contents& a, const contents& b, double tolerance) {
  if (tolerance == 0) return a == b;
  const auto is_near = [&](word x, word y) {
    float p = 0;
    float q = 0;
    std::memcpy(&p, &x, sizeof p);
    std::memcpy(&q, &y, sizeof q);
    return std::fabs(p - q) <= tolerance * (1 + std::fabs(q));
  };
  return std::ranges::equal(
      a, b, [&](const auto& x, const auto& y) { return std::ranges::equal(x, y, is_near); });
}

/// A call with its right results, memory for it, and a snapshot of its results.
class checked_call {
 public:
  explicit checked_call(stream_call call)
      : call_(std::move(call)), memory_(call_.scratch_bytes, nullptr) {
    for (const word_array* each : call_.outputs()) snapshot_.emplace_back(each->size(), nullptr);
    const host_stream own;
    const cudaStream_t stream = own.get();
    for (const int number : {0, 1}) {
      prepare(number, stream);
      static_cast<void>(
          start({.stream = stream, .memory = memory(), .completion = completion::by_get})());
      take_snapshot(stream);
      check(cudaStreamSynchronize(stream), "waiting for the results");
      expected_[number] = snapshot();
    }
    BOOST_TEST((call_.inputs.empty() || expected_[0] != expected_[1]));
  }

  [[nodiscard]] const stream_call& operator*() const { return call_; }
  [[nodiscard]] memory_ref memory() const { return memory_; }

  /// Puts the inputs of call `number` into place, and overwrites results, in the stream.
  void prepare(int number, cudaStream_t stream) const {
    for (const input_array& each : call_.inputs) copy(each.data, each.contents[number], stream);
    const auto clear = [&](const word_array& array) {
      check(cudaMemsetAsync(array.data(), 0xf1, array.size() * sizeof(word), stream),
            "overwriting results");
    };
    for (const word_array& each : call_.results) clear(each);
    for (const word_array& each : snapshot_) clear(each);
  }

  [[nodiscard]] any_run start(const environment& env) const { return call_.start(call_, env); }

  /// Copies the results in the order of the stream.
  void take_snapshot(cudaStream_t stream) const {
    const auto outputs = call_.outputs();
    for (std::size_t k = 0; k < outputs.size(); ++k) copy(snapshot_[k], *outputs[k], stream);
  }
  [[nodiscard]] bool snapshot_is_right(int number = 0) const {
    return are_near(snapshot(), expected_[number], call_.tolerance);
  }

 private:
  [[nodiscard]] contents snapshot() const {
    contents all;
    for (const word_array& each : snapshot_) all.push_back(tests::download(each));
    return all;
  }

  stream_call call_;
  device_buffer<std::byte> memory_;
  std::vector<word_array> snapshot_;
  std::array<contents, 2> expected_;
};

/// The calls of the table, which are made once.
struct all_calls {
  static inline std::unique_ptr<std::vector<checked_call>> calls;

  ~all_calls() { calls.reset(); }

  static const std::vector<checked_call>& get() {
    if (calls == nullptr) {
      std::vector<stream_call> table;
      for (const auto add :
           {add_sorts, add_traversals, add_trees, add_graphs, add_clouds, add_bodies, add_images}) {
        add(table);
      }
      calls = std::make_unique<std::vector<checked_call>>();
      for (stream_call& each : table) calls->emplace_back(std::move(each));
    }
    return *calls;
  }
};

/// Calls `use` with each call of the table and with each route, in a context that names them.
template <class Use>
void for_each_call_and_route(const Use& use) {
  for (const checked_call& call : all_calls::get()) {
    for (const route taken : all_choices<route>()) {
      if (taken == route::device && !device_launch_available) continue;
      BOOST_TEST_CONTEXT((*call).name << ", route " << to_string(taken)) { use(call, taken); }
    }
  }
}

/// Makes a call after a slow kernel, and checks the snapshot before get(). Returns the report.
run_report check_call(const checked_call& call, const environment& env) {
  const cudaStream_t stream = env.stream.as<cudaStream_t>();
  launch_slow_kernel(stream);
  call.prepare(0, stream);
  const any_run run = call.start(env);
  call.take_snapshot(stream);
  check(cudaStreamSynchronize(stream), "waiting for a snapshot");
  BOOST_TEST(call.snapshot_is_right());
  run_report report;
  BOOST_CHECK_NO_THROW(report = run());
  BOOST_CHECK_EXCEPTION(run(), std::logic_error, names("get() was called before"));
  return report;
}

/// Checks why a call waited, or that it did not. `obstacle` is a part of the reason; empty: the
/// stream must complete the call.
void check_reason(const checked_call& call, const run_report& report, const std::string& obstacle) {
  const std::string& reason = report.completion_reason;
  if (obstacle.empty()) {
    BOOST_TEST(reason == "");
  } else if ((*call).has_one_grid || (*call).needs_no_loop) {
    BOOST_TEST(reason == "");
  } else if (report.taken == route::flat && reason.empty()) {
    // The host launches all steps of some flat chains at once, whatever launches the iterations.
  } else {
    BOOST_TEST(reason.find(obstacle) != std::string::npos, "the reason is: " << reason);
  }
}

}  // namespace

void launch_slow_kernel(cudaStream_t stream, unsigned long long nanoseconds,
                        slow_kernel_flags* flags) {
  check(launch(wait_in_stream, {1, 1}, stream, nanoseconds, flags).code(),
        "launching wait_in_stream");
}

BOOST_TEST_GLOBAL_FIXTURE(all_calls);

BOOST_AUTO_TEST_SUITE(completion_in_streams)

BOOST_AUTO_TEST_CASE(results_are_complete_before_get) {
  const host_stream own;
  const cudaStream_t stream = own.get();
  const std::string obstacle = graph_loop_obstacle();
  for_each_call_and_route([&](const checked_call& call, route taken) {
    for (const bool has_memory : {true, false}) {
      if (!has_memory && (*call).requires_memory) continue;
      BOOST_TEST_CONTEXT((has_memory ? "with memory" : "with Ramify's pool")) {
        const run_report report =
            check_call(call, {.stream = stream,
                              .memory = has_memory ? call.memory() : memory_ref{},
                              .route = taken});
        check_reason(call, report, obstacle);
      }
    }
  });
}

BOOST_AUTO_TEST_CASE(a_call_with_flat_loop_host_is_complete_when_it_returns) {
  const host_stream own;
  const cudaStream_t stream = own.get();
  for_each_call_and_route([&](const checked_call& call, route taken) {
    const environment env{
        .stream = stream, .memory = call.memory(), .route = taken, .flat_loop = flat_loop::host};
    const run_report report = check_call(call, env);
    check_reason(call, report, "environment.flat_loop is host");
  });
}

BOOST_AUTO_TEST_CASE(few_slots_suffice) {
  const host_stream own;
  const cudaStream_t stream = own.get();
  for (const checked_call& call : all_calls::get()) {
    BOOST_TEST_CONTEXT((*call).name) {
      check_call(call, {.stream = stream,
                        .memory = call.memory(),
                        .route = device_launch_available ? route::device : route::automatic,
                        .pending_launches = 256});
    }
  }
}

BOOST_AUTO_TEST_CASE(kernels_without_slots_leave_the_work_to_the_stream) {
  if (!device_launch_available) return;
  const host_stream own;
  const cudaStream_t stream = own.get();
  const std::string obstacle = graph_loop_obstacle();
  for (const checked_call& call : all_calls::get()) {
    BOOST_TEST_CONTEXT((*call).name) {
      const tests::all_slots_taken taken(current_pending_launch_limit());
      const run_report report =
          check_call(call, {.stream = stream, .memory = call.memory(), .route = route::device});
      check_reason(call, report, obstacle);
    }
  }
}

// The names of exceptions are in the tests of the families. Here they come from get().
BOOST_AUTO_TEST_CASE(errors_are_thrown_by_get) {
  std::vector<faulty_call> table;
  for (const auto add : {add_faulty_traversals, add_faulty_graphs, add_faulty_clouds}) add(table);
  const host_stream own;
  const cudaStream_t stream = own.get();
  for (const faulty_call& faulty : table) {
    const stream_call& call = faulty.call;
    const device_buffer<std::byte> memory(call.scratch_bytes, nullptr);
    for (const input_array& each : call.inputs) copy(each.data, each.contents[0], nullptr);
    check(cudaDeviceSynchronize(), "waiting for the inputs");
    for (const route taken : all_choices<route>()) {
      for (const flat_loop loop : {flat_loop::automatic, flat_loop::host}) {
        BOOST_TEST_CONTEXT(call.name << ", " << to_string(taken) << ", " << to_string(loop)) {
          std::optional<any_run> run;
          BOOST_REQUIRE_NO_THROW(
              run = call.start(
                  call, {.stream = stream, .memory = memory, .route = taken, .flat_loop = loop}));
          // After a call that has thrown, get() may be called again.
          BOOST_CHECK_EXCEPTION((*run)(), std::exception, names(faulty.message));
          BOOST_CHECK_EXCEPTION((*run)(), std::exception, names(faulty.message));
        }
      }
    }
  }
}

#if RAMIFY_ON_CUDA

BOOST_AUTO_TEST_CASE(loops_of_graphs_complete_calls) {
  if (!graph_loop_obstacle().empty()) return;
  const host_stream own;
  const cudaStream_t stream = own.get();
  for_each_call_and_route([&](const checked_call& call, route taken) {
    const environment env{
        .stream = stream, .memory = call.memory(), .route = taken, .flat_loop = flat_loop::graph};
    check_reason(call, check_call(call, env), "");
  });
}

// The slow kernel runs until the call has returned, but at most for a fifth of a second. A first
// call may wait for the whole device, because it loads kernels: then the call is repeated.
BOOST_AUTO_TEST_CASE(a_call_does_not_wait_for_earlier_work) {
  if (!graph_loop_obstacle().empty()) return;
  const host_stream own;
  const cudaStream_t stream = own.get();
  pinned_buffer<slow_kernel_flags> flags(1);
  for_each_call_and_route([&](const checked_call& call, route taken) {
    bool has_waited = true;
    for (int attempt = 0; attempt < 3 && has_waited; ++attempt) {
      flags[0].may_end = 0;
      flags[0].has_ended = 0;
      launch_slow_kernel(stream, 200'000'000, flags.data());
      call.prepare(0, stream);
      const any_run run = call.start({.stream = stream, .memory = call.memory(), .route = taken});
      has_waited = flags[0].has_ended != 0;
      flags[0].may_end = 1;
      call.take_snapshot(stream);
      check(cudaStreamSynchronize(stream), "waiting for a snapshot");
      BOOST_TEST(call.snapshot_is_right());
      BOOST_TEST(run().completion_reason == "");
    }
    BOOST_TEST(!has_waited);
  });
}

// Each launch of the graph runs the call and takes a snapshot.
BOOST_AUTO_TEST_CASE(graphs_capture_complete_calls) {
  if (!graph_loop_obstacle().empty()) return;
  const host_stream own;
  const cudaStream_t stream = own.get();
  for_each_call_and_route([&](const checked_call& call, route taken) {
    any_run run;
    const captured_graph graph(stream, [&] {
      run = call.start({.stream = stream, .memory = call.memory(), .route = taken});
      call.take_snapshot(stream);
    });
    const auto launch_with = [&](int number) {
      launch_slow_kernel(stream);
      call.prepare(number, stream);
      graph.launch(stream);
      check(cudaStreamSynchronize(stream), "waiting for a snapshot");
      BOOST_TEST(call.snapshot_is_right(number), "the snapshot of launch " << number);
    };
    launch_with(0);
    BOOST_CHECK_NO_THROW(run());
    launch_with(1);
    {
      const tests::all_slots_taken all(current_pending_launch_limit());
      launch_with(0);
    }
    BOOST_CHECK_NO_THROW(run());
  });
}

// Without grids in the stream for what is left, the snapshot is right only if kernels have nothing
// to launch.
BOOST_AUTO_TEST_CASE(by_get_leaves_the_work_to_get) {
  const host_stream own;
  const cudaStream_t stream = own.get();
  for (const checked_call& call : all_calls::get()) {
    BOOST_TEST_CONTEXT((*call).name) {
      const tests::all_slots_taken taken(current_pending_launch_limit());
      call.prepare(0, stream);
      const any_run run = call.start({.stream = stream,
                                      .memory = call.memory(),
                                      .route = route::device,
                                      .completion = completion::by_get});
      call.take_snapshot(stream);
      check(cudaStreamSynchronize(stream), "waiting for a snapshot");
      BOOST_TEST(call.snapshot_is_right() == ((*call).has_one_grid || (*call).needs_no_slots));
      BOOST_TEST(run().completion_reason == "");
      if ((*call).requires_memory) continue;  // the kernel that reads the tree has run
      call.take_snapshot(stream);
      check(cudaStreamSynchronize(stream), "waiting for the results");
      BOOST_TEST(call.snapshot_is_right());
    }
  }
}

#endif

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stream_completion
