// SPDX-License-Identifier: BSD-3-Clause
// Streams and events in kernels, and owning objects of the host.
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/residency.cuh>
#include <ramify/runtime/stream.cuh>
#include <string>
#include <utility>

#include "device_vectors.cuh"

namespace tests::inline RAMIFY_BUILD {
namespace {

// ---- streams ------------------------------------------------------------------------------------

struct grid_log {
  unsigned size;
  char names[64];
};

__device__ void append(grid_log* log, char name) { log->names[atomicAdd(&log->size, 1u)] = name; }

__global__ void note(grid_log* log, char name) { append(log, name); }

__global__ void empty_kernel() {}

__global__ void note_after_child(grid_log* log, char name) {
  const bool launched = launch(note, {1, 1}, tail_launch(), log, name) &&
                        launch(note, {1, 1}, fire_and_forget(), log, char(name + 32));
  if (!launched) append(log, '!');
}

// Appends A and B in a named stream; C in another one, after B because of an event; Z at the end.
__global__ void note_in_streams(grid_log* log) {
  const device_stream first;
  const device_stream second;
  const device_event after_b;
  bool good = bool(launch(note, {1, 1}, tail_launch(), log, 'Z'));
  good = good && launch(note_after_child, {1, 1}, first.get(), log, 'A');
  good = good && launch(note_after_child, {1, 1}, first.get(), log, 'B');
  good = good && after_b.record(first) == cudaSuccess;
  good = good && second.wait(after_b.get()) == cudaSuccess;
  good = good && launch(note_after_child, {1, 1}, second.get(), log, 'C');
  if (!good) append(log, '!');
}

__global__ void note_in_null_stream(grid_log* log) {
  for (char name = 'A'; name < 'F'; ++name) {
    if (!launch(note_after_child, {1, 1}, null_stream(), log, name)) append(log, '!');
  }
}

/// Returns the names of the grids in the order in which they ran.
std::string order_after(void (*kernel)(grid_log*)) {
  const auto log = zeros<grid_log>(1);
  check(launch(kernel, {1, 1}, nullptr, log.data()).code(), "launching");
  const grid_log seen = download(log)[0];
  return {seen.names, seen.names + seen.size};
}

// ---- programmatic dependent launch --------------------------------------------------------------

/// Spends some time, then stores the number of the previous grid plus one.
__global__ void one_more(unsigned* numbers, unsigned mine) {
  grid_dependency_synchronize();
  unsigned seen = 0;
  for (int i = 0; i < 1000; ++i) seen = max(seen, load_relaxed(numbers[0]));
  numbers[mine] = numbers[mine - 1] + 1 + seen;  // seen is 0
}

/// Returns the number that the last of `count` dependent grids stores.
unsigned count_dependent_grids(unsigned count) {
  const auto numbers = zeros<unsigned>(count + 1);
  const host_stream stream;
  for (unsigned grid = 1; grid <= count; ++grid) {
    launch_shape shape(1, 1);
    if (supports_programmatic_launch(one_more))
      shape.serialization = stream_serialization::programmatic;
    check(launch(one_more, shape, stream.get(), numbers.data(), grid).code(), "launching");
  }
  check(cudaStreamSynchronize(stream.get()), "waiting");
  return download(numbers)[count];
}

// ---- owning objects -----------------------------------------------------------------------------

/// Moves each kind of owning object. Returns what is wrong, or an empty string.
std::string move_owning_objects() {
  // They are move-only, empty after a move, and usable again after an assignment.
  host_stream first;
  host_stream second = std::move(first);
  if (first.get() != nullptr) return "a moved-from stream is not empty";
  first = std::move(second);
  if (second.get() != nullptr) return "a stream that was assigned from is not empty";

  pinned_buffer<int> source(3);
  for (int i = 0; i < 3; ++i) source[i] = i + 5;
  pinned_buffer<int> target(3);
  device_buffer<int> memory(3, first.get());
  host_event copied;
  check(cudaMemcpyAsync(memory.data(), source.data(), 3 * sizeof(int), cudaMemcpyHostToDevice,
                        first.get()),
        "copying");
  check(cudaMemcpyAsync(target.data(), memory.data(), 3 * sizeof(int), cudaMemcpyDeviceToHost,
                        first.get()),
        "copying back");
  copied.record(first.get());
  const host_event moved = std::move(copied);
  moved.synchronize();
  if (target[0] != 5 || target[2] != 7) return "pinned memory did not come back";

  device_buffer<int> elsewhere(1, first.get());
  elsewhere = std::move(memory);
  if (memory.data() != nullptr || memory.size() != 0) return "a moved-from buffer is not empty";
  if (elsewhere.size() != 3) return "a buffer was not moved";
  source = std::move(target);
  if (target.data() != nullptr || source[1] != 6) return "a pinned buffer was not moved";
  elsewhere = {};
  release_scratch();
  return {};
}

/// Returns what is wrong with the times of events, or an empty string.
std::string times_of_events() {
  const host_stream stream;
  host_event begin;
  host_event end;
  const auto is_known = [](const host_event& from, const host_event& to) {
    try {
      static_cast<void>(to.milliseconds_since(from));
      return true;
    } catch (const cuda_error&) {
      return false;
    }
  };
  if (is_known(begin, end)) return "events that were not recorded have times";
  begin.record(stream.get());
  if (is_known(begin, end)) return "an event that was not recorded has a time";
  check(launch(empty_kernel, {1, 1}, stream.get()).code(), "launching");
  end.record(stream.get());
  if (!(end.milliseconds_since(begin) > 0)) return "a grid took no time";
  host_event untimed = host_event::without_time();
  untimed.record(stream.get());
  if (is_known(begin, untimed)) return "an event without time has one";
  return {};
}

/// Returns whether a launch succeeds after another call has failed.
bool launch_after_failed_call() {
  try {
    const device_buffer<std::byte> too_much(std::size_t{1} << 50, nullptr);
    return false;
  } catch (const cuda_error&) {
  }
  if (!launch(empty_kernel, {1, 1}, nullptr)) return false;
  const auto log = zeros<grid_log>(1);
  return bool(launch(note, {1, 1}, nullptr, log.data(), 'A')) && download(log)[0].size == 1;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(runtime)

BOOST_AUTO_TEST_CASE(streams_events_and_tail_launches_order_grids) {
  BOOST_TEST(order_after(note_in_streams) == "aAbBcCZ");
  BOOST_TEST(order_after(note_in_null_stream) == "aAbBcCdDeE");
}

BOOST_AUTO_TEST_CASE(owning_objects_can_be_moved) { BOOST_TEST(move_owning_objects() == ""); }

BOOST_AUTO_TEST_CASE(programmatic_dependent_grids_wait) {
  BOOST_TEST(count_dependent_grids(100) == 100u);
}

BOOST_AUTO_TEST_CASE(events_have_times) { BOOST_TEST(times_of_events() == ""); }

BOOST_AUTO_TEST_CASE(a_launch_does_not_report_an_earlier_error) {
  BOOST_TEST(launch_after_failed_call());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tests::inline RAMIFY_BUILD
