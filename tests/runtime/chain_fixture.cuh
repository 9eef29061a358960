// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A launch chain whose rounds count their grids and blocks, in all kinds of programs. Its kernels
/// are templates, so several sources of a program may include it.

#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/detail/launch_chain.cuh>
#include <ramify/runtime/residency.cuh>
#include <vector>

#include "backend_under_test.hpp"
#include "device_vectors.cuh"
#include "schedules.hpp"

namespace tests::inline RAMIFY_BUILD {
namespace chains {

using namespace ramify::detail::runtime;

constexpr unsigned rounds = 12;
constexpr unsigned width = 5;

/// The state that a round passes to the next one.
struct counts {
  unsigned done;   ///< rounds that are complete
  unsigned lanes;  ///< of the due round: width + done % 3 blocks
};

/// Each round has the grids `visit`, which counts its blocks, and `check_and_end`, which checks the
/// counts and ends the round. A round that launch_round() launches also has the grid `visit_aside`,
/// which runs in no order with the others.
template <chain_join how, bool bounded>
struct program : chain_link {
  using state_type = counts;
  static constexpr auto join = how;
  static constexpr bool releases_slots = bounded;

  counts* state;
  unsigned* visits;  ///< rounds * 2 * width
  unsigned* aside;   ///< rounds
  unsigned* errors;
  unsigned last;
  unsigned exhausted_after =
      0;  ///< the end of this round on the device route takes all slots; 0: none

  [[nodiscard]] __host__ __device__ bool finished(const counts& now) const {
    return now.done == last;
  }
  [[nodiscard]] __host__ __device__ bool repeats(const counts&) const { return true; }
  [[nodiscard]] __host__ __device__ unsigned slots_of(const counts&) const { return 3; }
  template <class Grids>
  __host__ __device__ void launch_round(const counts& now, Grids& grids) const;
  template <class Grids>
  void launch_repeated(const counts&, Grids& grids) const;
};

template <class Program>
__global__ void visit(Program program, unsigned blocks) {
  const traced here(program.trace, __func__);
  program.release_slot();
  const counts now = *program.state;
  const unsigned due = blocks == 0 ? now.lanes : blocks;
  if (threadIdx.x == 0 && blockIdx.x < due) {
    atomicAdd(&program.visits[now.done * 2 * width + blockIdx.x], 1u);
  }
}

template <class Program>
__global__ void visit_aside(Program program, unsigned round) {
  const traced here(program.trace, __func__);
  program.release_slot();
  if (threadIdx.x == 0) atomicAdd(&program.aside[round], 1u);
}

template <bool launches, class Program>
__global__ void check_and_end(Program program) {
  const traced here(program.trace, __func__);
  program.release_slot();
  const counts now = *program.state;
  // The grid before this one in the round is complete.
  if (threadIdx.x < now.lanes &&
      load_relaxed(program.visits[now.done * 2 * width + threadIdx.x]) == 0) {
    atomicAdd(program.errors, 1u);
  }
  if (!program.is_last_block(gridDim.x) || threadIdx.x != 0) return;
  if (!program.finished(now)) {
    *program.state = {now.done + 1, width + (now.done + 1) % 3};
  }
  if (program.slots.in_use != nullptr && now.done + 1 == program.exhausted_after) {
    atomicAdd(program.slots.in_use, program.slots.allowed);
  }
  if constexpr (launches) {
    end_round(program, __func__);
  } else {
    end_iteration(program);
  }
}

template <chain_join how, bool bounded>
template <class Grids>
__host__ __device__ void program<how, bounded>::launch_round(const counts& now,
                                                             Grids& grids) const {
  grids.unordered(visit_aside<program>, {1, 32}, *this, now.done);
  grids(visit<program>, {now.lanes, 32}, *this, now.lanes);
  grids(check_and_end<true, program>, {2, 32}, *this);
}

template <chain_join how, bool bounded>
template <class Grids>
void program<how, bounded>::launch_repeated(const counts&, Grids& grids) const {
  grids(visit<program>, {2 * width, 32}, *this, 0u);
  grids(check_and_end<false, program>, {2, 32}, *this);
}

struct request {
  route taken = route::device;
  flat_loop loop = flat_loop::host;
  std::size_t limit = 2048;
  unsigned last = rounds;
  completion until = completion::by_get;
  unsigned exhausted_after = 0;
};

/// Returns the choices of a run in `stream`.
inline run_choices choices_of(const request& how, cudaStream_t stream = nullptr) {
  return {.algorithm = "chain",
          .stream = stream,
          .given = {},
          .wanted = how.taken,
          .wanted_loop = how.loop,
          .trace = nullptr,
          .completion = how.until,
          .device = ramify::current_device(),
          .captured = is_being_captured(stream),
          .limits = nullptr,
          .limit = how.limit,
          .loop = choose_loop(how.loop, "flat_loop"),
          .choice = choose_route(how.taken, how.limit, 1, {route::flat, "automatic"})};
}

/// The memory of a chain, and what its rounds have done.
template <class Program>
struct fixture {
  explicit fixture(const request& how)
      : control(status.data(), choices_of(how)),
        chain(control,
              Program{{},
                      state.data(),
                      visits.data(),
                      aside.data(),
                      errors.data(),
                      how.last,
                      how.exhausted_after},
              choose_loop(how.loop, "flat_loop")) {}

  void start() {
    const counts first{0, width};
    chain.write_state(first);
    if (Program::releases_slots && control.on_device_route() && chain.program().last > 0) {
      chain.launch_first_round(first);
    }
    chain.start();
  }

  /// Returns whether each round ran `times` times, with all its blocks.
  [[nodiscard]] bool ran(unsigned times, bool has_aside, unsigned last = rounds) const {
    const auto seen = download(visits);
    const auto beside = download(aside);
    bool right = download(errors)[0] == 0;
    for (unsigned round = 0; round < rounds; ++round) {
      const unsigned wanted = round < last ? times : 0;
      right = right && (!has_aside || beside[round] == wanted);
      for (unsigned block = 0; block < 2 * width; ++block) {
        right =
            right && seen[round * 2 * width + block] == (block < width + round % 3 ? wanted : 0);
      }
    }
    return right;
  }

  device_buffer<std::byte> status{run_control::scratch_bytes, nullptr};
  device_buffer<counts> state = zeros<counts>(1);
  device_buffer<unsigned> visits = zeros<unsigned>(rounds * 2 * width);
  device_buffer<unsigned> aside = zeros<unsigned>(rounds);
  device_buffer<unsigned> errors = zeros<unsigned>(1);
  run_control control;
  launch_chain<Program> chain;
};

/// Runs a chain on a route. Returns whether all its rounds ran once.
template <class Program>
bool run_chain(route taken) {
  fixture<Program> memory({.taken = taken});
  memory.start();
  memory.chain.finish();
  return memory.ran(1, true);
}

using by_last_block = program<chain_join::last_block, false>;
using by_bounded_chain = program<chain_join::last_block, true>;
using by_tail_launch = program<chain_join::tail_launch, false>;

template <class Check>
void for_each_program(Check check) {
  BOOST_TEST_CONTEXT("last block") { check(static_cast<by_last_block*>(nullptr)); }
  BOOST_TEST_CONTEXT("bounded") { check(static_cast<by_bounded_chain*>(nullptr)); }
  BOOST_TEST_CONTEXT("tail launch") { check(static_cast<by_tail_launch*>(nullptr)); }
}

}  // namespace chains
}  // namespace tests::inline RAMIFY_BUILD
