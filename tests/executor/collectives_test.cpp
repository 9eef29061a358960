// SPDX-License-Identifier: BSD-3-Clause
// CUB's collectives on the executor: scans, reductions and sorts of warps and blocks.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <numeric>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/collectives.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/stream.cuh>
#include <vector>

#include "schedules.hpp"

using namespace ramify;
namespace data = boost::unit_test::data;

namespace collective_kernels {

struct sort_failed {};
__global__ void sort_with_failing_comparison() {
  using sort = block_merge_sort<int, 32, 1>;
  __shared__ sort::TempStorage storage;
  int key[1] = {static_cast<int>(threadIdx.x)};
  sort(storage).Sort(key, [](int, int) -> bool { throw sort_failed(); });
}

__global__ void scan_block(unsigned* data, unsigned* total) {
  using scan = block_scan<unsigned, 96>;
  __shared__ scan::TempStorage storage;
  unsigned before = 0;
  unsigned sum = 0;
  scan(storage).ExclusiveSum(data[threadIdx.x], before, sum);
  data[threadIdx.x] = before;
  if (threadIdx.x == 0) *total = sum;
}

__global__ void scan_warps(unsigned* data, unsigned* totals) {
  using scan = warp_scan<unsigned>;
  __shared__ scan::TempStorage storage[2];
  unsigned before = 0;
  unsigned sum = 0;
  scan(storage[threadIdx.x / 32]).ExclusiveSum(data[threadIdx.x], before, sum);
  data[threadIdx.x] = before;
  totals[threadIdx.x] = sum;
}

// Appends the digits to a decimal number. The operator is not commutative, so the result shows the
// order of the threads.
__global__ void reduce_block(const unsigned* digits, unsigned long long* number, int valid) {
  using reduce = block_reduce<unsigned long long, 32>;
  __shared__ reduce::TempStorage storage;
  const auto join = [](unsigned long long a, unsigned long long b) { return a * 10 + b; };
  const unsigned long long joined = reduce(storage).Reduce(digits[threadIdx.x], join, valid);
  if (threadIdx.x == 0) *number = joined;
}

__global__ void sort_block(int* keys, char* values, int valid) {
  using sort = block_merge_sort<int, 32, 4, char>;
  __shared__ sort::TempStorage storage;
  int k[4];
  char v[4];
  for (int i = 0; i < 4; ++i) {
    k[i] = keys[threadIdx.x * 4 + i];
    v[i] = values[threadIdx.x * 4 + i];
  }
  sort(storage).Sort(
      k, v, [](int a, int b) { return a < b; }, valid, k[0]);
  for (int i = 0; i < 4; ++i) {
    keys[threadIdx.x * 4 + i] = k[i];
    values[threadIdx.x * 4 + i] = v[i];
  }
}

}  // namespace collective_kernels

BOOST_AUTO_TEST_SUITE(collectives)

BOOST_AUTO_TEST_CASE(a_warp_scan_sums_its_own_lanes) {
  std::vector<unsigned> data(64);
  std::vector<unsigned> totals(64);
  std::iota(data.begin(), data.end(), 1u);
  BOOST_REQUIRE(bool(
      launch(collective_kernels::scan_warps, {1, 64}, null_stream(), data.data(), totals.data())));
  for (unsigned i = 0; i < 64; ++i) {
    const unsigned lane = i % 32;
    const unsigned first = i - lane + 1;
    BOOST_TEST(data[i] == lane * first + lane * (lane - 1) / 2);
    BOOST_TEST(totals[i] == 32 * first + 31 * 16);
  }
}

BOOST_AUTO_TEST_CASE(a_block_reduction_keeps_the_order_of_the_threads) {
  std::vector<unsigned> digits(32);
  for (unsigned i = 0; i < 32; ++i) digits[i] = (i + 1) % 10;
  unsigned long long number = 0;
  BOOST_REQUIRE(bool(launch(collective_kernels::reduce_block, {1, 32}, null_stream(), digits.data(),
                            &number, 12)));
  BOOST_TEST(number == 123456789012ull);
}

BOOST_DATA_TEST_CASE(an_exception_in_a_collective_reaches_the_host,
                     data::make(tests::main_schedules), s) {
  const cpu::scoped_executor_config config(cpu::parse_executor_config(s));
  BOOST_CHECK_THROW(static_cast<void>(launch(collective_kernels::sort_with_failing_comparison,
                                             {1, 32}, null_stream())),
                    collective_kernels::sort_failed);
}

BOOST_AUTO_TEST_CASE(a_block_scans) {
  std::vector<unsigned> values(96);
  std::iota(values.begin(), values.end(), 1u);
  unsigned total = 0;
  BOOST_REQUIRE(
      bool(launch(collective_kernels::scan_block, {1, 96}, null_stream(), values.data(), &total)));
  BOOST_TEST(total == 96u * 97 / 2);
  for (unsigned i = 0; i < 96; ++i) BOOST_TEST(values[i] == i * (i + 1) / 2);
}

BOOST_AUTO_TEST_CASE(a_block_sorts_stably) {
  std::vector<int> keys(128);
  std::vector<char> values(128);
  for (int i = 0; i < 128; ++i) {
    keys[std::size_t(i)] = i * 37 % 10;
    values[std::size_t(i)] = char(i);
  }
  BOOST_REQUIRE(bool(launch(collective_kernels::sort_block, {1, 32}, null_stream(), keys.data(),
                            values.data(), 101)));
  for (std::size_t i = 1; i < 101; ++i) {
    BOOST_TEST(keys[i - 1] <= keys[i]);
    if (keys[i - 1] == keys[i]) BOOST_TEST(values[i - 1] < values[i]);
    BOOST_TEST(keys[i] == int(values[i]) * 37 % 10);
  }
}

BOOST_AUTO_TEST_SUITE_END()
