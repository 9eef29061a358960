// SPDX-License-Identifier: BSD-3-Clause
// A ladder: quicksort in eight versions, one change each, from one thread per segment to the
// library.
//
//     ladder_quicksort --n 100000                            # checks and times the rungs
//     ladder_quicksort --rung 3 --n 500 --trace three.html   # draws the launches of one rung
#include "../ladder.hpp"

#include <algorithm>
#include <chrono>
#include <ramify/runtime/limits.cuh>

#include "1_one_thread.cuh"
#include "2_threshold.cuh"
#include "3_fire_and_forget.cuh"
#include "4_block_partition.cuh"
#include "5_block_sort.cuh"
#include "6_many_blocks.cuh"
#include "7_many_pivots.cuh"
#include "8_the_library.cuh"
#include "quicksort/distributions.hpp"

namespace {

using namespace ramify;

class sorting {
 public:
  using rung_function = void (*)(std::uint32_t*, std::size_t, ladder::ladder_run&);

  sorting(std::size_t n, cudaStream_t stream)
      : sorting(common::make_ranks(common::distribution::uniform, n, 1), stream) {}
  sorting(const std::vector<std::uint32_t>& input, cudaStream_t stream)
      : expected_(input),
        seen_(input.size()),
        input_(input.size(), stream),
        keys_(input.size(), stream),
        stream_(stream) {
    copy(input_.data(), input.data(), cudaMemcpyHostToDevice);
    std::ranges::sort(expected_);
  }

  [[nodiscard]] std::size_t size() const { return expected_.size(); }

  ladder::run_result run(rung_function sort, cudaStream_t stream, launch_trace* trace) {
    copy(keys_.data(), input_.data(), cudaMemcpyDeviceToDevice);
    // A grid sorts at least two keys, so there are not more grids than keys.
    ladder::ladder_run run(size(), stream, trace);
    host_event begin;
    host_event end;
    begin.record(stream);
    sort(keys_.data(), size(), run);
    end.record(stream);
    const ladder::run_result result{run.finish(), end.milliseconds_since(begin)};
    check_result();
    return result;
  }

  double run_baseline() {
    copy(seen_.data(), input_.data(), cudaMemcpyDeviceToHost);
    const auto begin = std::chrono::steady_clock::now();
    std::ranges::sort(seen_);
    const std::chrono::duration<double, std::milli> passed =
        std::chrono::steady_clock::now() - begin;
    return passed.count();
  }

 private:
  void check_result() {
    copy(seen_.data(), keys_.data(), cudaMemcpyDeviceToHost);
    if (seen_ == expected_) return;
    const auto differ = std::ranges::mismatch(seen_, expected_).in1;
    throw std::runtime_error("key " + std::to_string(differ - seen_.begin()) + " of " +
                             std::to_string(seen_.size()) + " is wrong");
  }

  void copy(void* to, const void* from, cudaMemcpyKind kind) {
    const std::size_t bytes = expected_.size() * sizeof(std::uint32_t);
    check(cudaMemcpyAsync(to, from, bytes, kind, stream_), "copying keys");
    check(cudaStreamSynchronize(stream_), "copying keys");
  }

  std::vector<std::uint32_t> expected_;
  std::vector<std::uint32_t> seen_;
  device_buffer<std::uint32_t> input_;
  device_buffer<std::uint32_t> keys_;
  cudaStream_t stream_;
};

constexpr bool gpu = RAMIFY_ON_CUDA != 0;
constexpr std::size_t any = std::size_t{1} << 31;

const ladder::ladder_description<sorting> quicksorts{
    "quicksort",
    "keys",
    "`std::sort`, on one core of the host",
    {{"uniform", gpu ? 1 << 18 : 1 << 16, gpu ? 1 << 24 : 1 << 20}},
    std::nullopt,
    {
        {"1 one thread", "one grid of one thread per segment, in the NULL stream", 1 << 18,
         ladder::rung_1::sort},
        {"2 threshold", "up to 32 keys are sorted in place", 1 << 20, ladder::rung_2::sort},
        {"3 fire-and-forget", "both halves at the same time", 1 << 22, ladder::rung_3::sort},
        {"4 block partition", "a block splits a segment", any, ladder::rung_4::sort},
        {"5 block sort", "a block sorts leaves, in shared memory", any, ladder::rung_5::sort},
        {"6 many blocks", "many blocks split a large segment", any, ladder::rung_6::sort},
        {"7 many pivots", "hundreds of parts at once, level by level", any, ladder::rung_7::sort},
        {"8 the library", "the same, optimized: `ramify::quicksort`, device route", any,
         ladder::rung_8::sort},
    }};

void expect(bool condition, int rung, const char* what) {
  if (!condition) throw std::logic_error("rung " + std::to_string(rung) + ": " + what);
}

/// Checks that the rungs launch what their head comments state, with enough slots.
void check_launches(cudaStream_t stream) {
  const launch_limits scope({.pending_launches = 2048});
  constexpr std::size_t n = gpu ? 12'000 : 3000;
  sorting problem(n, stream);
  std::size_t grids[8] = {};
  unsigned deepest[8] = {};
  for (int rung = 1; rung < 8; ++rung) {
    const run_report report = ladder::run_once(problem, quicksorts.rungs[rung - 1], stream).report;
    expect(report.spilled_tasks == 0, rung, "a segment got no slot");
    grids[rung] = report.host_grids + report.child_grids;
    deepest[rung] = report.deepest_level;
  }
  expect(grids[1] == n - 1, 1, "not one grid per segment");
  expect(grids[2] > n / 20 && grids[2] < n / 13, 2, "not one grid per 16 keys or so");
  expect(deepest[2] + 4 < deepest[1], 2, "as deep as without a threshold");
  expect(grids[3] == grids[2] && deepest[3] == deepest[2], 3, "another tree than before");
  expect(grids[4] <= grids[3], 4, "more grids than before");
  expect(8 * grids[5] < grids[4], 5, "too many grids");
  expect(deepest[5] + 4 < deepest[4], 5, "as deep as before");
  expect(grids[6] < 2 * grids[5], 6, "another tree than before");
  expect(grids[7] == 3 && deepest[7] == 1, 7, "not one level and its leaves");
}

/// Checks all rungs on all input distributions, also with few launch slots or none.
void check_rungs() {
  using common::distribution;
  const host_stream stream;
  check_launches(stream.get());
  std::vector<std::size_t> limits{2048, 300, 32};  // quotas of 1024, 150 and 2
  if (!gpu) limits.push_back(1);                   // a quota of 0; no GPU grants such a small limit
  for (std::size_t i = 0; i < quicksorts.rungs.size(); ++i) {
    const auto& r = quicksorts.rungs[i];
    // Large enough for two levels with 256 parts; smaller for the rungs with small leaves.
    const bool has_small_leaves = i < 4;
    const std::size_t large = has_small_leaves ? 5000 : gpu ? 1'500'000 : 20'000;
    std::size_t sorts = 0;
    std::uint64_t grids = 0;
    std::uint64_t spilled = 0;
    for (const std::size_t limit : limits) {
      const launch_limits scope({.pending_launches = limit});
      const std::uint64_t before = spilled;
      const std::uint64_t before_grids = grids;
      const auto sort = [&](distribution kind, std::size_t n) {
        sorting problem(common::make_ranks(kind, n, n), stream.get());
        const run_report report = ladder::run_once(problem, r, stream.get()).report;
        ++sorts;
        grids += report.child_grids;
        spilled += report.spilled_tasks;
      };
      for (const distribution kind : ramify::all_choices<common::distribution>()) {
        for (const std::size_t n : {1, 2, 3, 33, 700}) sort(kind, n);
        if (limit == limits[0] || kind == distribution::uniform) sort(kind, large);
      }
      // Without a slot nothing is launched, and the report states it. (The library takes the flat
      // route.)
      const int rung = static_cast<int>(i) + 1;
      if (limit == 1) expect(grids == before_grids, rung, "a grid was launched without a slot");
      if (limit == 1 && rung < 8)
        expect(spilled > before, rung, "the report counts no segment without a slot");
    }
    std::cout << "rung " << r.name << ": " << sorts << " inputs sorted; kernels launched " << grids
              << " grids; segments without a slot: " << spilled << std::endl;
  }
}

}  // namespace

int main(int argc, char** argv) { return ladder::run_program(argc, argv, quicksorts, check_rungs); }
