// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ramify/quicksort.cuh>
#include <ramify/runtime/stream.cuh>

#include "cases.hpp"
#include "device_vectors.cuh"
#include "slot_checks.cuh"
#include "times_check.hpp"

namespace tests::inline RAMIFY_BUILD {

template <class Key>
using device_order =
    std::conditional_t<std::is_arithmetic_v<Key>, ascending, typename order_of<Key>::type>;

template <class Key>
quicksort_report sort_keys(std::vector<Key>& keys, const quicksort_options& options) {
  const auto limits = scoped_limit(options.pending_launches);
  const auto device_keys = upload(keys);
  auto report = quicksort(device_keys.data(), keys.size(), device_order<Key>{}, nullptr, options);
  download(device_keys, keys);
  return report;
}

template <class Key>
quicksort_report sort_pairs(std::vector<Key>& keys, std::vector<std::uint32_t>& values,
                            const quicksort_options& options) {
  const auto limits = scoped_limit(options.pending_launches);
  const auto device_keys = upload(keys);
  const auto device_values = upload(values);
  auto report = quicksort_pairs(device_keys.data(), device_values.data(), keys.size(),
                                device_order<Key>{}, nullptr, options);
  download(device_keys, keys);
  download(device_values, values);
  return report;
}

/// Neither default-constructible nor assignable: a comparator need only be copied.
struct hostile {
  const hostile_order order;
  explicit hostile(hostile_order o) : order(o) {}
  __host__ __device__ bool operator()(unsigned a, unsigned b) const {
    switch (order) {
      case hostile_order::less_or_equal: return a <= b;
      case hostile_order::always_true: return true;
      case hostile_order::always_false: return false;
      case hostile_order::not_transitive: return (a - b) % 3 == 1;
    }
    return false;
  }
};

inline void sort_hostile(std::vector<std::uint32_t>& keys, hostile_order order,
                         const quicksort_options& options) {
  const auto device_keys = upload(keys);
  (void)quicksort(device_keys.data(), keys.size(), hostile{order}, nullptr, options);
  download(device_keys, keys);
}

inline void provoke(bad_argument argument) {
  using key = std::uint32_t;
  const device_buffer<key> keys(100, nullptr);
  const device_buffer<std::byte> scratch(100'000, nullptr);
  quicksort_config config;
  const auto with_scratch = [&](scratch_memory memory) {
    (void)quicksort(keys.data(), 100, ascending{}, nullptr, config, memory);
  };
  // Of a type that other tests sort with such values: each more costs a compiler seconds.
  const device_buffer<particle> particles(100, nullptr);
  const auto with_values = [&](key* values, std::size_t n) {
    (void)quicksort_pairs(particles.data(), values, n, device_order<particle>{});
  };
  switch (argument) {
    case bad_argument::null_keys: (void)quicksort<key>(nullptr, 5); break;
    case bad_argument::null_values: with_values(nullptr, 5); break;
    case bad_argument::overlap: with_values(reinterpret_cast<key*>(particles.data() + 49), 50); break;
    case bad_argument::scratch_too_small: with_scratch({scratch.data(), 300}); break;
    case bad_argument::scratch_misaligned: with_scratch({scratch.data() + 8, 90'000}); break;
    case bad_argument::depth_limit:
      config.depth_limit = 256;
      (void)quicksort(keys.data(), 100, ascending{}, nullptr, config);
      break;
    case bad_argument::host_memory: {
      std::vector<key> on_host(100);
      (void)quicksort(on_host.data(), on_host.size());
      break;
    }
  }
}

inline void two_at_once(std::vector<std::uint32_t>& first, std::vector<std::uint32_t>& second,
                        const quicksort_options& options) {
  const host_stream streams[2];
  std::vector<std::uint32_t>* const keys[2] = {&first, &second};
  const std::size_t bytes[2] = {quicksort_scratch_bytes<std::uint32_t>(first.size(), options),
                                quicksort_scratch_bytes<std::uint32_t>(second.size(), options)};
  const device_buffer<std::uint32_t> device_keys[2] = {upload(first, streams[0].get()),
                                                       upload(second, streams[1].get())};
  const device_buffer<std::byte> scratch[2] = {{bytes[0], streams[0].get()},
                                               {bytes[1], streams[1].get()}};
  const auto start = [&](int i) {
    return quicksort_async(device_keys[i].data(), keys[i]->size(), ascending{}, streams[i].get(),
                           options, {scratch[i].data(), bytes[i]});
  };
  auto run_of_first = start(0);
  auto run_of_second = start(1);
  (void)run_of_second.get();
  (void)run_of_first.get();
  for (int i = 0; i < 2; ++i) download(device_keys[i], *keys[i], streams[i].get());
}

inline quicksort_report without_slots(std::vector<std::uint32_t>& keys,
                                      const quicksort_options& options) {
  const all_slots_taken by_somebody_else(*current_launch_limits().pending_launches);
  return sort_keys(keys, options);
}

inline std::string memory_kinds() {
  using key = std::uint32_t;  // as in other tests, so that there is no other sort to compile
  // On a GPU, enough for ordinary memory to be staged.
  constexpr int n = RAMIFY_ON_CUDA ? 3'000'000 : 20'000;
  const auto fill = [](std::span<key> keys) {
    for (int i = 0; i < n; ++i) keys[std::size_t(i)] = key(i * std::int64_t{7919} % n);
  };
  const auto sorted = [](std::span<const key> keys) {
    for (int i = 0; i < n; ++i) {
      if (keys[std::size_t(i)] != key(i)) return false;
    }
    return true;
  };
  const std::vector<key> input = [&] {
    std::vector<key> keys(n);
    fill(keys);
    return keys;
  }();
  quicksort_options options;
  options.backend = RAMIFY_ON_CUDA ? backend::cuda : backend::cpu;
  const copied both{RAMIFY_ON_CUDA != 0, RAMIFY_ON_CUDA != 0};

  pinned_buffer<key> pinned(n);
  const std::span<key> in_pinned(pinned.data(), n);
  fill(in_pinned);
  (void)quicksort(pinned.data(), n);
  if (!sorted(in_pinned)) return "pinned memory, header";
  fill(in_pinned);
  std::string fault = check_times(ramify::quicksort(in_pinned, options), both);
  if (!sorted(in_pinned)) return "pinned memory, facade";
  if (!fault.empty()) return "times, pinned memory: " + fault;

  std::vector<key> result = input;
  fault = check_times(ramify::quicksort(std::span(result), options), both);
  if (!sorted(result)) return "ordinary memory, facade";
  if (!fault.empty()) return "times, ordinary memory: " + fault;

  const device_buffer<key> device = upload(input);
  fault = check_times(ramify::quicksort(std::span<key>(device.data(), n), options), {});
  download(device, result);
  if (!sorted(result)) return "device memory, facade";
  if (!fault.empty()) return "times, device memory: " + fault;

#if RAMIFY_ON_CUDA
  key* managed = nullptr;
  check(cudaMallocManaged(&managed, n * sizeof(key)), "allocating managed memory");
  const std::span<key> in_managed(managed, n);
  fill(in_managed);
  (void)quicksort(managed, n);
  const bool header_is_right = sorted(in_managed);
  fill(in_managed);
  (void)ramify::quicksort(in_managed, options);
  const bool facade_is_right = sorted(in_managed);
  check(cudaFree(managed), "freeing managed memory");
  if (!header_is_right) return "managed memory, header";
  if (!facade_is_right) return "managed memory, facade";
#endif
  return {};
}

/// Sizes around a warp, and around a block, a tile and a leaf of either strategy.
template <class Key>
std::vector<std::size_t> interesting_sizes() {
  using binary = ramify::detail::quicksort::quicksort_tuning<Key, std::uint32_t>;
  using sample_sort = ramify::detail::quicksort::sample_sort_tuning<Key, std::uint32_t>;
  std::vector<std::size_t> sizes;
  for (const std::size_t size :
       {std::size_t{32}, std::size_t{binary::threads}, std::size_t{binary::tile_size},
        std::size_t{binary::leaf_size}, std::size_t{2 * binary::leaf_size},
        std::size_t{sample_sort::leaf_items}, std::size_t{sample_sort::leaf_size},
        std::size_t{2 * sample_sort::leaf_size}, std::size_t{sample_sort::min_piece}}) {
    for (const std::size_t near : {size - 1, size, size + 1}) sizes.push_back(near);
  }
  return sizes;
}

template <class Key>
custom_sorts<Key> sorts_of() {
  return {sort_keys<Key>, sort_pairs<Key>, interesting_sizes<Key>()};
}

inline const quicksort_cases& cases() {
  // While a lease is held, nothing but the runs themselves gives slots back.
  static const slot_lease kept(2048);
  static const quicksort_cases all{
      sorts_of<particle>(),
      sorts_of<record>(),
      sorts_of<page>(),
      interesting_sizes<std::uint32_t>(),
      interesting_sizes<std::uint64_t>(),
      sort_hostile,
      provoke,
      two_at_once,
      slots_in_use,
      without_slots,
      memory_kinds,
      [](std::size_t n, const quicksort_config& config) {
        return quicksort_scratch_bytes<std::uint32_t>(n, config);
      },
      [](std::size_t n, const quicksort_config& config) {
        return *quicksort_recommended_limits<std::uint32_t>(n, config).pending_launches;
      },
  };
  return all;
}

}  // namespace tests::inline RAMIFY_BUILD
