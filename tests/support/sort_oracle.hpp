// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Whether a sort did what std::sort would have done.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace tests {

/// Knows an input, and what std::sort makes of it.
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

  /// Empty if `output` is the input in order, else what is wrong: each key must be equivalent to
  /// the one that std::sort puts there, and the keys must be those of the input, bit by bit. (Equal
  /// keys need not be the same: -0.0 and 0.0, or records that differ in their payload.)
  [[nodiscard]] std::string check(const std::vector<Key>& output) const {
    if (output.size() != expected_.size()) return "the size has changed";
    for (std::size_t i = 0; i < output.size(); ++i) {
      if (before_(expected_[i], output[i]) || before_(output[i], expected_[i])) {
        return "key " + std::to_string(i) + " is not what std::sort puts there";
      }
    }
    if (fingerprint(output) != fingerprint_) return "a key was lost or made up";
    return {};
  }

  /// The same for pairs whose values were 0, 1, 2, ... before the sort.
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
      if (seen[from]) return "a value was lost or made up";
      seen[from] = true;
    }
    return {};
  }

 private:
  /// A number that depends on which keys there are, and not on their order.
  static std::uint64_t fingerprint(const std::vector<Key>& keys) {
    std::uint64_t sum = 0;
    for (const Key& key : keys) {
      std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a, then mixed so that sums tell keys apart
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

template <class Value>
std::vector<Value> count_up(std::size_t n) {
  std::vector<Value> values(n);
  std::iota(values.begin(), values.end(), Value{0});
  return values;
}

}  // namespace tests
