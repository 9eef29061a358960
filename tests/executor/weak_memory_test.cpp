// SPDX-License-Identifier: BSD-3-Clause
// schedule::weak: litmus tests, with the outcomes that CUDA's memory model allows and forbids.
#include <algorithm>
#include <array>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <iterator>
#include <optional>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/residency.cuh>
#include <ramify/runtime/stream.cuh>
#include <thread>
#include <vector>

using namespace ramify;

namespace weak_kernels {

struct message {
  int data;
  unsigned flag;
  int seen;  // the data that the reader saw with the flag; -1: it saw no flag
  int failures;
  unsigned char bytes[4];
};

/// How the writer and the reader of a message order their accesses.
enum class how {
  plain,           // by nothing
  writer_fences,   // a fence in the writer only
  reader_fences,   // a fence in the reader only
  both_fence,      // a fence in each
  block_fences,    // fences for the threads of a block
  relaxed,         // relaxed operations of atomic_ref
  release_acquire  // operations of atomic_ref with an order
};

__global__ void write_message(message* m, how order) {
  m->data = 7;
  const cpu::atomic_ref<unsigned> flag(m->flag);
  if (order == how::writer_fences || order == how::both_fence) __threadfence();
  if (order == how::block_fences) __threadfence_block();
  if (order == how::release_acquire) {
    flag.store(1, std::memory_order_release);
  } else if (order == how::relaxed) {
    flag.store(1, std::memory_order_relaxed);
  } else {
    atomicExch(&m->flag, 1u);
  }
}

__global__ void read_message(message* m, how order) {
  const cpu::atomic_ref<unsigned> flag(m->flag);
  for (int i = 0; i < 20; ++i) {
    const bool is_set = order == how::release_acquire ? flag.load(std::memory_order_acquire) != 0
                        : order == how::relaxed       ? load_relaxed(m->flag) != 0
                                                      : atomicAdd(&m->flag, 0u) != 0;
    if (!is_set) continue;
    if (order == how::reader_fences || order == how::both_fence) __threadfence();
    if (order == how::block_fences) __threadfence_block();
    m->seen = m->data;
    return;
  }
}

__global__ void pass_message(message* m, how order) {
  if (!launch(read_message, {1, 1}, fire_and_forget(), m, order)) m->failures = 1;
  if (!launch(write_message, {1, 1}, fire_and_forget(), m, order)) m->failures = 1;
}

// Neighboring bytes, which four blocks write.
__global__ void write_bytes(message* m) {
  m->bytes[blockIdx.x] = static_cast<unsigned char>(1 + blockIdx.x);
  atomicAdd(&m->flag, 1u);
}

// A block sees its own writes, and an atomic operation applies to them.
__global__ void use_own_writes(message* m) {
  m->data = static_cast<int>(threadIdx.x);
  __syncthreads();
  atomicAdd(&m->flag, 1u);
  if (threadIdx.x == 0) m->data = 40;
  __syncthreads();
  const int before = atomicAdd(&m->data, 1);
  __syncthreads();
  if (before < 40 || m->data != 40 + static_cast<int>(blockDim.x)) atomicAdd(&m->failures, 1);
}

// A read does not see an older value than an atomic operation of the same thread before it.
__global__ void read_after_atomic(message* m) {
  for (int i = 0; i < 10; ++i) {
    const int before = atomicAdd(&m->data, 1);
    if (m->data <= before) atomicAdd(&m->failures, 1);
  }
}

// Launches, tail launches and streams order memory without fences.
__global__ void check_data(message* m, int expected, int next) {
  if (m->data != expected) atomicAdd(&m->failures, 1);
  atomicAdd(&m->flag, 1u);
  m->data = next;
}
__global__ void launch_in_order(message* m) {
  m->data = static_cast<int>(threadIdx.x);
  __syncthreads();
  if (threadIdx.x != 0) return;
  m->data = 1;
  const auto step = [&](cudaStream_t stream, int expected) {
    if (!launch(check_data, {1, 1}, stream, m, expected, expected + 1)) m->failures = 1;
  };
  step(null_stream(), 1);
  step(null_stream(), 2);
  step(tail_launch(), 3);
  step(tail_launch(), 4);
}

// Two blocks each write a flag and then read that of the other one.
__global__ void write_then_read(message* m, bool fences) {
  const unsigned mine = blockIdx.x;
  m->bytes[mine] = 1;
  if (fences) __threadfence();
  atomicAdd(&m->flag, 0u);
  if (m->bytes[1 - mine] == 0) atomicAdd(&m->failures, 1);
}

// Blocks write one number without an order, and read it. 0 is its first value.
constexpr unsigned written[] = {0xAA00'AA00u, 0x00BB'00BBu, 0x00CC'CC00u};
__device__ void race(unsigned* number, unsigned* wrong) {
  *number = written[blockIdx.x];
  atomicAdd(wrong, 0u);
  __threadfence();
  const unsigned seen = *number;
  if (seen != written[0] && seen != written[1] && seen != written[2]) atomicAdd(wrong, 1u);
}
__global__ void race_in_array(unsigned* numbers) { race(&numbers[5], &numbers[0]); }
__global__ void race_in_struct(message* m) {
  race(reinterpret_cast<unsigned*>(m->bytes), &m->flag);
}

// An atomic operation on a half of a number; the other half is written without one.
__global__ void use_halves(unsigned long long* numbers) {
  auto* const halves = reinterpret_cast<unsigned*>(&numbers[1]);
  if (blockIdx.x == 0) halves[0] = 3;
  atomicAdd(&halves[0], 0u);
  if (blockIdx.x == 0) halves[1] = 4;
  for (int i = 0; i < 4; ++i) atomicAdd(&halves[0], 1u);
}

// Atomic operations of all blocks on a part of a number, whose other parts block 0 writes.
__global__ void add_to_half(unsigned long long* numbers) {
  auto* const halves = reinterpret_cast<unsigned*>(&numbers[1]);
  if (blockIdx.x == 0) halves[1] = 4;
  for (int i = 0; i < 4; ++i) atomicAdd(&halves[0], 1u);
}
__global__ void add_to_quarter(unsigned long long* numbers) {
  auto* const quarters = reinterpret_cast<unsigned short*>(&numbers[1]);
  if (blockIdx.x == 0) quarters[1] = 5;
  for (int i = 0; i < 4; ++i) cpu::atomic_ref<unsigned short>(quarters[0]).fetch_add(1);
  if (blockIdx.x == 0) quarters[2] = 4;
}

// Waits until the host has copied to `copied`, which the kernel then sees.
__global__ void wait_for_host(unsigned* flag, const int* copied, int* seen) {
  const cpu::atomic_ref<unsigned> done(*flag);
  while (done.load(std::memory_order_acquire) == 0) __nanosleep(100);
  if (*copied == 42) atomicAdd(seen, 1);
}

}  // namespace weak_kernels

namespace {

using weak_kernels::how;
using weak_kernels::message;

/// Runs a kernel under schedule::weak. Returns the message afterwards.
template <class... Arguments>
message run(std::uint64_t seed, void (*kernel)(message*, Arguments...), launch_shape shape,
            Arguments... arguments) {
  const cpu::scoped_executor_config config({.order = cpu::schedule::weak, .seed = seed});
  const device_buffer<message> memory(1, nullptr);
  message m{0, 0, -1, 0, {}};
  BOOST_REQUIRE(cudaMemcpy(memory.data(), &m, sizeof m, cudaMemcpyHostToDevice) == cudaSuccess);
  BOOST_REQUIRE(bool(launch(kernel, shape, nullptr, memory.data(), arguments...)));
  BOOST_REQUIRE(cudaMemcpy(&m, memory.data(), sizeof m, cudaMemcpyDeviceToHost) == cudaSuccess);
  return m;
}

constexpr std::uint64_t seeds = 200;

/// Returns how many of the runs saw the flag of a message with and without its data.
std::array<int, 2> outcomes(how order) {
  std::array<int, 2> seen{};
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const message m = run(seed, weak_kernels::pass_message, {1, 1}, order);
    BOOST_REQUIRE(m.failures == 0);
    BOOST_REQUIRE(m.data == 7);
    if (m.seen >= 0) ++seen.at(m.seen == 7 ? 0 : 1);
  }
  return seen;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(weak_memory)

BOOST_AUTO_TEST_CASE(a_message_needs_both_fences) {
  for (const how order :
       {how::plain, how::writer_fences, how::reader_fences, how::block_fences, how::relaxed}) {
    BOOST_TEST_CONTEXT("order " << int(order)) {
      const auto [with, without] = outcomes(order);
      BOOST_TEST(with > 0);
      BOOST_TEST(without > 0);
    }
  }
  for (const how order : {how::both_fence, how::release_acquire}) {
    BOOST_TEST_CONTEXT("order " << int(order)) {
      const auto [with, without] = outcomes(order);
      BOOST_TEST(with > 10);
      BOOST_TEST(without == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_fence_orders_a_write_before_a_read) {
  int both = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    both += run(seed, weak_kernels::write_then_read, {2, 1}, false).failures == 2 ? 1 : 0;
    BOOST_TEST(run(seed, weak_kernels::write_then_read, {2, 1}, true).failures < 2);
  }
  BOOST_TEST(both > 0);
}

BOOST_AUTO_TEST_CASE(what_the_memory_model_requires_holds) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      const message bytes = run(seed, weak_kernels::write_bytes, {4, 1});
      for (int i = 0; i < 4; ++i) BOOST_TEST(int(bytes.bytes[i]) == i + 1);
      BOOST_TEST(run(seed, weak_kernels::use_own_writes, {1, 32}).failures == 0);
      const message counted = run(seed, weak_kernels::read_after_atomic, {8, 2});
      BOOST_TEST(counted.failures == 0);
      BOOST_TEST(counted.data == 160);
      const message ordered = run(seed, weak_kernels::launch_in_order, {1, 32});
      BOOST_TEST(ordered.failures == 0);
      BOOST_TEST(ordered.data == 5);
      BOOST_TEST(ordered.flag == 4u);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_seed_repeats_its_run) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const message first = run(seed, weak_kernels::pass_message, {1, 1}, how::plain);
    const message again = run(seed, weak_kernels::pass_message, {1, 1}, how::plain);
    BOOST_TEST(first.seen == again.seen);
  }
}

BOOST_AUTO_TEST_CASE(large_allocations_and_host_memory_are_not_delayed) {
  const device_buffer<message> large((std::size_t{1} << 20) / sizeof(message) + 1, nullptr);
  message on_host{};
  for (message* const m : {large.data(), &on_host}) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      const cpu::scoped_executor_config config({.order = cpu::schedule::weak, .seed = seed});
      *m = {0, 0, -1, 0, {}};
      BOOST_REQUIRE(bool(launch(weak_kernels::pass_message, {1, 1}, nullptr, m, how::plain)));
      BOOST_TEST((m->seen == -1 || m->seen == 7));
    }
  }
}

BOOST_AUTO_TEST_CASE(racing_stores_to_a_number_stay_whole) {
  const device_buffer<unsigned> numbers(7, nullptr);
  std::array<int, 3> won{};
  int mixed = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const cpu::scoped_executor_config config({.order = cpu::schedule::weak, .seed = seed});
    BOOST_REQUIRE(cudaMemset(numbers.data(), 0, 7 * sizeof(unsigned)) == cudaSuccess);
    BOOST_REQUIRE(bool(launch(weak_kernels::race_in_array, {3, 1}, nullptr, numbers.data())));
    BOOST_TEST(numbers.data()[0] == 0u);
    const auto* const last = std::ranges::find(weak_kernels::written, numbers.data()[5]);
    BOOST_REQUIRE(last != std::end(weak_kernels::written));
    ++won.at(static_cast<std::size_t>(last - weak_kernels::written));
    // Parts of a struct may be written one by one, so its bytes are merged.
    const message m = run(seed, weak_kernels::race_in_struct, {3, 1});
    mixed += m.flag == 0 ? 0 : 1;
  }
  for (const int count : won) BOOST_TEST(count > 0);
  BOOST_TEST(mixed > 0);
}

BOOST_AUTO_TEST_CASE(an_atomic_operation_may_apply_to_a_part_of_a_number) {
  const device_buffer<unsigned long long> numbers(2, nullptr);
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const cpu::scoped_executor_config config({.order = cpu::schedule::weak, .seed = seed});
    BOOST_REQUIRE(cudaMemset(numbers.data(), 0, 2 * sizeof *numbers.data()) == cudaSuccess);
    BOOST_REQUIRE(bool(launch(weak_kernels::use_halves, {1, 1}, nullptr, numbers.data())));
    BOOST_TEST(numbers.data()[1] == (4ull << 32) + 7);
    numbers.data()[1] = 0;
    BOOST_REQUIRE(bool(launch(weak_kernels::add_to_half, {3, 1}, nullptr, numbers.data())));
    BOOST_TEST(numbers.data()[1] == (4ull << 32) + 12);
    numbers.data()[1] = 0;
    BOOST_REQUIRE(bool(launch(weak_kernels::add_to_quarter, {3, 1}, nullptr, numbers.data())));
    BOOST_TEST(numbers.data()[1] == (4ull << 32) + (5ull << 16) + 12);
  }
}

BOOST_AUTO_TEST_CASE(the_smallest_allocations_are_delayed) {
  // Together they have as many bytes as schedule::weak delays at most.
  std::vector<device_buffer<std::byte>> small;
  for (int i = 0; i < 256; ++i) small.emplace_back(std::size_t{4096}, nullptr);
  const device_buffer<message> large(8192 / sizeof(message), nullptr);
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const cpu::scoped_executor_config config({.order = cpu::schedule::weak, .seed = seed});
    message* const m = large.data();
    *m = {0, 0, -1, 0, {}};
    BOOST_REQUIRE(bool(launch(weak_kernels::pass_message, {1, 1}, nullptr, m, how::plain)));
    BOOST_TEST((m->seen == -1 || m->seen == 7));
  }
  const auto [with, without] = outcomes(how::plain);  // of a message that is smaller
  BOOST_TEST(with > 0);
  BOOST_TEST(without > 0);
}

BOOST_AUTO_TEST_CASE(another_host_thread_copies_and_frees_during_a_run) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const cpu::scoped_executor_config config({.order = cpu::schedule::weak, .seed = seed});
    const device_buffer<int> copied(1, nullptr);
    const device_buffer<int> set(1, nullptr);
    const device_buffer<int> seen(1, nullptr);
    BOOST_REQUIRE(cudaMemset(copied.data(), 0, sizeof(int)) == cudaSuccess);
    BOOST_REQUIRE(cudaMemset(seen.data(), 0, sizeof(int)) == cudaSuccess);
    auto freed = std::make_optional<device_buffer<int>>(1000, nullptr);
    unsigned flag = 0;
    int read_back = 0;
    std::array<cudaError_t, 3> errors{};
    std::jthread other([&] {
      const int value = 42;
      errors[0] = cudaMemcpy(copied.data(), &value, sizeof value, cudaMemcpyDefault);
      errors[1] = cudaMemsetAsync(set.data(), 1, sizeof value, nullptr);
      errors[2] = cudaMemcpyAsync(&read_back, set.data(), sizeof value, cudaMemcpyDefault, nullptr);
      freed.reset();
      std::atomic_ref<unsigned>(flag).store(1);
    });
    const bool launched = bool(
        launch(weak_kernels::wait_for_host, {4, 1}, nullptr, &flag, copied.data(), seen.data()));
    other.join();
    BOOST_REQUIRE(launched);
    for (const cudaError_t error : errors) BOOST_TEST(error == cudaSuccess);
    BOOST_TEST(*seen.data() == 4);
    BOOST_TEST(*copied.data() == 42);
    BOOST_TEST(*set.data() == 0x01010101);
    BOOST_TEST(read_back == 0x01010101);
  }
}

BOOST_AUTO_TEST_SUITE_END()
