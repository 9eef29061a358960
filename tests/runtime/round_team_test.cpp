// SPDX-License-Identifier: BSD-3-Clause
// Blocks of a grid that stay for further rounds: each part of a round is visited once, and the last
// block sees the writes of all parts, under all schedules. A round may have more parts than blocks.
#include <boost/test/unit_test.hpp>
#include <ramify/cpu/executor.hpp>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/detail/round_team.cuh>
#include <ramify/runtime/stream.cuh>

namespace {

using ramify::detail::runtime::chain_progress;
using ramify::detail::runtime::round_team;

constexpr unsigned max_parts = 64;
constexpr unsigned rounds = 40;

/// What the blocks of the rounds write.
struct team_log {
  chain_progress progress;
  unsigned round;              ///< rounds that are complete
  unsigned grids;              ///< grids that have ended
  unsigned shared_rounds;      ///< rounds without a grid of their own that several blocks shared
  unsigned further_parts;      ///< parts that a block took after its first one
  unsigned faults;             ///< parts that no block or several blocks visited
  unsigned blocks;             ///< that visited parts of the running round
  unsigned visits[max_parts];  ///< of the parts of the running round
};

/// Returns the number of parts of round number `round`, unless it is the first one of all.
__device__ unsigned parts_of(unsigned round) { return 1 + round * 7 % 17; }

/// Completes the round. One thread of the last block calls it.
__device__ void complete(team_log& log, unsigned parts, bool is_first) {
  for (unsigned i = 0; i < max_parts; ++i) {
    if (log.visits[i] != (i < parts ? 1 : 0)) ++log.faults;
    log.visits[i] = 0;
  }
  if (!is_first && log.blocks > 1) ++log.shared_rounds;
  log.blocks = 0;
  ++log.round;
}

/// Runs rounds. A block first waits until all blocks have begun, for at most `patience` reads.
__global__ void run_rounds(team_log* log, unsigned patience) {
  __shared__ round_team::part_memory shared;
  // All blocks read log->round before the first round of the grid can be complete.
  const unsigned first = log->round == 0 ? gridDim.x : parts_of(log->round);
  round_team team(log->progress, shared, first);
  while (patience != 0 && ramify::load_relaxed(log->progress.begun) != gridDim.x) {
    --patience;
  }
  bool is_first = true;
  do {
    unsigned visited = 0;
    for (bool has = team.has_part(); has; has = team.take_part()) {
      const unsigned rank = team.part().rank;
      if (threadIdx.x == 0 && rank < max_parts) atomicAdd(&log->visits[rank], 1u);
      ++visited;
    }
    if (threadIdx.x == 0 && visited != 0) {
      atomicAdd(&log->blocks, 1u);
      atomicAdd(&log->further_parts, visited - 1);
    }
    if (team.is_last() && threadIdx.x == 0) {
      complete(*log, team.part().count, is_first);
      if (log->round % 13 == 0 || log->round >= rounds) {
        ++log->grids;
        team.end();
      } else {
        team.begin_round(parts_of(log->round), 5);
      }
    }
    is_first = false;
  } while (team.next());
}

/// Launches grids until all rounds are complete, and checks them. Returns the log.
team_log run_all(unsigned blocks, cudaStream_t stream, unsigned patience = 0) {
  const ramify::device_buffer<team_log> on_device(1, stream);
  ramify::check(cudaMemsetAsync(on_device.data(), 0, sizeof(team_log), stream), "clearing");
  team_log log{};
  while (log.round < rounds) {
    ramify::check(
        ramify::launch(run_rounds, {blocks, 64}, stream, on_device.data(), patience).code(),
        "launching rounds");
    ramify::check(
        cudaMemcpyAsync(&log, on_device.data(), sizeof log, cudaMemcpyDeviceToHost, stream),
        "reading the log");
    ramify::check(cudaStreamSynchronize(stream), "waiting");
  }
  BOOST_TEST(log.round == rounds);
  BOOST_TEST(log.grids == 4u);  // rounds 13, 26, 39 and 40 end a grid
  BOOST_TEST(log.faults == 0u);
  BOOST_TEST(log.further_parts > rounds);  // of at most 5 blocks that stay
  BOOST_TEST(log.progress.arrived == 0u);
  BOOST_TEST(log.progress.begun == 0u);
  BOOST_TEST(log.progress.taken == 0u);
  return log;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(teams_of_rounds)

BOOST_AUTO_TEST_CASE(each_round_has_each_part_once) {
  const ramify::host_stream stream;
  for (const unsigned blocks : {1u, 2u, 7u, max_parts}) {
    BOOST_TEST_CONTEXT(blocks << " blocks") { (void)run_all(blocks, stream.get()); }
  }
}

#if RAMIFY_ON_CUDA

BOOST_AUTO_TEST_CASE(a_grid_with_more_blocks_than_fit) {
  const ramify::host_stream stream;
  const unsigned fitting = ramify::resident_blocks(run_rounds, 64, 0);
  const team_log log = run_all(2 * fitting, stream.get(), 10'000);
  BOOST_TEST(log.shared_rounds > 10u);  // negative control: blocks did stay
}

#else  // only the executor can be configured

BOOST_AUTO_TEST_CASE(under_each_schedule) {
  using ramify::cpu::schedule;
  const ramify::host_stream stream;
  auto config = ramify::cpu::current_executor_config();
  unsigned shared_rounds = 0;
  for (const schedule order : {schedule::eager, schedule::late, schedule::random, schedule::weak}) {
    config.order = order;
    const bool has_seeds = order == schedule::random || order == schedule::weak;
    for (config.seed = 1; config.seed <= (has_seeds ? 4 : 1); ++config.seed) {
      const ramify::cpu::scoped_executor_config scope(config);
      BOOST_TEST_CONTEXT("schedule " << static_cast<int>(order) << ", seed " << config.seed) {
        const team_log log = run_all(6, stream.get());
        if (order == schedule::random) shared_rounds += log.shared_rounds;
      }
    }
  }
  BOOST_TEST(shared_rounds > 10u);  // negative control: blocks did stay
}

#endif

BOOST_AUTO_TEST_SUITE_END()
