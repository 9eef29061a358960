// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// CUDA's integer, bit and fast floating-point intrinsics. They return the same bits as a GPU,
/// except the last group, which a GPU approximates.

// Unlike <cmath>, this header makes isfinite, isinf and isnan global names, as nvcc does.
#include <math.h>  // NOLINT(modernize-deprecated-headers, hicpp-deprecated-headers)

#include <bit>
#include <cmath>
#include <cstdint>
#include <ramify/version.hpp>

namespace ramify::cpu::builtins::inline RAMIFY_ABI {

// As in CUDA these are no templates, so that they are preferred to std::min() and std::max() after
// `using namespace std`.
#define RAMIFY_MIN_MAX(type)                                                 \
  [[nodiscard]] constexpr type min(type a, type b) { return b < a ? b : a; } \
  [[nodiscard]] constexpr type max(type a, type b) { return a < b ? b : a; }
RAMIFY_MIN_MAX(int)
RAMIFY_MIN_MAX(unsigned)
RAMIFY_MIN_MAX(long)
RAMIFY_MIN_MAX(unsigned long)
RAMIFY_MIN_MAX(long long)
RAMIFY_MIN_MAX(unsigned long long)
RAMIFY_MIN_MAX(float)
RAMIFY_MIN_MAX(double)
#undef RAMIFY_MIN_MAX

// ---- bits ----

[[nodiscard]] inline int __popc(unsigned v) { return __builtin_popcount(v); }
[[nodiscard]] inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
[[nodiscard]] inline int __ffs(int v) { return __builtin_ffs(v); }
[[nodiscard]] inline int __ffsll(long long v) { return __builtin_ffsll(v); }
[[nodiscard]] inline int __clz(int v) { return v == 0 ? 32 : __builtin_clz(unsigned(v)); }
[[nodiscard]] inline int __clzll(long long v) {
  return v == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(v));
}

/// Reverses the order of the bits.
[[nodiscard]] constexpr unsigned __brev(unsigned v) {
  unsigned reversed = 0;
  for (int bit = 0; bit < 32; ++bit) reversed |= (v >> bit & 1u) << (31 - bit);
  return reversed;
}
[[nodiscard]] constexpr unsigned long long __brevll(unsigned long long v) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(v))) << 32 |
         __brev(static_cast<unsigned>(v >> 32));
}

/// Shifts (high:low) left by `shift` mod 32 and returns the upper 32 bits.
[[nodiscard]] inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  const std::uint64_t both = std::uint64_t{high} << 32 | low;
  return static_cast<unsigned>(both << (shift & 31) >> 32);
}
/// Shifts (high:low) right by `shift` mod 32 and returns the lower 32 bits.
[[nodiscard]] inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  const std::uint64_t both = std::uint64_t{high} << 32 | low;
  return static_cast<unsigned>(both >> (shift & 31));
}

/// Returns four bytes of (y:x), each chosen by four bits of `selector`. Bit 3 of a choice copies
/// the byte's sign bit to all bits.
[[nodiscard]] constexpr unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const std::uint64_t bytes = std::uint64_t{y} << 32 | x;
  unsigned chosen = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned choice = selector >> 4 * i & 0xfu;
    unsigned byte = static_cast<unsigned>(bytes >> 8 * (choice & 7u)) & 0xffu;
    if ((choice & 8u) != 0) byte = (byte & 0x80u) != 0 ? 0xffu : 0;
    chosen |= byte << 8 * i;
  }
  return chosen;
}

// ---- the upper half of a product ----

[[nodiscard]] constexpr unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(std::uint64_t{a} * b >> 32);
}
[[nodiscard]] constexpr int __mulhi(int a, int b) {
  return static_cast<int>(std::int64_t{a} * b >> 32);
}
[[nodiscard]] constexpr unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  __extension__ using wide = unsigned __int128;
  return static_cast<unsigned long long>(static_cast<wide>(a) * b >> 64);
}
[[nodiscard]] constexpr long long __mul64hi(long long a, long long b) {
  __extension__ using wide = __int128;
  return static_cast<long long>(static_cast<wide>(a) * b >> 64);
}

// ---- the bits of a value of another type ----

[[nodiscard]] constexpr int __float_as_int(float v) { return std::bit_cast<int>(v); }
[[nodiscard]] constexpr unsigned __float_as_uint(float v) { return std::bit_cast<unsigned>(v); }
[[nodiscard]] constexpr float __int_as_float(int v) { return std::bit_cast<float>(v); }
[[nodiscard]] constexpr float __uint_as_float(unsigned v) { return std::bit_cast<float>(v); }
[[nodiscard]] constexpr long long __double_as_longlong(double v) {
  return std::bit_cast<long long>(v);
}
[[nodiscard]] constexpr double __longlong_as_double(long long v) {
  return std::bit_cast<double>(v);
}

/// Loads a value. A GPU uses its read-only cache.
template <class T>
[[nodiscard]] T __ldg(const T* address) {
  return *address;
}

// ---- floating point: on a GPU the functions of this group are approximations ----

[[nodiscard]] inline float __fdividef(float a, float b) { return a / b; }
[[nodiscard]] inline float __saturatef(float v) { return v > 0 ? (v < 1 ? v : 1) : 0; }
[[nodiscard]] inline float rsqrtf(float v) { return 1 / std::sqrt(v); }
[[nodiscard]] inline double rsqrt(double v) { return 1 / std::sqrt(v); }

}  // namespace ramify::cpu::builtins::inline RAMIFY_ABI

// Macros, because the C library declares functions with these names and does not define them.
#define __expf(x) ::expf(x)
#define __logf(x) ::logf(x)
#define __log2f(x) ::log2f(x)
#define __log10f(x) ::log10f(x)
#define __sinf(x) ::sinf(x)
#define __cosf(x) ::cosf(x)
#define __tanf(x) ::tanf(x)
#define __powf(x, y) ::powf(x, y)
