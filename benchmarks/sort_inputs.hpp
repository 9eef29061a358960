// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Inputs for sorts, made on the device, and what is left of them afterwards.

#include <cuda_runtime.h>

#include <cstdint>

#include "sort_keys.hpp"

namespace benchmark {

/// Fills n keys in device memory, asynchronously in the default stream; the same ones each time.
///
/// A key is made of a rank in [0, 2^64), so that greater ranks give keys that are not smaller.
///   uniform        random ranks
///   sorted         equally spaced ranks; reversed and organ_pipe are made of the same
///   almost_sorted  sorted, and each hundred elements swap one of their first half with one of
///                  another hundred's second half, all chosen at random
///   zipf           value x = floor((N + 1)^u) of [1, N], N = 10^6, u uniform in [0, 1): its share
///                  is ln(1 + 1 / x) / ln(N + 1); ranks of the values are random
/// A record's payload is its first place.
template <class Key>
cudaError_t fill(Key* keys, std::uint32_t n, distribution how);

/// What a sort must keep, and what it must make.
struct inspection {
  unsigned long long fingerprint;  ///< the same in any order of the same keys
  unsigned long long disorder;     ///< neighbours in the wrong order
};

/// Looks at n keys and adds what it finds to `*result`, in device memory; asynchronous.
template <class Key, class Order>
cudaError_t inspect(const Key* keys, std::uint32_t n, Order order, inspection* result);

}  // namespace benchmark
