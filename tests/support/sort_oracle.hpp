// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Compares the result of a sort with that of std::sort.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace tests {

/// An input, and the result of std::sort for it.
template <class Key, class Compare>
class sort_oracle {
 public:
  explicit sort_oracle(std::vector<Key> input, Compare before = {})
      : input_(std::move(input)),
        expected_(input_),
        fingerprint_(fingerprint(input_)),
        before_(before) {
    std::sort(expected_.begin(), expected_.end(), before_);
  }

  [[nodiscard]] const std::vector<Key>& input() const { return input_; }

  /// Returns an empty string if `output` is the sorted input, else the fault. Each key must be
  /// equivalent to that of std::sort, and the keys must be those of the input, bit by bit.
  /// (Equivalent keys may have different bits: -0.0 and 0.0, or records with different payloads.)
  [[nodiscard]] std::string check(const std::vector<Key>& output) const {
    if (output.size() != expected_.size()) return "the size has changed";
    for (std::size_t i = 0; i < output.size(); ++i) {
      if (before_(expected_[i], output[i]) || before_(output[i], expected_[i])) {
        return "key " + std::to_string(i) + " is not that of std::sort";
      }
    }
    if (fingerprint(output) != fingerprint_) return "a key was lost or added";
    return {};
  }

  /// Checks pairs whose values were 0, 1, 2, ... before the sort.
  template <class Value>
  [[nodiscard]] std::string check(const std::vector<Key>& keys,
                                  const std::vector<Value>& values) const {
    std::string fault = check(keys);
    if (!fault.empty()) return fault;
    std::vector<bool> seen(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto from = static_cast<std::size_t>(values[i]);
      if (from >= input_.size() || std::memcmp(&keys[i], &input_[from], sizeof(Key)) != 0) {
        return "value " + std::to_string(i) + " is not with its key";
      }
      if (seen[from]) return "a value was lost or added";
      seen[from] = true;
    }
    return {};
  }

 private:
  /// Returns a hash of the keys that does not depend on their order.
  static std::uint64_t fingerprint(const std::vector<Key>& keys) {
    std::uint64_t sum = 0;
    for (const Key& key : keys) {
      std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a, then mixed, so that sums differ
      unsigned char bytes[sizeof(Key)];
      std::memcpy(bytes, &key, sizeof(Key));
      for (const unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001b3u;
      hash ^= hash >> 31;
      sum += hash * 0x9e3779b97f4a7c15u;
    }
    return sum;
  }

  std::vector<Key> input_;
  std::vector<Key> expected_;
  std::uint64_t fingerprint_;
  Compare before_;
};

/// Returns 0, 1, 2, ..., n - 1.
template <class Value>
std::vector<Value> count_up(std::size_t n) {
  std::vector<Value> values(n);
  std::iota(values.begin(), values.end(), Value{0});
  return values;
}

}  // namespace tests
