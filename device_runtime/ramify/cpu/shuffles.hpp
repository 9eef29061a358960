// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// CUDA's warp shuffles, match and reduce functions, for values of at most eight bytes.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <ramify/cpu/cuda_builtins.hpp>
#include <ramify/version.hpp>
#include <type_traits>

namespace ramify::cpu::inline RAMIFY_ABI {

/// Returns the calling thread's lane in its warp.
[[nodiscard]] unsigned lane_index();

/// Returns the bits of a value of at most eight bytes.
template <class T>
[[nodiscard]] std::uint64_t bits_of(const T& value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

/// Returns the value of a lane.
template <class T>
requires(std::is_arithmetic_v<T>) T shuffle(unsigned mask, T value, unsigned source_lane,
                                            const char* builtin, builtins::site site) {
  const warp_values& all = warp_exchange(mask, bits_of(value), builtin, site);
  std::memcpy(&value, &all.of_lane[source_lane], sizeof(T));
  return value;
}

/// Masks of lanes.
struct lane_match {
  unsigned same;  ///< lanes that pass the same bits as the calling lane
  unsigned all;   ///< lanes that take part
};
/// Returns which lanes pass the same bits as the calling lane.
template <class T>
lane_match match_lanes(unsigned mask, const T& value, const char* builtin, builtins::site site) {
  const std::uint64_t bits = bits_of(value);
  const warp_values& values = warp_exchange(mask, bits, builtin, site);
  lane_match match{0, values.lanes};
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (values.of_lane[lane] == bits) match.same |= 1u << lane & values.lanes;
  }
  return match;
}

}  // namespace ramify::cpu::inline RAMIFY_ABI

namespace ramify::cpu::builtins::inline RAMIFY_ABI {

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = warpSize, site s = site::current()) {
  const unsigned first = lane_index() & ~unsigned(width - 1);
  return shuffle(mask, value, first + (unsigned(source) & unsigned(width - 1)), "__shfl_sync", s);
}

template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                 site s = site::current()) {
  const unsigned lane = lane_index();
  const unsigned within = lane & unsigned(width - 1);
  return shuffle(mask, value, within < delta ? lane : lane - delta, "__shfl_up_sync", s);
}

template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                   site s = site::current()) {
  const unsigned lane = lane_index();
  const unsigned within = lane & unsigned(width - 1);
  return shuffle(mask, value, within + delta >= unsigned(width) ? lane : lane + delta,
                 "__shfl_down_sync", s);
}

template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = warpSize,
                  site s = site::current()) {
  const unsigned lane = lane_index();
  const unsigned source = lane ^ unsigned(lane_mask);
  const bool inside = source / unsigned(width) <= lane / unsigned(width);
  return shuffle(mask, value, inside ? source : lane, "__shfl_xor_sync", s);
}

/// Returns the mask of the lanes in `mask` whose value has the same bits as the calling lane's.
template <class T>
unsigned __match_any_sync(unsigned mask, T value, site s = site::current()) {
  return match_lanes(mask, value, "__match_any_sync", s).same;
}

/// Returns `mask` and sets `*predicate` to 1 if all lanes in `mask` have the same bits in `value`;
/// else returns 0 and sets it to 0.
template <class T>
unsigned __match_all_sync(unsigned mask, T value, int* predicate, site s = site::current()) {
  const auto [same, all] = match_lanes(mask, value, "__match_all_sync", s);
  *predicate = same == all ? 1 : 0;
  return same == all ? mask : 0;
}

/// Returns the bitwise OR of the values of the lanes in `mask`.
inline unsigned __reduce_or_sync(unsigned mask, unsigned value, site s = site::current()) {
  const warp_values& all = warp_exchange(mask, value, "__reduce_or_sync", s);
  unsigned any = 0;
  for (unsigned lanes = all.not_zero & mask; lanes != 0; lanes &= lanes - 1) {
    any |= static_cast<unsigned>(all.of_lane[__builtin_ctz(lanes)]);
  }
  return any;
}

/// Returns the reduction of the values of the lanes in `mask`. T is int or unsigned, as on a GPU.
template <class T, class Combine>
requires(sizeof(T) == 4 && std::is_integral_v<T>) T
    reduce_lanes(unsigned mask, T value, Combine combine, const char* builtin, site s) {
  const warp_values& all = warp_exchange(mask, static_cast<std::uint32_t>(value), builtin, s);
  T result = value;
  for (unsigned lanes = all.lanes & ~(1u << lane_index()); lanes != 0; lanes &= lanes - 1) {
    result = combine(result, static_cast<T>(all.of_lane[__builtin_ctz(lanes)]));
  }
  return result;
}
template <class T>
T __reduce_add_sync(unsigned mask, T value, site s = site::current()) {
  const auto add = [](T a, T b) { return static_cast<T>(unsigned(a) + unsigned(b)); };
  return reduce_lanes(mask, value, add, "__reduce_add_sync", s);
}
template <class T>
T __reduce_min_sync(unsigned mask, T value, site s = site::current()) {
  return reduce_lanes(mask, value, std::ranges::min, "__reduce_min_sync", s);
}
template <class T>
T __reduce_max_sync(unsigned mask, T value, site s = site::current()) {
  return reduce_lanes(mask, value, std::ranges::max, "__reduce_max_sync", s);
}
inline unsigned __reduce_and_sync(unsigned mask, unsigned value, site s = site::current()) {
  return reduce_lanes(mask, value, std::bit_and<>(), "__reduce_and_sync", s);
}
inline unsigned __reduce_xor_sync(unsigned mask, unsigned value, site s = site::current()) {
  return reduce_lanes(mask, value, std::bit_xor<>(), "__reduce_xor_sync", s);
}

}  // namespace ramify::cpu::builtins::inline RAMIFY_ABI
