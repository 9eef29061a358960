// SPDX-License-Identifier: BSD-3-Clause
// Completion of launch chains in the order of the stream: grids after a chain launch what kernels
// have not launched. Loops that runs of a program share.
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <optional>
#include <ramify/runtime/captured_graph.cuh>
#include <ramify/runtime/detail/loop_nodes.cuh>
#include <type_traits>
#include <vector>

#include "backend_under_test.hpp"
#include "chain_fixture.cuh"
#include "printing.hpp"
#include "slot_checks.cuh"

namespace tests::inline RAMIFY_BUILD {
namespace chains {
namespace {

/// A chain of `rounds` phases, all of which the host can launch ahead. A grid whose phase is not
/// due ends at once. If `stateless`, finish() only waits.
template <bool stateless>
struct ahead_program : chain_link {
  using state_type = unsigned;  // phases that are complete
  using due_type = unsigned;
  static constexpr auto join = chain_join::last_block;

  unsigned* state;

  [[nodiscard]] __host__ __device__ bool finished(unsigned done) const { return done == rounds; }
  [[nodiscard]] __host__ __device__ bool repeats(unsigned) const { return false; }
  [[nodiscard]] __host__ __device__ unsigned slots_of(unsigned) const { return 1; }
  [[nodiscard]] bool is_complete_ahead() const { return true; }
  [[nodiscard]] bool has_no_state() const { return stateless; }
  [[nodiscard]] static bool expects(unsigned, unsigned next) { return next < rounds; }
  template <class Row>
  __host__ __device__ void phase_table(unsigned due, Row& row) const;
  template <class Grids>
  void launch_rest(Grids& grids) const {
    launch_expected(*this, 0u, grids);
  }
};

template <class Program>
__global__ void do_phase(Program program, unsigned phase) {
  if (*program.state != phase) return;
  *program.state = phase + 1;
  end_round(program, __func__);
}

template <bool stateless>
template <class Row>
__host__ __device__ void ahead_program<stateless>::phase_table(unsigned due, Row& row) const {
  row(do_phase<ahead_program>, {1, 1}, due + 1);
}

/// Runs a flat chain whose status no grid clears. Returns its state.
template <bool stateless>
unsigned run_ahead() {
  const device_buffer<std::byte> status(run_control::scratch_bytes, nullptr);
  const auto state = zeros<unsigned>(1);
  // A status with an error, which is its first member.
  static_assert(std::is_same_v<decltype(run_status::error), int>);
  check(cudaMemsetAsync(status.data(), 0, status.size(), nullptr), "clearing a status");
  check(cudaMemsetAsync(status.data(), 0xff, sizeof(int), nullptr), "overwriting an error");
  run_choices choices = choices_of({.taken = route::flat, .until = completion::in_stream});
  choices.first_grid_clears = true;
  run_control control(status.data(), choices);
  launch_chain<ahead_program<stateless>> chain(control, {{}, state.data()}, choices.loop);
  chain.launch_first_round(0);
  chain.start();
  BOOST_TEST(chain.completes_in_stream());
  BOOST_TEST(!chain.finish());
  BOOST_TEST(control.report().host_grids == rounds);
  return download(state)[0];
}

#if RAMIFY_ON_CUDA

__global__ void decide(const unsigned* left, loop_condition loop) { loop.again(*left > 0); }
__global__ void add(unsigned* sum, unsigned amount) { *sum += amount; }
__global__ void count_down(unsigned* left, loop_condition loop) { loop.again(--*left > 0); }

/// One run of a shared loop.
struct loop_run {
  unsigned iterations;
  unsigned amount;
  unsigned adders;  ///< grids of an iteration that add `amount`
};

struct shared_by_tests {};

/// Runs loops one after another, without a wait between them, and checks their sums.
template <bool decides>
void check_shared_loop(const std::vector<loop_run>& runs) {
  reusable_loop<shared_by_tests, decides> loop;
  const host_stream stream;
  const auto sums = zeros<unsigned>(runs.size());
  std::vector<unsigned> counts;
  for (const loop_run& run : runs) counts.push_back(run.iterations);
  const auto left = upload(counts);
  check(cudaDeviceSynchronize(), "waiting");
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const auto before = [&](const loop_condition& condition, auto& grids) {
      grids(decide, launch_shape{1, 1}, left.data() + k, condition);
    };
    const auto body = [&](const loop_condition& condition, auto& grids) {
      for (unsigned grid = 0; grid < runs[k].adders; ++grid) {
        grids(add, launch_shape{1, 1}, sums.data() + k, runs[k].amount);
      }
      grids(count_down, launch_shape{1, 1}, left.data() + k, condition);
    };
    unsigned launched = 0;
    if constexpr (decides) {
      launched = loop.launch(stream.get(), body, before);
    } else {
      launched = loop.launch(stream.get(), body, nothing_before{});
    }
    BOOST_TEST(launched == runs[k].adders + 1);
  }
  stream.synchronize();
  const auto found = download(sums);
  for (std::size_t k = 0; k < runs.size(); ++k) {
    BOOST_TEST(found[k] == runs[k].iterations * runs[k].amount * runs[k].adders, "run " << k);
  }
}

#endif

}  // namespace
}  // namespace chains
}  // namespace tests::inline RAMIFY_BUILD

using namespace tests;
using namespace tests::chains;

BOOST_AUTO_TEST_SUITE(chain_completion)

BOOST_AUTO_TEST_CASE(a_chain_without_state_reads_no_status) {
  BOOST_TEST(run_ahead<true>() == rounds);
  // Negative control: a chain with a state reads the status, which is wrong.
  BOOST_CHECK_THROW(static_cast<void>(run_ahead<false>()), std::exception);
}

#if !RAMIFY_ON_CUDA
BOOST_AUTO_TEST_CASE(the_executor_leaves_a_chain_to_finish) {
  for_each_program([&]<class Program>(Program*) {
    fixture<Program> memory({.loop = flat_loop::automatic, .until = completion::in_stream});
    {
      const all_slots_taken taken(2048);
      memory.start();
      BOOST_TEST(!memory.chain.completes_in_stream());
      BOOST_TEST(!memory.ran(1, false));
      BOOST_TEST(memory.chain.finish());
    }
    BOOST_TEST(memory.ran(1, true));
  });
}
#else

// Slots are taken before the chain begins, or by the end of its fifth round.
BOOST_AUTO_TEST_CASE(a_loop_launches_what_found_no_slots) {
  for (const unsigned exhausted_after : {0u, 5u}) {
    for (const completion until : {completion::in_stream, completion::by_get}) {
      BOOST_TEST_CONTEXT("no slots after round " << exhausted_after << ", " << to_string(until)) {
        for_each_program([&]<class Program>(Program*) {
          const launch_limits limits({.pending_launches = 2048});
          fixture<Program> memory(
              {.loop = flat_loop::automatic, .until = until, .exhausted_after = exhausted_after});
          std::optional<all_slots_taken> taken;
          if (exhausted_after == 0) taken.emplace(2048);
          memory.start();
          check(cudaStreamSynchronize(nullptr), "waiting");
          const bool in_stream = until == completion::in_stream;
          BOOST_TEST(memory.chain.completes_in_stream() == in_stream);
          BOOST_TEST(memory.ran(1, false) == in_stream);
          BOOST_TEST(memory.chain.finish() == !in_stream);
          BOOST_TEST(memory.ran(1, false));
          BOOST_TEST(memory.control.report().spilled_tasks > 0u);
          BOOST_TEST(memory.control.report().graph_grids > 0u);
          taken.reset();
          const all_slots_taken sets_to_zero_at_its_end(2048);
        });
        BOOST_TEST(slots_in_use() == 0u);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_loop_after_a_complete_chain_does_nothing) {
  for_each_program([&]<class Program>(Program*) {
    const launch_limits limits({.pending_launches = 2048});
    fixture<Program> memory({.loop = flat_loop::automatic, .until = completion::in_stream});
    memory.start();
    BOOST_TEST(memory.chain.completes_in_stream());
    BOOST_TEST(!memory.chain.finish());
    BOOST_TEST(memory.ran(1, true));
    BOOST_TEST(memory.control.report().graph_grids == 0u);
    BOOST_TEST(slots_in_use() == 0u);
  });
}

BOOST_AUTO_TEST_CASE(flat_grids_launch_what_found_no_slots) {
  for (const completion until : {completion::in_stream, completion::by_get}) {
    BOOST_TEST_CONTEXT(to_string(until)) {
      const device_buffer<std::byte> status(run_control::scratch_bytes, nullptr);
      const auto state = zeros<unsigned>(1);
      const run_choices choices = choices_of({.loop = flat_loop::automatic, .until = until});
      run_control control(status.data(), choices);
      launch_chain<ahead_program<false>> chain(control, {{}, state.data()}, choices.loop);
      const all_slots_taken taken(2048);
      chain.start();
      const bool in_stream = until == completion::in_stream;
      BOOST_TEST(chain.completes_in_stream() == in_stream);
      BOOST_TEST(download(state)[0] == (in_stream ? rounds : 0u));
      BOOST_TEST(chain.finish() == !in_stream);
      BOOST_TEST(download(state)[0] == rounds);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_graph_captures_a_chain_with_its_completion) {
  for_each_program([&]<class Program>(Program*) {
    const launch_limits limits({.pending_launches = 2048});
    const host_stream stream;
    const device_buffer<std::byte> status(run_control::scratch_bytes, nullptr);
    const request how{.loop = flat_loop::automatic, .until = completion::in_stream};
    fixture<Program> memory(how);
    std::optional<run_control> control;
    std::optional<launch_chain<Program>> chain;
    check(cudaDeviceSynchronize(), "waiting");
    const captured_graph graph(
        stream.get(),
        [&] {
          const run_choices choices = choices_of(how, stream.get());
          control.emplace(status.data(), choices);
          chain.emplace(*control, memory.chain.program(), choices.loop);
          const counts first{0, width};
          chain->write_state(first);
          if (Program::releases_slots) chain->launch_first_round(first);
          chain->start();
        },
        cudaStreamCaptureModeRelaxed);
    BOOST_TEST(chain->completes_in_stream());
    for (unsigned launches = 1; launches <= 3; ++launches) {
      std::optional<all_slots_taken> taken;
      if (launches == 2) taken.emplace(2048);
      graph.launch(stream.get());
      check(cudaStreamSynchronize(stream.get()), "waiting");
      BOOST_TEST(memory.ran(launches, false));
      BOOST_TEST(!chain->finish());
      BOOST_TEST((control->report().graph_grids > 0) == (launches == 2));
    }
    BOOST_TEST(slots_in_use() == 0u);
  });
}

// The first two runs have the same parameters, the third one has another amount in one node, and
// the fifth one has more nodes.
BOOST_AUTO_TEST_CASE(runs_of_a_loop_with_equal_parameters) {
  const std::vector<loop_run> runs{{3, 5, 1}, {4, 5, 1}, {2, 7, 1},
                                   {6, 5, 1}, {1, 5, 2}, {2, 5, 2}};
  reusable_loop<shared_by_tests, false> loop;
  const host_stream stream;
  const auto sum = zeros<unsigned>(1);
  const auto left = zeros<unsigned>(1);
  check(cudaDeviceSynchronize(), "waiting");
  unsigned expected = 0;
  for (const loop_run& run : runs) {
    check(launch(add, {1, 1}, stream.get(), left.data(), run.iterations).code(), "launching add");
    const auto body = [&](const loop_condition& condition, auto& grids) {
      for (unsigned grid = 0; grid < run.adders; ++grid) {
        grids(add, launch_shape{1, 1}, sum.data(), run.amount);
      }
      grids(count_down, launch_shape{1, 1}, left.data(), condition);
    };
    loop.launch(stream.get(), body, nothing_before{});
    expected += run.iterations * run.amount * run.adders;
  }
  stream.synchronize();
  BOOST_TEST(download(sum)[0] == expected);
}

BOOST_AUTO_TEST_CASE(runs_share_a_loop) {
  check_shared_loop<false>({{3, 5, 1}, {7, 2, 1}, {4, 9, 3}, {1, 1, 2}, {6, 4, 2}});
  check_shared_loop<true>({{3, 5, 1}, {0, 2, 1}, {4, 9, 3}, {0, 1, 2}, {6, 4, 2}});
}

#endif

BOOST_AUTO_TEST_SUITE_END()
