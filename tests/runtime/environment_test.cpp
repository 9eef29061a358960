// SPDX-License-Identifier: BSD-3-Clause
// The environment of a call, the memory that it refers to, and the run that an _async function
// returns.
#include <array>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <ramify/runtime/detail/started_run.cuh>
#include <ramify/runtime/environment.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "exceptions.hpp"
#include "memory_resources.cuh"

using namespace ramify;
using tests::names;
using tests::older_resource;
using tests::resource;

namespace {

/// An object with a stream, as cuda::stream_ref is one.
struct stream_owner {
  cudaStream_t stream;
  [[nodiscard]] cudaStream_t get() const { return stream; }
};

struct counting_report : run_report {
  unsigned calls = 0;
};

/// A run whose get() fails `failures` times.
struct counting_run final : detail::started_run<counting_report> {
  counting_run(const detail::run_setup& setup, unsigned failures_before)
      : started_run(setup), failures(failures_before) {}
  counting_report finish() override {
    ++calls;
    if (failures > 0) {
      --failures;
      throw std::runtime_error("get() fails");
    }
    counting_report report;
    report.calls = calls;
    return report;
  }
  unsigned failures;
  unsigned calls = 0;
};

/// A run that a graph has captured. get() returns the number of its calls.
struct captured_run final : detail::runtime::pending_run<int> {
  captured_run() : pending_run("captured", true) {}
  void settle() noexcept override {}
  int get() override { return ++calls; }
  int calls = 0;
};

async_run<counting_report> start(const environment& env, unsigned failures = 0) {
  const detail::run_setup setup("counting", env);
  return std::make_unique<counting_run>(setup, failures);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(environments)

BOOST_AUTO_TEST_CASE(a_stream_is_a_handle_or_has_one) {
  BOOST_TEST(stream_ref().as<void*>() == nullptr);
  BOOST_TEST(stream_ref(nullptr).as<void*>() == nullptr);
  const host_stream stream;
  BOOST_TEST(stream_ref(stream).as<cudaStream_t>() == stream.get());
  BOOST_TEST(stream_ref(stream.get()).as<cudaStream_t>() == stream.get());
  BOOST_TEST(stream_ref(stream_owner{stream.get()}).as<cudaStream_t>() == stream.get());
  BOOST_TEST(stream_ref(stream).is_cuda() == bool(RAMIFY_ON_CUDA));
  BOOST_TEST(stream_ref(stream).is_cpu() == !RAMIFY_ON_CUDA);
  BOOST_TEST(!stream_ref(nullptr).is_cuda());
  BOOST_TEST(!stream_ref(nullptr).is_cpu());
}

BOOST_AUTO_TEST_CASE(memory_is_a_span_a_buffer_or_a_resource) {
  BOOST_TEST(memory_ref().empty());
  BOOST_TEST(!memory_ref().is_resource());
  alignas(256) std::array<std::byte, 512> bytes{};
  const memory_ref of_span = std::span(bytes);
  BOOST_TEST(of_span.data() == bytes.data());
  BOOST_TEST(of_span.bytes() == 512u);
  const device_buffer<std::byte> buffer(300, nullptr);
  const memory_ref of_buffer = buffer;
  BOOST_TEST(of_buffer.data() == buffer.data());
  BOOST_TEST(of_buffer.bytes() == 300u);
  resource pool;
  BOOST_TEST(memory_ref(pool).is_resource());
  BOOST_TEST(!memory_ref(pool).empty());
  BOOST_TEST(memory_ref(pool).data() == nullptr);
}

BOOST_AUTO_TEST_CASE(scratch_memory_comes_from_a_resource_in_stream_order) {
  const host_stream stream;
  const auto check_resource = [&](auto& pool) {
    {
      const scratch_space scratch(pool, 1000, stream.get(), "test");
      BOOST_TEST(scratch.data() == pool.memory.data());
      BOOST_TEST(scratch.size() == 1000u);
      BOOST_TEST(pool.live_bytes == 1000u);
      BOOST_TEST(pool.largest_alignment == 256u);
      BOOST_TEST(pool.stream == stream_ref(stream).as<CUstream_st*>());
    }
    BOOST_TEST(pool.live_bytes == 0u);
    BOOST_TEST(pool.allocations == 1u);
    BOOST_CHECK_THROW(scratch_space(pool, std::size_t{1} << 40, stream.get(), "test"),
                      std::bad_alloc);
    BOOST_TEST(pool.live_bytes == 0u);
  };
  resource pool;
  check_resource(pool);
  older_resource older;
  check_resource(older);
}

BOOST_AUTO_TEST_CASE(memory_that_is_too_small_or_misaligned_is_refused) {
  const device_buffer<std::byte> buffer(512, nullptr);
  BOOST_CHECK_EXCEPTION(scratch_space(buffer, 513, nullptr, "test"), std::invalid_argument,
                        names("test: environment.memory has 512 bytes; this run needs 513"));
  BOOST_CHECK_EXCEPTION(scratch_space({buffer.data() + 8, 504}, 504, nullptr, "test"),
                        std::invalid_argument,
                        names("test: environment.memory must be aligned to 256 bytes"));
  BOOST_TEST(scratch_space(buffer, 512, nullptr, "test").data() == buffer.data());
}

BOOST_AUTO_TEST_CASE(bad_fields_are_named) {
  BOOST_CHECK_EXCEPTION((void)start({.route = route(7)}), std::invalid_argument,
                        names("environment.route is none"));
  BOOST_CHECK_EXCEPTION((void)start({.flat_loop = flat_loop(7)}), std::invalid_argument,
                        names("environment.flat_loop is none"));
  BOOST_CHECK_EXCEPTION((void)start({.backend = backend(7)}), std::invalid_argument,
                        names("environment.backend is none"));
  constexpr backend here = RAMIFY_ON_CUDA ? backend::cuda : backend::cpu;
  constexpr backend other = RAMIFY_ON_CUDA ? backend::cpu : backend::cuda;
  BOOST_CHECK_EXCEPTION((void)start({.backend = other}), unavailable,
                        names("counting: environment.backend is "));
  BOOST_CHECK_NO_THROW((void)start({.backend = here}).get());
#if !RAMIFY_ON_CUDA
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  auto* const of_cuda = reinterpret_cast<CUstream_st*>(std::uintptr_t{1});
  BOOST_CHECK_EXCEPTION((void)start({.stream = of_cuda}), std::invalid_argument,
                        names("counting: environment.stream is a stream of another backend"));
#endif
}

BOOST_AUTO_TEST_CASE(a_limit_is_in_force_until_the_end_of_get) {
  const std::size_t before = current_pending_launch_limit();
  {
    auto run = start({.pending_launches = 100});
    BOOST_TEST(current_pending_launch_limit() == 100u);
    (void)run.get();
    BOOST_TEST(current_pending_launch_limit() == before);
  }
  { const auto dropped = start({.pending_launches = 100}); }
  BOOST_TEST(current_pending_launch_limit() == before);
}

BOOST_AUTO_TEST_CASE(get_returns_once) {
  auto run = start({}, 2);
  BOOST_CHECK_EXCEPTION((void)run.get(), std::runtime_error, names("get() fails"));
  BOOST_CHECK_EXCEPTION((void)run.get(), std::runtime_error, names("get() fails"));
  auto moved = std::move(run);
  // NOLINTNEXTLINE(bugprone-use-after-move)
  BOOST_CHECK_EXCEPTION((void)run.get(), std::logic_error,
                        names("counting: get() of a moved-from run"));
  BOOST_TEST(moved.get().calls == 3u);
  for (int again = 0; again < 2; ++again) {
    BOOST_CHECK_EXCEPTION((void)moved.get(), std::logic_error,
                          names("counting: get() was called before"));
  }
  static_cast<void>(moved = start({}));
  static_cast<void>(run = std::move(moved));
  BOOST_TEST(run.get().calls == 1u);
}

BOOST_AUTO_TEST_CASE(get_of_a_captured_run_may_be_called_again) {
  async_run<int> run = std::make_unique<captured_run>();
  for (int launches = 1; launches <= 3; ++launches) BOOST_TEST(run.get() == launches);
  auto moved = std::move(run);
  // NOLINTNEXTLINE(bugprone-use-after-move)
  BOOST_CHECK_EXCEPTION((void)run.get(), std::logic_error,
                        names("captured: get() of a moved-from run"));
  BOOST_TEST(moved.get() == 4);
}

BOOST_AUTO_TEST_SUITE_END()
