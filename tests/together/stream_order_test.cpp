// SPDX-License-Identifier: BSD-3-Clause
// The compiled interface takes device memory in stream order: a call sees what earlier work in its
// stream has written, and later work in the stream sees the result of the call.
//
// A slow kernel writes the inputs of a call, and a second kernel in the same stream reads the
// results after the call. Before that, the inputs hold other values, and the slow kernel overwrites
// the results. The negative control makes the call in another stream than the slow kernel: then the
// call must have the wrong result. On the CPU executor, where launches wait, it is not possible.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <numeric>
#include <ramify/quicksort.hpp>
#include <ramify/runtime/captured_graph.cuh>
#include <ramify/runtime/grid_trace.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/stream.cuh>
#include <stdexcept>
#include <vector>

#include "effort.hpp"
#include "ordered_calls.cuh"
#include "printing.hpp"

namespace stream_order {
namespace {

/// What copy_late() copies: up to six arrays in device memory.
struct copy_list {
  struct copy {
    word* to;
    const word* from;
    std::size_t words;
  };
  copy all[6] = {};
  unsigned count = 0;

  void add(word* to, const word* from, std::size_t words) { all[count++] = {to, from, words}; }
};

/// Copies arrays in one block, `nanoseconds` after its begin, or, if `released` is not null, as
/// soon as it is not 0.
__global__ void copy_late(copy_list copies, unsigned long long nanoseconds,
                          const volatile int* released) {
  const unsigned long long begin = ramify::detail::device_time();
  while (nanoseconds > 0 && ramify::detail::device_time() - begin < nanoseconds) {
    if (released != nullptr && *released != 0) break;
  }
  __syncthreads();
  for (unsigned k = 0; k < copies.count; ++k) {
    const copy_list::copy& c = copies.all[k];
    for (std::size_t i = threadIdx.x; i < c.words; i += blockDim.x) c.to[i] = c.from[i];
  }
}

void launch_copies(const copy_list& copies, cudaStream_t stream, unsigned long long nanoseconds = 0,
                   const volatile int* released = nullptr) {
  check(launch(copy_late, {1, 256}, stream, copies, nanoseconds, released).code(),
        "launching copy_late");
}

/// Puts the values before the slow kernel into all arrays, and waits for them.
void reset(const family_call& c) {
  for (const auto* arrays : {&c.inputs, &c.results}) {
    for (const late_array& each : *arrays) {
      check(cudaMemcpy(each.data.data(), each.before.data(), each.before.size() * sizeof(word),
                       cudaMemcpyHostToDevice),
            "resetting an array");
    }
  }
  check(cudaDeviceSynchronize(), "waiting for the arrays");
}

void launch_slow_kernel(const family_call& c, cudaStream_t stream, unsigned long long nanoseconds,
                        const volatile int* released = nullptr) {
  copy_list copies;
  for (const auto* arrays : {&c.inputs, &c.results}) {
    for (const late_array& each : *arrays) {
      copies.add(each.data.data(), each.after.data(), each.data.size());
    }
  }
  launch_copies(copies, stream, nanoseconds, released);
}

/// Lets a kernel in `stream` read what the call has written. Returns whether it is right.
bool is_right_in(const family_call& c, cudaStream_t stream) {
  std::vector<device_buffer<word>> seen;
  copy_list reads;
  for (const late_array& each : c.outputs()) {
    seen.emplace_back(each.data.size(), stream);
    reads.add(seen.back().data(), each.data.data(), each.data.size());
  }
  launch_copies(reads, stream);
  std::vector<std::vector<word>> words;
  for (const auto& buffer : seen) {
    words.emplace_back(buffer.size());
    tests::download(buffer, words.back(), stream);
  }
  return c.is_right(words);
}

/// A blocking stream.
struct blocking_stream {
  blocking_stream() { check(cudaStreamCreate(&stream), "creating a stream"); }
  ~blocking_stream() { static_cast<void>(cudaStreamDestroy(stream)); }
  blocking_stream(const blocking_stream&) = delete;
  blocking_stream& operator=(const blocking_stream&) = delete;
  cudaStream_t stream = nullptr;
};

/// The slow kernel takes longer than any of the calls. On the CPU executor launches wait for it.
constexpr unsigned long long slow = RAMIFY_ON_CUDA ? 5'000'000 : 0;

environment in_stream(cudaStream_t stream, route taken) {
  return {.backend = tests::backend_under_test(), .stream = stream, .route = taken};
}

/// Calls body(c, env) for each family whose calls can be started, on both routes in the stream. The
/// launches of the call are measured before.
template <class Body>
void for_each_started_call(cudaStream_t stream, Body body) {
  for (const family_call& c : calls_with_device_memory()) {
    if (!c.start) continue;
    for (const route taken : {route::flat, route::device}) {
      BOOST_TEST_CONTEXT(c.name << ", " << to_string(taken)) {
        const environment env = in_stream(stream, taken);
        reset(c);
        c.call(c, env);
        body(c, env);
      }
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(stream_orders)

BOOST_AUTO_TEST_CASE(calls_are_ordered_in_their_stream) {
  const blocking_stream blocking;
  const host_stream other;
  struct stream_pair {
    const char* name;
    cudaStream_t writer, caller;
  };
  std::vector<stream_pair> streams{
      {"the legacy default stream", nullptr, nullptr},
      {"a blocking stream", blocking.stream, blocking.stream},
      {"a non-blocking stream", other.get(), other.get()},
      // The legacy default stream and blocking streams wait for each other.
      {"the legacy default stream after a blocking stream", blocking.stream, nullptr},
      {"a blocking stream after the legacy default stream", nullptr, blocking.stream},
  };
#if RAMIFY_ON_CUDA
  streams.push_back({"the per-thread default stream", cudaStreamPerThread, cudaStreamPerThread});
#endif
  for (const family_call& c : calls_with_device_memory()) {
    for (const stream_pair& pair : streams) {
      for (const route taken : {route::flat, route::device}) {
        BOOST_TEST_CONTEXT(c.name << " in " << pair.name << ", " << to_string(taken)) {
          reset(c);
          launch_slow_kernel(c, pair.writer, slow);
          c.call(c, in_stream(pair.caller, taken));
          BOOST_TEST(is_right_in(c, pair.caller));
        }
      }
    }
  }
}

// Work that enters the stream after a call that does not wait sees its results, before get().
BOOST_AUTO_TEST_CASE(started_calls_are_ordered_in_their_stream) {
  const host_stream stream;
  for_each_started_call(stream.get(), [&](const family_call& c, const environment& env) {
    reset(c);
    launch_slow_kernel(c, stream.get(), slow);
    const tests::any_run run = c.start(c, env);
    BOOST_TEST(is_right_in(c, stream.get()));
    const run_report report = run();
    BOOST_TEST(report.ran_on == tests::backend_under_test());
    BOOST_TEST(report.backend_reason.starts_with("requested"));
    BOOST_CHECK_THROW((void)run(), std::logic_error);
  });
}

#if RAMIFY_ON_CUDA
// The runs have memory of their own. Each launch of the graph processes what the arrays then have.
BOOST_AUTO_TEST_CASE(a_graph_captures_started_calls) {
  const host_stream stream;
  for_each_started_call(stream.get(), [&](const family_call& c, const environment& env) {
    tests::any_run run;
    const captured_graph graph(stream.get(), [&] { run = c.start(c, env); });
    for (int launches = 0; launches < 2; ++launches) {
      reset(c);
      launch_slow_kernel(c, stream.get(), 0);
      graph.launch(stream.get());
      BOOST_TEST(is_right_in(c, stream.get()));
      BOOST_TEST(run().taken == env.route);
    }
  });
}
#endif

// What a missing order leads to: the call runs before the slow kernel.
BOOST_AUTO_TEST_CASE(a_call_before_the_slow_kernel_has_a_wrong_result) {
  for (const family_call& c : calls_with_device_memory()) {
    reset(c);
    c.call(c, in_stream(nullptr, route::flat));
    launch_slow_kernel(c, nullptr, 0);
    BOOST_TEST_CONTEXT(c.name) { BOOST_TEST(!is_right_in(c, nullptr)); }
  }
}

#if RAMIFY_ON_CUDA

// The slow kernel waits until the call has returned, but at most a second. If a call waits for the
// whole device, as a first call may, it begins after the slow kernel, and its result is right: then
// the call is repeated.
BOOST_AUTO_TEST_CASE(a_call_in_another_stream_is_not_ordered) {
  const host_stream writer;
  const host_stream caller;
  pinned_buffer<int> released(1);
  for (const family_call& c : calls_with_device_memory()) {
    bool was_wrong = false;
    for (int attempt = 0; attempt < 5 && !was_wrong; ++attempt) {
      reset(c);
      released[0] = 0;
      launch_slow_kernel(c, writer.get(), 1'000'000'000, released.data());
      environment env = in_stream(caller.get(), route::flat);
      env.flat_loop = flat_loop::host;
      c.call(c, env);
      *static_cast<volatile int*>(released.data()) = 1;
      was_wrong = !is_right_in(c, writer.get());
    }
    BOOST_TEST_CONTEXT(c.name) { BOOST_TEST(was_wrong); }
  }
}

// A copy of this size is staged, and several threads may send it.
BOOST_AUTO_TEST_CASE(host_memory_is_copied_in_the_per_thread_stream) {
  std::vector<word> keys(word{1} << 22);
  for (int attempt = 0; attempt < 5; ++attempt) {
    std::iota(keys.rbegin(), keys.rend(), word(attempt));
    quicksort(keys, sort_order::ascending, in_stream(cudaStreamPerThread, route::flat));
    BOOST_TEST(std::is_sorted(keys.begin(), keys.end()));
    BOOST_TEST(keys.back() == word(attempt) + keys.size() - 1);
  }
}

#endif

BOOST_AUTO_TEST_SUITE_END()

}  // namespace stream_order
