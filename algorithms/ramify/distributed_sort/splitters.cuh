// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Splitters of a distributed sort: the kernels of regular sampling.
///
/// Each rank takes every stride-th of its sorted keys as a sample, and gets the samples of all
/// ranks. Keys are ordered by (key, rank, position), so that no two are equal: a splitter divides
/// also equal keys, wherever they are.
///
///     rank 0   1 1 [1] 1 1 [2]     samples in order: (1,r0,2) (1,r1,2) (2,r0,5) (3,r1,5)
///     rank 1   1 1 [1] 1 3 [3]     splitter of two parts: (2,r0,5)

#include <cstdint>
#include <ramify/runtime/cuda.hpp>
#include <ramify/runtime/detail/partition_point.cuh>
#include <ramify/runtime/grid_trace.cuh>

namespace ramify::detail::distributed_sort::inline RAMIFY_BUILD {

/// The samples of all ranks in one array, in the order of the ranks. Those of one rank are sorted.
template <class Key>
struct sample_runs {
  const Key* keys;
  const std::uint64_t* begins;  ///< array of ranks + 1 indices into `keys`
  unsigned ranks;
  std::uint64_t stride;

  [[nodiscard]] __host__ __device__ std::uint64_t size_of(unsigned rank) const {
    return begins[rank + 1] - begins[rank];
  }
  /// Returns the rank of a sample.
  [[nodiscard]] __device__ unsigned rank_of(std::uint64_t sample) const {
    unsigned rank = 0;
    while (begins[rank + 1] <= sample) ++rank;
    return rank;
  }
  /// Returns the position of a sample among the keys of its rank.
  [[nodiscard]] __device__ std::uint64_t position_of(std::uint64_t sample, unsigned rank) const {
    return (sample - begins[rank]) * stride + stride / 2;
  }
};

/// Returns the number of samples of a rank with n keys: one in the middle of each `stride` keys.
[[nodiscard]] inline std::uint64_t sample_count(std::uint64_t n, std::uint64_t stride) {
  return (n + stride - 1 - stride / 2) / stride;
}

/// Returns the number of sorted keys that come before `key`. Keys equal to it come before it if
/// `equal_first`.
template <class Key, class Compare>
[[nodiscard]] __device__ std::uint64_t keys_before(const Key* keys, std::uint64_t n, const Key& key,
                                                   bool equal_first, const Compare& compare) {
  return partition_point(std::uint64_t{0}, n, [&](std::uint64_t i) {
    return equal_first ? !compare(key, keys[i]) : compare(keys[i], key);
  });
}

/// Copies the samples of a rank. One thread for each.
template <class Key>
__global__ void take_samples(const Key* keys, std::uint64_t stride, std::uint64_t count,
                             Key* samples, trace_ticket trace) {
  const traced here(trace, __func__);
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) samples[i] = keys[i * stride + stride / 2];
}

/// Writes the index of the sample that begins part t + 1 to splitters[t]. One thread for each
/// sample.
///
/// 1 place the sample in the order of all samples, 2 write it for each part that begins there
template <class Key, class Compare>
__global__ void choose_splitters(sample_runs<Key> runs, std::uint64_t count, Compare compare,
                                 std::uint64_t* splitters, trace_ticket trace) {
  const traced here(trace, __func__);
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= count) return;
  // 1. The samples of lower ranks come first if their keys are equal.
  const unsigned own = runs.rank_of(i);
  std::uint64_t place = i - runs.begins[own];
  for (unsigned r = 0; r < runs.ranks; ++r) {
    if (r == own) continue;
    place +=
        keys_before(runs.keys + runs.begins[r], runs.size_of(r), runs.keys[i], r < own, compare);
  }
  // 2. Part t begins at the sample t * count / ranks. Several parts do if there are few samples.
  std::uint64_t part = (place * runs.ranks + count - 1) / count;
  for (; part < runs.ranks && part * count / runs.ranks == place; ++part) {
    if (part > 0) splitters[part - 1] = i;
  }
}

/// Writes the number of keys of this rank that come before splitter t to bounds[t]. One thread for
/// each splitter.
template <class Key, class Compare>
__global__ void find_bounds(const Key* keys, std::uint64_t n, unsigned rank, sample_runs<Key> runs,
                            const std::uint64_t* splitters, std::uint64_t count, Compare compare,
                            std::uint64_t* bounds, trace_ticket trace) {
  const traced here(trace, __func__);
  const std::uint64_t t = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (t >= count) return;
  const std::uint64_t sample = splitters[t];
  const unsigned owner = runs.rank_of(sample);
  bounds[t] = owner == rank ? runs.position_of(sample, owner)
                            : keys_before(keys, n, runs.keys[sample], rank < owner, compare);
}

}  // namespace ramify::detail::distributed_sort::inline RAMIFY_BUILD
