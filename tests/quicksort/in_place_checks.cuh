// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Checks that the tests of sorts without a second array share. The sources have different types of
// keys, so that each takes nvcc a minute or two.
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <ramify/quicksort_in_place.cuh>
#include <vector>

#include "quicksort_checks.cuh"

namespace tests {

/// Returns a number of elements of which a second copy does not fit in the scratch memory.
template <class Key>
[[nodiscard]] std::size_t many() {
  const std::size_t bytes = RAMIFY_ON_CUDA ? std::size_t{17} << 20 : std::size_t{280} << 10;
  return bytes / sizeof(Key);
}

template <class Key>
[[nodiscard]] std::size_t memory_for(std::size_t n) {
  return ramify::quicksort_in_place_scratch_bytes<Key, ramify::no_value, device_order<Key>>(n);
}

/// Sorts keys, then the same keys with values, and checks both results.
template <class Key>
void expect_sorted_in_place(const oracle<Key>& input, const ramify::environment& env = {}) {
  const std::size_t n = input.input().size();
  BOOST_TEST_CONTEXT(sizeof(Key) << " bytes, n = " << n) {
    const auto keys = upload(input.input());
#if !RAMIFY_ON_CUDA
    const std::uint64_t grids_before = ramify::cpu::grids_begun();
#endif
    const ramify::quicksort_report report =
        ramify::quicksort_in_place(keys.data(), n, device_order<Key>{}, env);
#if !RAMIFY_ON_CUDA
    const std::uint64_t grids = ramify::cpu::grids_begun() - grids_before;
    BOOST_TEST(report.host_grids + report.child_grids == grids);
#endif
    std::vector<Key> sorted(n);
    download(keys, sorted);
    BOOST_TEST(input.check(sorted) == "");
    BOOST_TEST(report.keys == n);
    BOOST_TEST(report.scratch_bytes == memory_for<Key>(n));
    BOOST_TEST(report.merge_sorted_segments == 0u);

    const auto again = upload(input.input());
    auto values = count_up<std::uint32_t>(n);
    const auto on_device = upload(values);
    (void)ramify::quicksort_pairs_in_place(again.data(), on_device.data(), n, device_order<Key>{},
                                           env);
    download(again, sorted);
    download(on_device, values);
    BOOST_TEST(input.check(sorted, values) == "");
    BOOST_TEST(slots_left_in_use() == 0u);
  }
}

}  // namespace tests
