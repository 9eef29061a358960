// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Reader of the lengths of edges. It chooses a type that holds the numbers of a file.

#include <cstddef>
#include <cstdint>
#include <ramify/graph_file.hpp>
#include <ramify/version.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "text_file.hpp"

namespace ramify::detail::files::inline RAMIFY_ABI {

/// Reads lengths, which are at least 0. The type `automatic` becomes
///
///     float      if all lengths are whole numbers and all distances are exact in float: lengths or
///                their sum are small enough
///     integer    if all lengths are whole numbers
///     double     if a length has a fraction, which is rounded. Then all whole numbers must be
///                exact in double
class length_reader {
 public:
  explicit length_reader(length_type type) : type_(type) {}

  /// Adds the length that a word of a line states. \throws bad_input
  void add(const text_line& line, std::string_view word);
  /// Adds a length of 1.
  void add_one() { add_whole(1); }

  /// Returns the lengths of the edges of a graph of n vertices. \throws bad_input
  [[nodiscard]] graph_lengths finish(std::size_t n);
  /// Returns the number of lengths that the type, which the caller chose, changes. finish() counts
  /// them.
  [[nodiscard]] std::size_t rounded() const { return rounded_; }

 private:
  void add_whole(std::uint64_t length);
  void add_real(const text_line& line, double length);
  [[nodiscard]] bool is_exact_in_float(std::size_t n) const;
  [[nodiscard]] std::vector<float> in_float();

  length_type type_;
  bool is_whole_ = true;  ///< lengths are in `whole_`, else in `real_`
  std::vector<std::uint64_t> whole_{};
  std::vector<double> real_{};
  std::size_t rounded_ = 0;
  std::string not_exact_{};  ///< message about the first whole number that is not exact in double
};

}  // namespace ramify::detail::files::inline RAMIFY_ABI
