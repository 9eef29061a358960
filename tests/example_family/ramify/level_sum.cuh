// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// level_sum() for CUDA code: sums numbers level by level, as an example of a family.
///
///     values   <-- [1, 2, 3, …, n]      level 1: one sum of each tile of values
///     *sum     --> n (n + 1) / 2        level 2: one sum of each tile of sums, and so on
///
/// Numbers      n numbers in device memory, which are read only.
/// Scratch      2 n / tile numbers and a few hundred bytes, from the stream-ordered pool or handed
///              in.
/// Stream       level_sum_async() returns before the sum is known; get() waits for the stream. A
///              graph can capture it if memory is handed in.
/// Launches     one grid for each level, log(n) levels of base `tile`. The last block of each grid
///              launches the next one.
/// Complexity   n additions, n numbers read.

#include <ramify/runtime/detail/requirements.hpp>

#include <memory>
#include <ramify/level_sum.hpp>
#include <ramify/runtime/collectives.cuh>
#include <ramify/runtime/detail/arguments.hpp>
#include <ramify/runtime/detail/launch_chain.cuh>
#include <ramify/runtime/detail/started_run.cuh>

namespace ramify::detail::level_sum::inline RAMIFY_BUILD {

inline constexpr unsigned threads = 256;

/// The result of the last level that is complete.
struct level_state {
  unsigned long long count;  ///< numbers that are left: 1 when the sum is complete
  unsigned level;            ///< it reads buffer level % 2, or at level 0 the input
};

/// The program of the launch chain, and the argument of its kernels.
struct level_program : chain_link {
  using state_type = level_state;
  static constexpr auto join = chain_join::last_block;

  level_state* state;
  const unsigned long long* numbers;
  unsigned long long* buffers[2];
  unsigned long long n;
  unsigned tile;

  [[nodiscard]] __host__ __device__ unsigned blocks_of(unsigned long long count) const {
    return static_cast<unsigned>((count + tile - 1) / tile);
  }
  [[nodiscard]] __host__ __device__ bool finished(const level_state& s) const {
    return s.count <= 1 && s.level > 0;
  }
  [[nodiscard]] __host__ __device__ bool repeats(const level_state&) const { return true; }
  [[nodiscard]] __host__ __device__ unsigned slots_of(const level_state&) const { return 1; }
  template <class Grids>
  __host__ __device__ void launch_round(const level_state& s, Grids& grids) const;
  template <class Grids>
  void launch_repeated(const level_state&, Grids& grids) const;
};

struct add {
  __device__ unsigned long long operator()(unsigned long long a, unsigned long long b) const {
    return a + b;
  }
};

/// Sums each tile of a level. `launches` is false in the loop body of a graph, where kernels must
/// not contain device launches.
template <bool launches, class Program>
__global__ void __launch_bounds__(threads) sum_level(Program program) {
  const traced here(program.trace, __func__);
  using reduce = block_reduce<unsigned long long, threads>;
  __shared__ typename reduce::TempStorage storage;
  // 1. This block's tile. A graph launches a grid for the largest level.
  const level_state due = *program.state;
  const auto* from = due.level == 0 ? program.numbers : program.buffers[due.level % 2];
  unsigned long long* to = program.buffers[(due.level + 1) % 2];
  const unsigned long long begin = static_cast<unsigned long long>(blockIdx.x) * program.tile;
  const unsigned long long end =
      begin + program.tile < due.count ? begin + program.tile : due.count;
  // 2. Sum the tile.
  unsigned long long sum = 0;
  for (auto i = begin + threadIdx.x; i < end; i += threads) sum += from[i];
  sum = reduce(storage).Reduce(sum, add{});
  if (threadIdx.x == 0 && begin < end) to[blockIdx.x] = sum;
  // 3. Recurse. Join: the last block to arrive has all sums of the level before it.
  if (!program.is_last_block(gridDim.x) || threadIdx.x != 0) return;
  *program.state = {program.blocks_of(due.count), due.level + 1};
  if constexpr (launches) {
    end_round(program, __func__);
  } else {
    end_iteration(program);
  }
}

template <class Grids>
__host__ __device__ void level_program::launch_round(const level_state& s, Grids& grids) const {
  grids.unordered(sum_level<true, level_program>, {blocks_of(s.count), threads}, *this);
}

template <class Grids>
void level_program::launch_repeated(const level_state&, Grids& grids) const {
  grids(sum_level<false, level_program>, {blocks_of(n), threads}, *this);
}

/// The parts of the scratch memory.
struct level_memory {
  level_memory(memory_layout& memory, std::size_t n, unsigned tile)
      : state(memory.take<level_state>(1)) {
    for (auto& buffer : buffers) buffer = memory.take<unsigned long long>((n + tile - 1) / tile);
  }
  level_state* state;
  unsigned long long* buffers[2];
};

/// A sum that is being computed.
class level_run final : public device_run<level_sum_result, level_memory> {
 public:
  level_run(const run_setup& setup, const unsigned long long* numbers, std::size_t n, unsigned tile)
      : device_run(setup, n, tile),
        chain_(control, {{}, parts.state, numbers, {parts.buffers[0], parts.buffers[1]}, n, tile},
               setup.loop) {
    chain_.write_state({n, 0});
    chain_.start();
  }

 private:
  level_sum_result finish() override {
    chain_.finish();
    const level_state& last = chain_.state();
    const auto sum =
        read_back(chain_.program().buffers[last.level % 2], choices.stream, "reading the sum");
    return {sum, {end(), last.level}};
  }

  launch_chain<level_program> chain_;
};

/// Checks the arguments that need no device. \throws std::invalid_argument
inline void check_arguments(std::size_t n, const level_sum_options& options) {
  validate(options);
  check_field(n >= 1 && n >> 31 == 0, "level_sum: n", n, "in [1, 2^31)");
}

}  // namespace ramify::detail::level_sum::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// Returns the scratch memory of a sum of n numbers, in bytes. \throws std::invalid_argument
[[nodiscard]] inline std::size_t level_sum_scratch_bytes(std::size_t n,
                                                         const level_sum_options& options = {}) {
  detail::level_sum::check_arguments(n, options);
  return detail::level_sum::level_run::scratch_bytes(n, options.tile);
}

/// Starts to sum n numbers.
/// \param env  its memory: level_sum_scratch_bytes(n, options)
/// \throws std::invalid_argument, unavailable, cuda_error
[[nodiscard]] inline async_run<level_sum_result> level_sum_async(const unsigned long long* numbers,
                                                                 std::size_t n,
                                                                 const level_sum_options& options,
                                                                 const environment& env = {}) {
  detail::level_sum::check_arguments(n, options);
  // Only get() returns results, so the stream need not complete them.
  detail::run_setup setup("level_sum", detail::by_get(env));
  check_device_access(numbers, "level_sum: numbers");
  setup.choose_route(2, route_choice{route::device, "automatic"});
  return std::make_unique<detail::level_sum::level_run>(setup, numbers, n, options.tile);
}
/// Overload with the default options.
[[nodiscard]] inline async_run<level_sum_result> level_sum_async(const unsigned long long* numbers,
                                                                 std::size_t n,
                                                                 const environment& env = {}) {
  return level_sum_async(numbers, n, level_sum_options{}, env);
}

/// Sums n numbers and waits for the result: level_sum_async() and get().
/// \param env  its memory: level_sum_scratch_bytes(n, options)
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error
[[nodiscard]] inline level_sum_result level_sum(const unsigned long long* numbers, std::size_t n,
                                                const level_sum_options& options,
                                                const environment& env = {}) {
  return level_sum_async(numbers, n, options, env).get();
}
/// Overload with the default options.
[[nodiscard]] inline level_sum_result level_sum(const unsigned long long* numbers, std::size_t n,
                                                const environment& env = {}) {
  return level_sum(numbers, n, level_sum_options{}, env);
}

}  // namespace ramify::inline RAMIFY_BUILD
