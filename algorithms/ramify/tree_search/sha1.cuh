// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// SHA-1 of messages that fit in one 64-byte block, on the device.

#include <cstdint>
#include <ramify/runtime/cuda.hpp>

RAMIFY_INT_ARRAY_BOUNDS_BEGIN
namespace ramify::detail::tree_search::inline RAMIFY_BUILD {

/// A SHA-1 digest as five big-endian words.
struct sha1_digest {
  std::uint32_t word[5];
};

/// Returns the SHA-1 (FIPS 180-4, section 6.1.2) of a message of `words` 32-bit big-endian words,
/// at most 13. It is the random number generator of Unbalanced Tree Search, not used for security.
///
///     sha1_of_words<1>({0x61626364})
///     // of "abcd" --> 81fe8bfe 87576c3e cb22426f 8e578473 82917acf
template <int words>
__host__ __device__ inline sha1_digest sha1_of_words(const std::uint32_t (&message)[words]) {
  static_assert(words <= 13, "a longer message needs more than one block");
  const auto rotate = [](std::uint32_t value, unsigned by) {
    return value << by | value >> (32 - by);
  };
  // 1. Pad the message: a one bit, zeros, and the length in bits.
  std::uint32_t w[16] = {};
  RAMIFY_UNROLL
  for (int i = 0; i < words; ++i) w[i] = message[i];
  w[words] = 0x80000000u;
  w[15] = 32 * words;

  // 2. Eighty rounds over five words. The message schedule is a ring of sixteen words.
  std::uint32_t a = 0x67452301u, b = 0xefcdab89u, c = 0x98badcfeu, d = 0x10325476u, e = 0xc3d2e1f0u;
  RAMIFY_UNROLL_EVERYWHERE
  for (int t = 0; t < 80; ++t) {
    if (t >= 16) {
      w[t % 16] = rotate(w[(t + 13) % 16] ^ w[(t + 8) % 16] ^ w[(t + 2) % 16] ^ w[t % 16], 1);
    }
    const std::uint32_t mixed = t < 20   ? ((b & c) | (~b & d)) + 0x5a827999u
                                : t < 40 ? (b ^ c ^ d) + 0x6ed9eba1u
                                : t < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdcu
                                         : (b ^ c ^ d) + 0xca62c1d6u;
    const std::uint32_t next = rotate(a, 5) + mixed + e + w[t % 16];
    e = d;
    d = c;
    c = rotate(b, 30);
    b = a;
    a = next;
  }

  // 3. Add the initial values.
  return {{a + 0x67452301u, b + 0xefcdab89u, c + 0x98badcfeu, d + 0x10325476u, e + 0xc3d2e1f0u}};
}

}  // namespace ramify::detail::tree_search::inline RAMIFY_BUILD
RAMIFY_INT_ARRAY_BOUNDS_END
