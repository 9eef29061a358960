// SPDX-License-Identifier: BSD-3-Clause
// Calls whose total cannot hold its results. refused_results.sh compiles this file once as it is,
// and once with RAMIFY_TEST_REFUSED, in which each call has a wrong type.
#include <cstdint>
#include <ramify/branch_and_bound.cuh>
#include <ramify/fork_join.cuh>
#include <ramify/rooted_tree/config.hpp>
#include <ramify/traverse.cuh>

#if RAMIFY_TEST_REFUSED
using total = int;
using real = float;
using whole = double;
#else
using total = std::int64_t;
using real = double;
using whole = std::int64_t;
#endif

namespace {

struct halves {
  __device__ unsigned degree(unsigned n) const { return n < 2 ? 0 : 2; }
  __device__ unsigned child(unsigned n, unsigned i) const { return (n + i) / 2; }
};
struct nodes {
  __device__ std::int64_t operator()(unsigned, unsigned) const { return 1; }
};
struct lengths {
  __device__ float operator()(unsigned, unsigned) const { return 1; }
};
struct sum {
  __device__ std::int64_t operator()(std::int64_t a, std::int64_t b) const { return a + b; }
};
struct real_sum {
  __device__ double operator()(double a, double b) const { return a + b; }
};
struct short_sum {  // its int counts as a short
  __device__ int operator()(short a, short b) const { return a + b; }
};
struct short_nodes {
  __device__ short operator()(unsigned, unsigned) const { return 1; }
};

struct product : halves {
  __device__ total leaf(unsigned) const { return 1; }
  __device__ std::int64_t combine(unsigned, const total* parts, unsigned) const {
    return std::int64_t{parts[0]} * parts[1];
  }
};

struct cheapest : halves {
  __device__ whole bound(unsigned) const { return 0; }
  __device__ whole value(unsigned) const { return 0; }
};

}  // namespace

void calls() {
  (void)ramify::traverse(5u, halves{}, nodes{}, sum{}, total{0});
  (void)ramify::traverse(5u, halves{}, lengths{}, real_sum{}, real{0});
  (void)ramify::traverse(5u, halves{}, short_nodes{}, short_sum{}, short{0});
  (void)ramify::fork_join(5u, product{});
  (void)ramify::branch_and_bound(5u, cheapest{});
  const total* const values = nullptr;
  (void)ramify::make_tree_folds(values, sum{}, nullptr, nullptr);
}
