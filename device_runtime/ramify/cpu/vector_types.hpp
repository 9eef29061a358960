// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// CUDA's vector types (char1 to double4) and dim3, with CUDA's sizes and alignments.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ramify/version.hpp>

namespace ramify::cpu::builtins::inline RAMIFY_ABI {

// The types name1 to name4 of element type T, and make_name1() to make_name4(). A vector of two or
// four elements is aligned to its size, but to 16 bytes at most.
#define RAMIFY_VECTOR_TYPES(name, T)                                                  \
  struct name##1 {                                                                    \
    T x;                                                                              \
  };                                                                                  \
  struct alignas(std::min<std::size_t>(2 * sizeof(T), 16)) name##2 {                  \
    T x, y;                                                                           \
  };                                                                                  \
  struct name##3 {                                                                    \
    T x, y, z;                                                                        \
  };                                                                                  \
  struct alignas(std::min<std::size_t>(4 * sizeof(T), 16)) name##4 {                  \
    T x, y, z, w;                                                                     \
  };                                                                                  \
  [[nodiscard]] constexpr name##1 make_##name##1(T x) { return {x}; }                 \
  [[nodiscard]] constexpr name##2 make_##name##2(T x, T y) { return {x, y}; }         \
  [[nodiscard]] constexpr name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  [[nodiscard]] constexpr name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

RAMIFY_VECTOR_TYPES(char, signed char)
RAMIFY_VECTOR_TYPES(uchar, unsigned char)
RAMIFY_VECTOR_TYPES(short, short)
RAMIFY_VECTOR_TYPES(ushort, unsigned short)
RAMIFY_VECTOR_TYPES(int, int)
RAMIFY_VECTOR_TYPES(uint, unsigned)
RAMIFY_VECTOR_TYPES(long, long)
RAMIFY_VECTOR_TYPES(ulong, unsigned long)
RAMIFY_VECTOR_TYPES(longlong, long long)
RAMIFY_VECTOR_TYPES(ulonglong, unsigned long long)
RAMIFY_VECTOR_TYPES(float, float)
RAMIFY_VECTOR_TYPES(double, double)

#undef RAMIFY_VECTOR_TYPES

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned along_x = 1, unsigned along_y = 1, unsigned along_z = 1)
      : x(along_x), y(along_y), z(along_z) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
  [[nodiscard]] constexpr std::uint64_t volume() const { return std::uint64_t{x} * y * z; }
};

}  // namespace ramify::cpu::builtins::inline RAMIFY_ABI
