// SPDX-License-Identifier: BSD-3-Clause
// The limits of the device runtime, and the device heap.
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <optional>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/limits.cuh>
#include <ramify/runtime/shared.cuh>
#include <ramify/runtime/stream.cuh>
#include <stdexcept>

#include "device_vectors.cuh"
#include "exceptions.hpp"

namespace tests::inline RAMIFY_BUILD {
namespace {

using limit = std::optional<std::size_t> launch_limit_values::*;

struct observed_limit {
  std::size_t before, inside, after;
  std::ptrdiff_t reserved_bytes;
};

/// Sets one limit for a scope, and reads it before, inside and after the scope.
observed_limit observe(limit which, std::size_t wanted) {
  launch_limit_values values;
  values.*which = wanted;
  observed_limit observed{};
  observed.before = *(current_launch_limits().*which);
  {
    const launch_limits limits(values);
    observed.inside = *(limits.granted().*which);
    observed.reserved_bytes = limits.reserved_bytes();
  }
  observed.after = *(current_launch_limits().*which);
  return observed;
}

__global__ void nothing() {}

/// A kernel that can launch.
__global__ void launch_nothing() {
  if (!launch(nothing, {1, 1}, fire_and_forget())) return;
}

/// Requests more than the heap can hold, then little.
__global__ void allocate_twice(int* outcome) {
  void* much = device_malloc(std::size_t{1} << 40);
  void* little = device_malloc(100);
  *outcome = (much == nullptr ? 1 : 0) + (little != nullptr ? 2 : 0);
  device_free(much);
  device_free(little);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(runtime)

BOOST_AUTO_TEST_CASE(limits_are_set_for_a_scope) {
  for (const auto& [which, wanted] :
       {std::pair<limit, std::size_t>{&launch_limit_values::pending_launches, 4096},
        std::pair<limit, std::size_t>{&launch_limit_values::malloc_heap_bytes, 64u << 20},
        std::pair<limit, std::size_t>{&launch_limit_values::stack_bytes, 4096}}) {
    const observed_limit observed = observe(which, wanted);
    BOOST_TEST(observed.inside == wanted);
    BOOST_TEST(observed.inside != observed.before);
    BOOST_TEST(observed.after == observed.before);
  }
}

BOOST_AUTO_TEST_CASE(a_clamped_limit_is_reported) {
  const observed_limit observed = observe(&launch_limit_values::pending_launches, 100'000'000);
  BOOST_TEST(observed.inside < 100'000'000u);
  BOOST_TEST(observed.inside > 2048u);
  BOOST_TEST(observed.after == observed.before);
}

BOOST_AUTO_TEST_CASE(the_memory_of_a_limit_is_reported) {
  // The driver creates the pool with the first kernel that can launch.
  check(launch(launch_nothing, {1, 1}, nullptr).code(), "launching");
  check(cudaDeviceSynchronize(), "waiting");
  const observed_limit observed = observe(&launch_limit_values::pending_launches, 65'536);
  // On a GPU a slot takes kilobytes; on the executor it takes no memory.
  BOOST_TEST((observed.reserved_bytes > (100 << 20)) == (RAMIFY_ON_CUDA != 0));
}

BOOST_AUTO_TEST_CASE(unsupported_limits_are_rejected) {
  BOOST_CHECK_EXCEPTION(static_cast<void>(launch_limits({.sync_depth = 2})), std::invalid_argument,
                        names("tail launch"));
  BOOST_CHECK_THROW(static_cast<void>(launch_limits({.pending_launches = 0})),
                    std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(the_device_heap_is_finite) {
  const auto outcome = zeros<int>(1);
  check(launch(allocate_twice, {1, 1}, nullptr, outcome.data()).code(), "launching");
  BOOST_TEST(download(outcome)[0] == 3);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tests::inline RAMIFY_BUILD
