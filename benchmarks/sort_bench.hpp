// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// One input of one kind of key on the device, and the sorts that are timed on it. Behind virtual
/// functions, so that each kind of key is compiled in a file of its own.

#include <cstdint>
#include <memory>
#include <ramify/quicksort/config.hpp>
#include <string_view>

#include "measure.hpp"
#include "sort_keys.hpp"

namespace benchmark {

/// Kinds of keys, with an order each.
enum class key_kind { u32, u64, f32, f64, record16, u32_own_order };

[[nodiscard]] constexpr std::string_view to_string(key_kind k) {
  switch (k) {
    case key_kind::u32: return "u32";
    case key_kind::u64: return "u64";
    case key_kind::f32: return "f32";
    case key_kind::f64: return "f64";
    case key_kind::record16: return "16-byte record by its key";
    case key_kind::u32_own_order: return "u32, even first, falling";
  }
  return "?";
}

/// Every time is the device's, between events around the call, after two calls to warm up; scratch
/// memory is there before. Each call, the first two too, gets the input anew, and what it leaves is
/// looked at: a wrong result is a std::runtime_error, and no time.
class sort_bench {
 public:
  virtual ~sort_bench() = default;

  /// What is sorted from now on.
  virtual void choose(distribution how) = 0;
  /// From the keys to a second array.
  virtual timing time_of_copy(int repeats) = 0;
  virtual timing time_of_merge_sort(int repeats) = 0;
  /// Not for records or an order of the user's. \throws std::logic_error
  virtual timing time_of_radix_sort(int repeats) = 0;
  /// `*report` is that of the last call.
  virtual timing time_of_quicksort(const ramify::quicksort_config& config, int repeats,
                                   ramify::quicksort_report* report) = 0;
};

/// A bench for n keys. Device memory: 2 n keys and a few per cent.
template <key_kind kind>
std::unique_ptr<sort_bench> make_sort_bench(std::uint32_t n);

}  // namespace benchmark
