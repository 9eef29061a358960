// SPDX-License-Identifier: BSD-3-Clause
// The fibers of the executor: which threads share a stack, and their floating-point modes.
#include <array>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cfenv>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/stream.cuh>
#include <set>
#include <thread>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "schedules.hpp"

using namespace ramify;
namespace data = boost::unit_test::data;

namespace fiber_kernels {

// The frame of a thread that waits must not be used by another thread.
__global__ void note_frame(const void** frames, bool waits) {
  frames[threadIdx.x] = __builtin_frame_address(0);
  if (waits) __syncthreads();
}

#if defined(__x86_64__)
// Quotients that the default modes round up.
struct tenths {
  double sse;
  long double x87;
  bool operator==(const tenths&) const = default;
};
tenths divide_by_ten() {
  volatile double one = 1;  // the compiler must not compute or move the divisions
  volatile long double wide_one = 1;
  return {one / 10, wide_one / 10};
}

void round_down() { std::fesetround(FE_DOWNWARD); }
void round_sse_down() { _MM_SET_ROUNDING_MODE(_MM_ROUND_DOWN); }
void round_x87_down() {
  const unsigned short word = 0x77f;
  asm volatile("fldcw %0" ::"m"(word));
}

// The threads with an even index change their modes.
__global__ void note_modes(tenths* at_start, tenths* after_barrier, void (*change_modes)()) {
  at_start[threadIdx.x] = divide_by_ten();
  if (threadIdx.x % 2 == 0) change_modes();
  if (after_barrier == nullptr) return;
  __syncthreads();
  after_barrier[threadIdx.x] = divide_by_ten();
}
#endif

}  // namespace fiber_kernels

BOOST_AUTO_TEST_SUITE(fibers)

BOOST_AUTO_TEST_CASE(threads_that_do_not_wait_share_a_stack) {
  const void* frames[64];
  const auto different = [&](bool waits) {
    BOOST_REQUIRE(
        bool(launch(fiber_kernels::note_frame, {1, 64}, null_stream(), &frames[0], waits)));
    return std::set<const void*>(std::begin(frames), std::end(frames)).size();
  };
  BOOST_TEST(different(false) == 1u);
  BOOST_TEST(different(true) == 64u);
}

#if defined(__x86_64__)
// The host and half of the threads change their modes. No other thread may run with those.
BOOST_DATA_TEST_CASE(threads_start_with_the_default_floating_point_modes,
                     data::make(tests::main_schedules), s) {
  using namespace fiber_kernels;
  const cpu::scoped_executor_config config(cpu::parse_executor_config(s));
  constexpr unsigned threads = 40;
  constexpr tenths rounded_up{0.1, 0.1L};
  for (const auto change_modes : {round_down, round_sse_down, round_x87_down}) {
    std::array<tenths, threads> at_start{};
    std::array<tenths, threads> at_second_start{};
    std::array<tenths, threads> after_barrier{};
    tenths of_host{};
    tenths of_host_at_end{};
    bool launched = false;
    std::thread([&] {  // a new thread creates its fibers, with its modes
      change_modes();
      of_host = divide_by_ten();
      launched = launch(note_modes, {1, threads}, null_stream(), at_start.data(),
                        after_barrier.data(), change_modes) &&
                 launch(note_modes, {1, threads}, null_stream(), at_second_start.data(),
                        static_cast<tenths*>(nullptr), change_modes);
      of_host_at_end = divide_by_ten();
    })
        .join();
    BOOST_TEST(launched);
    BOOST_TEST((of_host != rounded_up));
    BOOST_TEST((of_host_at_end == of_host));
    for (unsigned t = 0; t < threads; ++t) {
      BOOST_TEST_CONTEXT("thread " << t) {
        BOOST_TEST((at_start[t] == rounded_up));
        BOOST_TEST((at_second_start[t] == rounded_up));
        BOOST_TEST((after_barrier[t] == (t % 2 == 0 ? of_host : rounded_up)));
      }
    }
  }
}
#endif

BOOST_AUTO_TEST_SUITE_END()
