// SPDX-License-Identifier: BSD-3-Clause
#include "quicksort_inputs.hpp"

#include <cstring>
#include <numeric>
#include <ramify/runtime/detail/hash.cuh>
#include <type_traits>

namespace benchmark {

namespace {

constexpr unsigned threads = 256;
constexpr unsigned most_blocks = 4096;
constexpr std::uint64_t values_of_zipf = 1'000'000;

unsigned blocks_for(std::uint64_t items) {
  const std::uint64_t blocks = (items + threads - 1) / threads;
  return static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks);
}

/// A hash of 64 bits: one step of splitmix64.
__host__ __device__ std::uint64_t mixed(std::uint64_t x) {
  return ramify::detail::runtime::splitmix64_finalize(x + 0x9e3779b97f4a7c15u);
}

template <class Key>
__device__ Key key_of(std::uint64_t rank, [[maybe_unused]] std::uint64_t place) {
  if constexpr (std::is_same_v<Key, record16>) {
    return {rank, place};
  } else if constexpr (std::is_same_v<Key, float>) {  // evenly spaced around 0
    return static_cast<float>(static_cast<std::int64_t>(rank >> 32) - (std::int64_t{1} << 31)) *
           0x1p-10f;
  } else if constexpr (std::is_same_v<Key, double>) {
    return static_cast<double>(static_cast<std::int64_t>(rank >> 11) - (std::int64_t{1} << 52)) *
           0x1p-31;
  } else {
    return static_cast<Key>(rank >> (64 - 8 * sizeof(Key)));
  }
}

__device__ std::uint64_t zipf_rank(std::uint64_t random) {
  const double u = static_cast<double>(random >> 11) * 0x1p-53;
  const auto value =
      static_cast<std::uint64_t>(exp(u * 13.815511557963774));  // ln(values_of_zipf + 1)
  return mixed(~(value < values_of_zipf ? value : values_of_zipf));
}

__device__ std::uint64_t rank_at(std::uint64_t i, std::uint64_t n, distribution how) {
  const std::uint64_t step = ~std::uint64_t{0} / n;
  switch (how) {
    case distribution::sorted:
    case distribution::almost_sorted: return i * step;
    case distribution::reversed: return (n - 1 - i) * step;
    case distribution::organ_pipe: return (i < n / 2 ? 2 * i : 2 * (n - 1 - i) + 1) * step;
    case distribution::zipf: return zipf_rank(mixed(i));
    case distribution::sixteen_values: return mixed(~(mixed(i) >> 60));
    case distribution::all_equal: return mixed(0);
    default: return mixed(i);
  }
}

template <class Key>
__global__ void fill_kernel(Key* keys, std::uint64_t n, distribution how) {
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x; i < n;
       i += std::uint64_t{gridDim.x} * threads) {
    keys[i] = key_of<Key>(rank_at(i, n, how), i);
  }
}

// Group s of a hundred keys swaps a key with group (s * multiplier + 1) mod hundreds. These groups
// are all different, so no element is in two swaps.
template <class Key>
__global__ void swap_kernel(Key* keys, std::uint64_t hundreds, std::uint64_t multiplier) {
  for (std::uint64_t s = std::uint64_t{blockIdx.x} * threads + threadIdx.x; s < hundreds;
       s += std::uint64_t{gridDim.x} * threads) {
    const std::uint64_t random = mixed(s);
    const std::uint64_t other = (s * multiplier + 1) % hundreds;
    const std::uint64_t a = s * 100 + random % 50;
    const std::uint64_t b = other * 100 + 50 + (random >> 32) % 50;
    const Key kept = keys[a];
    keys[a] = keys[b];
    keys[b] = kept;
  }
}

/// Returns a number of about 0.618 `hundreds` that has no common factor with it.
std::uint64_t multiplier_for(std::uint64_t hundreds) {
  auto multiplier = static_cast<std::uint64_t>(0.6180339887 * static_cast<double>(hundreds));
  while (std::gcd(multiplier, hundreds) != 1) ++multiplier;
  return multiplier;
}

template <class Key>
__device__ std::uint64_t print_of(const Key& key) {
  if constexpr (std::is_same_v<Key, record16>) {
    return mixed(mixed(key.key) + key.payload);
  } else {
    std::uint64_t bits = 0;
    memcpy(&bits, &key, sizeof key);
    return mixed(bits);
  }
}

__global__ void fill_values_kernel(std::uint32_t* values, std::uint64_t n) {
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x; i < n;
       i += std::uint64_t{gridDim.x} * threads) {
    values[i] = static_cast<std::uint32_t>(i);
  }
}

template <class Key, class Order>
__global__ void inspect_kernel(const Key* keys, const std::uint32_t* values, std::uint64_t n,
                               Order order, inspection* result) {
  unsigned long long fingerprint = 0;
  unsigned long long disorder = 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x; i < n;
       i += std::uint64_t{gridDim.x} * threads) {
    const Key key = keys[i];
    fingerprint += values == nullptr ? print_of(key) : mixed(print_of(key) + values[i]);
    if (i + 1 < n) disorder += order(keys[i + 1], key);
  }
  for (int step = 16; step > 0; step /= 2) {
    fingerprint += __shfl_down_sync(~0u, fingerprint, step);
    disorder += __shfl_down_sync(~0u, disorder, step);
  }
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&result->fingerprint, fingerprint);
    atomicAdd(&result->disorder, disorder);
  }
}

}  // namespace

template <class Key>
cudaError_t fill(Key* keys, std::uint32_t n, distribution how) {
  fill_kernel<<<blocks_for(n), threads>>>(keys, n, how);
  const std::uint64_t hundreds = n / 100;
  if (how == distribution::almost_sorted && hundreds > 0) {
    swap_kernel<<<blocks_for(hundreds), threads>>>(keys, hundreds, multiplier_for(hundreds));
  }
  return cudaGetLastError();
}

cudaError_t fill_values(std::uint32_t* values, std::uint32_t n) {
  fill_values_kernel<<<blocks_for(n), threads>>>(values, n);
  return cudaGetLastError();
}

template <class Key, class Order>
cudaError_t inspect(const Key* keys, const std::uint32_t* values, std::uint32_t n, Order order,
                    inspection* result) {
  inspect_kernel<<<blocks_for(n), threads>>>(keys, values, n, order, result);
  return cudaGetLastError();
}

template cudaError_t fill(std::uint32_t*, std::uint32_t, distribution);
template cudaError_t fill(std::uint64_t*, std::uint32_t, distribution);
template cudaError_t fill(float*, std::uint32_t, distribution);
template cudaError_t fill(double*, std::uint32_t, distribution);
template cudaError_t fill(record16*, std::uint32_t, distribution);

#define INSTANTIATE_INSPECT(Key, Order) \
  template cudaError_t inspect(const Key*, const std::uint32_t*, std::uint32_t, Order, inspection*);

INSTANTIATE_INSPECT(std::uint32_t, natural_order)
INSTANTIATE_INSPECT(std::uint64_t, natural_order)
INSTANTIATE_INSPECT(float, natural_order)
INSTANTIATE_INSPECT(double, natural_order)
INSTANTIATE_INSPECT(record16, by_key)
INSTANTIATE_INSPECT(std::uint32_t, even_first_falling)

}  // namespace benchmark
