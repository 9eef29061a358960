// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The key types of the sort tests, the key of a rank, and the orders of keys.

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "quicksort/distributions.hpp"

#if defined(__CUDACC__)
#define TESTS_HOST_DEVICE __host__ __device__
#else
#define TESTS_HOST_DEVICE
#endif

namespace tests {

/// A key of 16 bytes, ordered by two fields of different types, in different directions.
struct particle {
  float mass;
  std::uint32_t id;
  std::int64_t cell;
};

struct by_cell_then_mass {
  TESTS_HOST_DEVICE bool operator()(const particle& a, const particle& b) const {
    if (a.cell != b.cell) return a.cell < b.cell;
    return a.mass > b.mass;
  }
};

/// The record of the sort benchmarks: a key of 10 bytes, then 90 bytes of payload; alignment 1.
struct record {
  std::array<unsigned char, 10> key;
  std::array<unsigned char, 90> payload;
};
static_assert(sizeof(record) == 100 && alignof(record) == 1);

struct by_key_bytes {
  TESTS_HOST_DEVICE bool operator()(const record& a, const record& b) const {
    for (int i = 0; i < 10; ++i) {
      // Not std::array's operator[]: device code cannot call it.
      const unsigned char x = reinterpret_cast<const unsigned char*>(&a)[i];
      const unsigned char y = reinterpret_cast<const unsigned char*>(&b)[i];
      if (x != y) return x < y;
    }
    return false;
  }
};

/// A key of the largest size allowed. A leaf holds few of them, so that a small input has many
/// levels.
struct alignas(16) page {
  std::uint32_t key;
  std::uint32_t payload[255];
};
static_assert(sizeof(page) == 1024);

struct by_page_key {
  TESTS_HOST_DEVICE bool operator()(const page& a, const page& b) const { return a.key < b.key; }
};

/// Ascending order on the host, independent of the library's code. NaN follows all numbers.
struct host_ascending {
  template <class T>
  bool operator()(const T& a, const T& b) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(a)) return false;
      if (std::isnan(b)) return true;
    }
    return a < b;
  }
};

template <class Key>
struct order_of {
  using type = host_ascending;
};
template <>
struct order_of<particle> {
  using type = by_cell_then_mass;
};
template <>
struct order_of<record> {
  using type = by_key_bytes;
};
template <>
struct order_of<page> {
  using type = by_page_key;
};

/// Returns the key of a rank. A greater rank never gives a smaller key. `index` is stored where it
/// does not affect the order.
template <class Key>
Key make_key(std::uint32_t rank, std::size_t index) {
  Key key{};
  if constexpr (std::is_same_v<Key, particle>) {
    // 256 ranks share a cell, in which the mass decreases with the rank.
    key = {-static_cast<float>(rank % 256), static_cast<std::uint32_t>(index),
           static_cast<std::int64_t>(rank / 256) - (std::int64_t{1} << 23)};
  } else if constexpr (std::is_same_v<Key, record>) {
    for (int i = 0; i < 4; ++i) {
      key.key[static_cast<std::size_t>(3 + i)] = static_cast<unsigned char>(rank >> (24 - 8 * i));
    }
    std::memcpy(key.payload.data(), &index, sizeof index);
    key.payload.back() = static_cast<unsigned char>(index);
  } else if constexpr (std::is_same_v<Key, page>) {
    key.key = rank;
    key.payload[200] = static_cast<std::uint32_t>(index);
  } else {
    key = common::number_of_rank<Key>(rank);
  }
  return key;
}

}  // namespace tests
