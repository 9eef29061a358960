// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// One input of one kind of key on the device, and the sorts that are timed on it. The functions
/// are virtual, so that each kind of key is compiled in a file of its own.

#include <cstdint>
#include <memory>
#include <ramify/quicksort/config.hpp>
#include <string_view>

#include "measure.hpp"
#include "quicksort_keys.hpp"

namespace benchmark {

/// Kinds of keys, each with an order.
enum class key_kind { u32, u64, f32, f64, u32_pair, f64_pair, record16, u32_own_order };

[[nodiscard]] constexpr std::string_view to_string(key_kind k) {
  switch (k) {
    case key_kind::u32: return "u32";
    case key_kind::u64: return "u64";
    case key_kind::f32: return "f32";
    case key_kind::f64: return "f64";
    case key_kind::u32_pair: return "u32, u32 value";
    case key_kind::f64_pair: return "f64, u32 value";
    case key_kind::record16: return "16-byte record by its key";
    case key_kind::u32_own_order: return "u32, even first, falling";
  }
  return "?";
}

/// All times are measured on the device, between events around the call, after two warm-up calls.
/// Scratch memory is allocated before. Each call sorts a new copy of the input, and each result is
/// checked: a wrong one throws std::runtime_error.
class quicksort_bench {
 public:
  virtual ~quicksort_bench() = default;

  /// Chooses the input of all later calls.
  virtual void choose(distribution how) = 0;
  /// Times a copy of the elements to a second array.
  virtual timing time_of_copy(int repeats) = 0;
  virtual timing time_of_merge_sort(int repeats) = 0;
  /// Times a radix sort of numbers in their natural order: the faster one of the two forms that
  /// CUB has, with a number of keys of 32 bits and of 64 bits. \throws std::logic_error for other
  /// keys
  virtual timing time_of_radix_sort(int repeats) = 0;
  /// Times a quicksort, and stores the report of the last call in `*report`.
  virtual timing time_of_quicksort(ramify::quicksort_strategy strategy, ramify::route route,
                                   int repeats, ramify::quicksort_report* report) = 0;
};

/// Returns a bench for n elements. It takes device memory for 2 n elements and a few per cent.
template <key_kind kind>
std::unique_ptr<quicksort_bench> make_quicksort_bench(std::uint32_t n);

}  // namespace benchmark
