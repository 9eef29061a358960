// SPDX-License-Identifier: BSD-3-Clause
// The codes by which floats and integers are compared.
#include <algorithm>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <limits>
#include <ramify/quicksort/order.cuh>
#include <random>
#include <vector>

namespace {

using bits = std::uint32_t;
using codes = ramify::detail::quicksort::number_codes<bits>;

/// Bits of floats of every kind, and of numbers at both ends.
std::vector<bits> all_kinds() {
  std::vector<bits> all;
  for (const bits sign : {0u, 0x80000000u}) {
    // Zero, the least and the greatest denormal, normal numbers, infinity, quiet and signaling
    // NaNs.
    for (const bits magnitude : {0u, 1u, 0x007fffffu, 0x00800000u, 0x3f800000u, 0x7f7fffffu,
                                 0x7f800000u, 0x7f800001u, 0x7fc00000u, 0x7fffffffu}) {
      all.push_back(sign | magnitude);
    }
  }
  std::mt19937 random(1);
  for (int i = 0; i < 1000; ++i) all.push_back(random());
  return all;
}

template <class Number>
void expect_order(bool down) {
  const codes c = codes::of<Number>(down);
  const auto comes_before = [&](bits a, bits b) {
    const auto first = std::bit_cast<Number>(down ? b : a);
    const auto second = std::bit_cast<Number>(down ? a : b);
    return ramify::ascending{}(first, second);
  };
  const std::vector<bits> all = all_kinds();
  for (const bits a : all) {
    BOOST_TEST(c.decode(c.encode(a)) == a);
    for (const bits b : all) {
      // A smaller number has a smaller code. Equal numbers (zeros, NaNs) may have different codes.
      if (comes_before(a, b)) BOOST_REQUIRE_LT(c.encode(a), c.encode(b));
    }
  }
}

// Numbers in the default orders need no checks of merges. A user's comparator may be inconsistent.
struct with_own_less {
  double number;
  bool operator<(const with_own_less& other) const { return number < other.number; }
};
struct by_remainder {
  bool operator()(int a, int b) const { return a % 3 < b % 3; }
};
static_assert(ramify::detail::quicksort::sort_order<int, ramify::ascending>::known_strict_weak);
static_assert(ramify::detail::quicksort::sort_order<float, ramify::descending>::known_strict_weak);
static_assert(ramify::detail::quicksort::sort_order<bits, codes>::known_strict_weak);
static_assert(
    !ramify::detail::quicksort::sort_order<with_own_less, ramify::ascending>::known_strict_weak);
static_assert(!ramify::detail::quicksort::sort_order<int, by_remainder>::known_strict_weak);

}  // namespace

BOOST_AUTO_TEST_SUITE(order)

BOOST_AUTO_TEST_CASE(codes_are_ordered_like_the_numbers) {
  for (const bool down : {false, true}) {
    expect_order<float>(down);
    expect_order<std::int32_t>(down);
    expect_order<std::uint32_t>(down);
  }
}

BOOST_AUTO_TEST_CASE(codes_of_floats_as_documented) {
  const codes c = codes::of<float>(false);
  constexpr float inf = std::numeric_limits<float>::infinity();
  const auto code = [&](float number) { return c.encode(std::bit_cast<bits>(number)); };
  BOOST_TEST(code(-inf) == 0u);
  BOOST_TEST(code(-1.0f) == 0x40000000u);
  BOOST_TEST(code(-0.0f) == 0x7f800000u);
  BOOST_TEST(code(+0.0f) == 0x7f800001u);
  BOOST_TEST(code(inf) == 0xff000001u);
  for (const bits nan : {0x7f800001u, 0x7fffffffu, 0xff800001u, 0xffffffffu}) {
    BOOST_TEST(c.encode(nan) > code(inf));
  }
}

BOOST_AUTO_TEST_CASE(sixty_four_bits) {
  using wide = ramify::detail::quicksort::number_codes<std::uint64_t>;
  const wide up = wide::of<std::int64_t>(false);
  BOOST_TEST(up.encode(std::uint64_t{1} << 63) == 0u);
  BOOST_TEST(up.encode(0) == std::uint64_t{1} << 63);
  BOOST_TEST(wide::of<std::uint64_t>(true).encode(0) == ~std::uint64_t{0});
  const wide reals = wide::of<double>(false);
  const auto code = [&](double number) {
    return reals.encode(std::bit_cast<std::uint64_t>(number));
  };
  BOOST_TEST(code(-std::numeric_limits<double>::infinity()) == 0u);
  BOOST_TEST(code(-2.5) < code(-2.0));
  BOOST_TEST(code(2.0) < code(2.5));
  BOOST_TEST(reals.decode(code(-2.5)) == std::bit_cast<std::uint64_t>(-2.5));
  const wide down = wide::of<double>(true);
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const double falling[] = {nan, inf, 2.5, 0.0, -0.0, -2.5, -inf};
  for (std::size_t i = 0; i < std::size(falling); ++i) {
    const auto bits = std::bit_cast<std::uint64_t>(falling[i]);
    BOOST_TEST(down.decode(down.encode(bits)) == bits);
    if (i == 0) continue;
    const auto before = std::bit_cast<std::uint64_t>(falling[i - 1]);
    BOOST_TEST(down.encode(before) < down.encode(bits));
  }
  const auto minus_nan = std::bit_cast<std::uint64_t>(nan) | std::uint64_t{1} << 63;
  BOOST_TEST(down.encode(minus_nan) < down.encode(std::bit_cast<std::uint64_t>(inf)));
  BOOST_TEST(down.encode(std::bit_cast<std::uint64_t>(-inf)) == ~std::uint64_t{0});
}

BOOST_AUTO_TEST_SUITE_END()
