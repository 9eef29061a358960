// SPDX-License-Identifier: BSD-3-Clause
// The environment of a sort: memory of the caller, streams, backends.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <ramify/runtime/stream.cuh>
#include <stdexcept>

#include "exceptions.hpp"
#include "memory_resources.cuh"
#include "quicksort_checks.cuh"

namespace data = boost::unit_test::data;
using common::distribution;
using ramify::device_buffer;
using ramify::sort_order;
using tests::call_for;
using tests::make_input;
using tests::names;

namespace {

using key = std::uint32_t;

constexpr std::size_t n = 20'000;

template <class Error>
void expect_refusal(const ramify::environment& env, const std::string& what) {
  const auto input = make_input<key>(distribution::uniform, n, 1);
  const auto device_keys = tests::upload(input.input());
  BOOST_CHECK_EXCEPTION((void)tests::start_sort(device_keys.data(), n, {.env = env}), Error,
                        names("quicksort: " + what));
  BOOST_TEST(tests::download(device_keys) == input.input());
}

/// Checks that the interface, for which `sort(env)` stands, allocates once from a resource.
template <class Resource, class Sort>
void expect_allocation(const Sort& sort) {
  const ramify::host_stream stream;
  Resource pool;
  const ramify::quicksort_report report = sort(pool, stream);
  BOOST_TEST(pool.allocations == 1u);
  BOOST_TEST(pool.live_bytes == 0u);
  BOOST_TEST(pool.largest_alignment == 256u);
  BOOST_TEST(pool.stream == ramify::stream_ref(stream).as<CUstream_st*>());
  BOOST_TEST(report.scratch_bytes > n * sizeof(key));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(quicksort_environment)

BOOST_DATA_TEST_CASE(a_resource_gives_the_memory_of_a_sort,
                     data::make(tests::strategies) * data::make(tests::routes), strategy, taken) {
  const auto input = make_input<key>(distribution::uniform, n, 2);
  const auto header = [&](auto& pool, const ramify::host_stream& stream) {
    auto call = call_for(strategy, taken);
    call.env.stream = stream;
    call.env.memory = pool;
    auto keys = input.input();
    const auto device_keys = tests::upload(keys, stream.get());
    auto run = tests::start_sort(device_keys.data(), n, call);
    BOOST_TEST(pool.live_bytes == tests::scratch_bytes(n, call.options));
    const auto report = run.get();
    tests::download(device_keys, keys, stream.get());
    BOOST_TEST(input.check(keys) == "");
    return report;
  };
  expect_allocation<tests::resource>(header);
  expect_allocation<tests::older_resource>(header);
  const auto facade = [&](auto& pool, const ramify::host_stream& stream) {
    auto call = call_for(strategy, taken);
    call.env.stream = stream;
    call.env.memory = pool;
    auto keys = input.input();
    const auto report = tests::sort_keys(keys, call);
    BOOST_TEST(input.check(keys) == "");
    return report;
  };
  expect_allocation<tests::resource>(facade);
  expect_allocation<tests::older_resource>(facade);
}

BOOST_DATA_TEST_CASE(memory_must_have_the_size_that_a_sort_needs, data::make(tests::strategies),
                     strategy) {
  const auto input = make_input<key>(distribution::uniform, n, 3);
  auto keys = input.input();
  auto call = call_for(strategy, ramify::route::automatic);
  const std::size_t bytes = tests::scratch_bytes(n, call.options);
  const device_buffer<std::byte> memory(bytes, nullptr);
  call.env.memory = {memory.data(), bytes - 1};
  BOOST_CHECK_EXCEPTION((void)tests::sort_keys(keys, call), std::invalid_argument,
                        names("quicksort: environment.memory has " + std::to_string(bytes - 1) +
                              " bytes; this run needs " + std::to_string(bytes)));
  BOOST_TEST(keys == input.input());
  call.env.memory = memory;
  BOOST_TEST(tests::sort_keys(keys, call).scratch_bytes == bytes);
  BOOST_TEST(input.check(keys) == "");
}

BOOST_AUTO_TEST_CASE(bad_memory_is_refused) {
  const device_buffer<std::byte> memory(1 << 20, nullptr);
  expect_refusal<std::invalid_argument>({.memory = {memory.data(), 300}},
                                        "environment.memory has 300 bytes");
  expect_refusal<std::invalid_argument>({.memory = {memory.data() + 8, (1 << 20) - 8}},
                                        "environment.memory must be aligned to 256 bytes");
}

BOOST_AUTO_TEST_CASE(another_backend_is_refused) {
  expect_refusal<ramify::unavailable>(
      {.backend = RAMIFY_ON_CUDA ? ramify::backend::cpu : ramify::backend::cuda},
      "environment.backend is ");
  using other_stream =
      std::conditional_t<RAMIFY_ON_CUDA, ramify::cpu::builtins::stream_handle, CUstream_st>;
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  const ramify::stream_ref other(reinterpret_cast<other_stream*>(std::uintptr_t{8}));
  expect_refusal<std::invalid_argument>({.stream = other},
                                        "environment.stream is a stream of another backend");
  std::vector<key> keys{3, 1, 2};
  BOOST_CHECK_EXCEPTION(
      ramify::quicksort(keys, sort_order::ascending,
                        {.backend = tests::backend_under_test(), .stream = other}),
      std::invalid_argument, names("environment.stream is a stream of another backend"));
  BOOST_TEST(keys == (std::vector<key>{3, 1, 2}));
}

BOOST_AUTO_TEST_SUITE_END()
