// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Inputs of sorts, generated on the device, and checks of the results.

#include <cuda_runtime.h>

#include <cstdint>

#include "quicksort_keys.hpp"

namespace benchmark {

/// Fills n keys in device memory, asynchronously in the default stream, with the same keys in each
/// call.
///
/// A key is computed from a rank in [0, 2^64). A greater rank never gives a smaller key.
///   uniform        random ranks
///   sorted         equally spaced ranks; reversed and organ_pipe have the same ranks
///   almost_sorted  sorted; then each group of a hundred keys exchanges a random key of its first
///                  half with a random key of another group's second half
///   zipf           value x = floor((N + 1)^u) of [1, N], N = 10^6, u uniform in [0, 1): its share
///                  is ln(1 + 1 / x) / ln(N + 1); ranks of the values are random
/// The payload of a record is its index before the sort.
template <class Key>
cudaError_t fill(Key* keys, std::uint32_t n, distribution how);

/// Sets values[i] = i. Asynchronous in the default stream.
cudaError_t fill_values(std::uint32_t* values, std::uint32_t n);

/// Properties of an array of keys.
struct inspection {
  unsigned long long fingerprint;  ///< does not depend on the order of the keys
  unsigned long long disorder;     ///< number of neighbors that are out of order
};

/// Inspects n keys and adds the results to `*result`, in device memory. Unless `values` is null,
/// the fingerprint is that of the pairs of a key and its value. Asynchronous.
template <class Key, class Order>
cudaError_t inspect(const Key* keys, const std::uint32_t* values, std::uint32_t n, Order order,
                    inspection* result);

}  // namespace benchmark
