// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The default orders, which are total for floating-point keys too, and how kernels compare keys.

#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <ramify/runtime/cuda.hpp>
#include <type_traits>

namespace ramify::inline RAMIFY_BUILD {

/// a < b. A NaN counts as greater than every number and equal to every NaN; -0.0 equals +0.0.
///
///     [2, NaN, -inf, inf, -1]  -->  [-inf, -1, 2, inf, NaN]
struct ascending {
  /// Returns whether a comes before b.
  template <class T>
  __host__ __device__ bool operator()(const T& a, const T& b) const {
    if constexpr (std::is_floating_point_v<T>) {
      return !(a >= b) && a == a;  // a < b, or only b is a NaN
    } else {
      return a < b;
    }
  }
};

/// The reverse of ascending: NaNs come first.
struct descending {
  /// Returns whether a comes before b.
  template <class T>
  __host__ __device__ bool operator()(const T& a, const T& b) const {
    return ascending{}(b, a);
  }
};

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::quicksort::inline RAMIFY_BUILD {

/// Whether Compare is a strict weak order of all numbers, NaN included.
template <class Compare>
inline constexpr bool orders_numbers =
    std::same_as<Compare, ascending> || std::same_as<Compare, descending>;

/// Whether Compare states that it is a strict weak order, as comparators of other families do.
/// Merges may then also compare elements with any bits, and ignore the result.
template <class Compare>
inline constexpr bool states_strict_weak = false;
template <class Compare>
requires(Compare::known_strict_weak) inline constexpr bool states_strict_weak<Compare> = true;

/// Whether Compare states that no two keys of a sort are equivalent. If some are, the sort only
/// takes longer.
template <class Compare>
inline constexpr bool states_distinct_keys = false;
template <class Compare>
requires(Compare::keys_are_distinct) inline constexpr bool states_distinct_keys<Compare> = true;

/// Maps the bits of a number to an unsigned integer, its code, whose order is that of the numbers:
/// the key transformation of radix sorts. All NaNs come after the numbers; -0.0 comes right before
/// +0.0. In ascending order:
///
///     float    -inf        -1.0        -0.0        +0.0        inf         NaN
///     code     0x00000000  0x40000000  0x7f800000  0x7f800001  0xff000001  0xff000002 and more
template <std::unsigned_integral Word>
struct number_codes {
  Word inverted;     ///< the bits that are inverted in all numbers
  Word if_negative;  ///< the bits that are also inverted if the sign bit is set
  Word offset;  ///< subtracted after the inversions, so that NaNs are last or, descending, first

  template <class Number>
  [[nodiscard]] __host__ __device__ static constexpr number_codes of(bool down) {
    static_assert(sizeof(Number) == sizeof(Word));
    constexpr Word top = Word{1} << (8 * sizeof(Word) - 1);
    // The sign bit of signed numbers is inverted. Descending order inverts all bits of the code:
    // ~(x - y) == ~x - (-y), so the offset changes its sign.
    const Word sign = std::is_signed_v<Number> ? top : Word{0};
    number_codes codes{static_cast<Word>(down ? ~sign : sign), 0, 0};
    if constexpr (std::is_floating_point_v<Number>) {
      codes.if_negative = top - 1;
      // -inf has all bits of the exponent and no bit of the mantissa.
      const Word lowest = (Word{1} << (std::numeric_limits<Number>::digits - 1)) - 1;
      codes.offset = down ? Word{0} - lowest : lowest;
    }
    return codes;
  }

  [[nodiscard]] __host__ __device__ constexpr Word encode(Word bits) const {
    return static_cast<Word>((bits ^ inverted ^ (all_if_negative(bits) & if_negative)) - offset);
  }
  [[nodiscard]] __host__ __device__ constexpr Word decode(Word code) const {
    const Word bits = static_cast<Word>(code + offset) ^ inverted;
    return bits ^ (all_if_negative(bits) & if_negative);
  }
  /// Whether a code is the bits with some of them inverted, as for integers.
  [[nodiscard]] __host__ __device__ constexpr bool only_invert() const { return if_negative == 0; }

 private:
  [[nodiscard]] __host__ __device__ static constexpr Word all_if_negative(Word bits) {
    return static_cast<Word>(static_cast<std::make_signed_t<Word>>(bits) >> (8 * sizeof(Word) - 1));
  }
};

/// Whether Compare is number_codes, which orders the bits of keys and is no functor.
template <class Compare>
inline constexpr bool is_order_of_bits = false;
template <class Word>
inline constexpr bool is_order_of_bits<number_codes<Word>> = true;

/// How kernels compare keys. Arrays of elements hold keys, and kernels that only move elements move
/// keys. Leaf sorts and splitters use codes: `encode` maps a key to its code. By default the code
/// is the key itself.
///
/// An array of keys may also hold codes for a time: `store` converts a code to a key with the same
/// bits, and `load` converts it back.
///
/// A thread that encodes an array calls `begin_code` for each key. Then with_rest() calls `visit`
/// with a function that completes a code, unless all codes are complete already. with_decoder()
/// always calls `visit` with a function that maps a code to its key. Each array then takes one
/// branch on the kind of the numbers, and integers need no further operations.
template <class Key, class Compare>
struct sort_order {
  using code = Key;
  /// Whether the comparator is known to be a strict weak order. With any other, merges check that
  /// no element is lost, see team_merge_sort.
  static constexpr bool known_strict_weak =
      (std::is_arithmetic_v<Key> && orders_numbers<Compare>) || states_strict_weak<Compare>;
  static constexpr bool keys_are_distinct = states_distinct_keys<Compare>;
  static constexpr bool keys_are_codes = true;
  Compare compare;

  [[nodiscard]] __device__ const Key& encode(const Key& key) const { return key; }
  [[nodiscard]] __device__ const Key& decode(const Key& key) const { return key; }
  [[nodiscard]] __device__ static const Key& load(const Key& key) { return key; }
  [[nodiscard]] __device__ static const Key& store(const Key& key) { return key; }
  [[nodiscard]] __device__ const Key& begin_code(const Key& key) const { return key; }
  template <class Visit>
  __device__ void with_rest(const Visit& /*visit*/) const {}
  template <class Visit>
  __device__ void with_decoder(const Visit& visit) const {
    visit([](const Key& key) -> const Key& { return key; });
  }
  [[nodiscard]] __device__ bool operator()(const Key& a, const Key& b) const {
    return compare(a, b);
  }
};

/// The order of bits whose number type and direction are known at run time.
template <class Word>
struct sort_order<Word, number_codes<Word>> {
  using code = Word;
  static constexpr bool known_strict_weak = true;
  static constexpr bool keys_are_codes = false;
  number_codes<Word> codes;

  [[nodiscard]] __device__ Word encode(Word bits) const { return codes.encode(bits); }
  [[nodiscard]] __device__ Word decode(Word bits) const { return codes.decode(bits); }
  [[nodiscard]] __device__ static Word load(Word bits) { return bits; }
  [[nodiscard]] __device__ static Word store(Word code) { return code; }
  [[nodiscard]] __device__ Word begin_code(Word bits) const { return bits ^ codes.inverted; }
  template <class Visit>
  __device__ void with_rest(const Visit& visit) const {
    if (codes.only_invert()) return;
    visit([copy = codes](Word begun) { return copy.encode(begun ^ copy.inverted); });
  }
  template <class Visit>
  __device__ void with_decoder(const Visit& visit) const {
    if (codes.only_invert()) {
      visit([inverted = codes.inverted](Word encoded) {
        return static_cast<Word>(encoded ^ inverted);
      });
    } else {
      visit([copy = codes](Word encoded) { return copy.decode(encoded); });
    }
  }
  [[nodiscard]] __device__ bool operator()(Word a, Word b) const { return a < b; }
};

/// The order of floats: codes avoid the second comparison that a NaN needs. (Doubles are compared
/// as they are: with codes, 2^28 of them take 3 % longer, and 2^20 10 %.)
template <class Direction>
requires std::same_as<Direction, ascending> || std::same_as<Direction, descending>
struct sort_order<float, Direction> {
  using code = std::uint32_t;
  static constexpr bool known_strict_weak = true;
  static constexpr bool keys_are_codes = false;
  Direction direction;

  [[nodiscard]] __device__ code encode(float key) const { return codes().encode(load(key)); }
  [[nodiscard]] __device__ float decode(code encoded) const {
    return store(codes().decode(encoded));
  }
  [[nodiscard]] __device__ static code load(float key) {
    code bits = 0;
    std::memcpy(&bits, &key, sizeof bits);
    return bits;
  }
  [[nodiscard]] __device__ static float store(code bits) {
    float key = 0;
    std::memcpy(&key, &bits, sizeof key);
    return key;
  }
  [[nodiscard]] __device__ code begin_code(float key) const { return encode(key); }
  template <class Visit>
  __device__ void with_rest(const Visit& /*visit*/) const {}
  template <class Visit>
  __device__ void with_decoder(const Visit& visit) const {
    visit([](code encoded) { return store(codes().decode(encoded)); });
  }
  [[nodiscard]] __device__ bool operator()(code a, code b) const { return a < b; }

 private:
  [[nodiscard]] __device__ static constexpr number_codes<code> codes() {
    return number_codes<code>::of<float>(std::same_as<Direction, descending>);
  }
};

}  // namespace ramify::detail::quicksort::inline RAMIFY_BUILD
