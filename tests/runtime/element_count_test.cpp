// SPDX-License-Identifier: BSD-3-Clause
// Numbers of elements that only the device has, as kernels read them.
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <ramify/runtime/detail/element_count.cuh>
#include <ramify/runtime/launch.cuh>
#include <stdexcept>

#include "counts_on_device.cuh"
#include "device_vectors.cuh"

using namespace tests;
using ramify::detail::counted_elements;
using ramify::detail::element_count;

namespace {

/// Returns a number as read_count() reads it.
counted_elements read(const element_count& count) {
  const ramify::device_buffer<counted_elements> read(1, nullptr);
  ramify::check(ramify::launch(ramify::detail::read_count<element_count>, {1, 1}, nullptr, count,
                               read.data(), ramify::trace_ticket{})
                    .code(),
                "reading a number");
  return ramify::read_back(read.data(), nullptr, "reading a number");
}

/// Checks that a number in device memory is `raw`, and that a call processes n elements.
template <class Integer>
void check_number(Integer number, std::size_t bound, std::uint64_t raw, std::uint64_t n) {
  const device_number<Integer> written(number);
  const counted_elements found = read(element_count(written.up_to(bound)));
  BOOST_TEST(found.raw == raw);
  BOOST_TEST(found.n == n);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(numbers_of_elements)

BOOST_AUTO_TEST_CASE(numbers_up_to_the_bound) {
  check_number<std::int32_t>(0, 10, 0, 0);
  check_number<std::int32_t>(10, 10, 10, 10);
  check_number<std::uint32_t>(0xffffffff, std::size_t{1} << 33, 0xffffffff, 0xffffffff);
  check_number<std::int64_t>(std::int64_t{1} << 40, std::size_t{1} << 40, 1ull << 40, 1ull << 40);
  check_number<std::uint64_t>(7, 8, 7, 7);
  const counted_elements of_host = read(element_count(12));
  BOOST_TEST(of_host.raw == 12u);
  BOOST_TEST(of_host.n == 12u);
}

BOOST_AUTO_TEST_CASE(numbers_above_the_bound) {
  check_number<std::int32_t>(11, 10, 11, 0);
  check_number<std::uint64_t>(~std::uint64_t{0}, 10, ~std::uint64_t{0}, 0);
  // A negative number of 4 bytes exceeds each bound, also one above 2^32.
  check_number<std::int32_t>(-1, std::size_t{1} << 33, ~std::uint64_t{0}, 0);
  check_number<std::int64_t>(-5, 10, ~std::uint64_t{0} - 4, 0);
}

BOOST_AUTO_TEST_CASE(messages_name_both_numbers) {
  const auto check = [](const ramify::device_count& count, std::uint64_t raw) {
    element_count(count).check("call", raw);
  };
  const device_number<std::int32_t> is_signed;
  const device_number<std::uint64_t> is_unsigned;
  BOOST_CHECK_NO_THROW(check(is_signed.up_to(10), 10));
  BOOST_CHECK_EXCEPTION(check(is_signed.up_to(10), ~std::uint64_t{0}), std::length_error,
                        names("call: the number of elements in device memory is -1; its upper "
                              "bound is 10"));
  BOOST_CHECK_EXCEPTION(check(is_unsigned.up_to(10), ~std::uint64_t{0}), std::length_error,
                        names("is 18446744073709551615; its"));
}

BOOST_AUTO_TEST_SUITE_END()
