// SPDX-License-Identifier: BSD-3-Clause
// Segmented sorts that kernels call: all mixtures of lengths, segments that are refused, numbers of
// segments on the device, launches that fail, schedules, graphs, and a pipeline with other sorts.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "../segmented_sort/segmented_sort_checks.cuh"
#include "called_sorts.cuh"
#include "captured_calls.cuh"
#include "interrupted_calls.cuh"
#include "printing.hpp"

namespace data = boost::unit_test::data;
using namespace tests;
using namespace tests::calls;

namespace {

using segmented_sorts = segmented_sort_calls<key>;
constexpr std::size_t most = RAMIFY_ON_CUDA ? 400'000 : 40'000;  // elements of a call

/// One call.
struct job {
  key* keys;
  std::size_t n;
  const std::uint32_t* begins;
  const std::uint32_t* ends;
  unsigned segments;
};

/// The continuation of a call: counts the keys in the wrong order, unless the call is faulty.
__global__ void check_segments(job mine, call_log* log, bool is_faulty) {
  unsigned faults = 0;
  for (unsigned s = threadIdx.x; s < mine.segments && !is_faulty; s += blockDim.x) {
    for (std::size_t i = mine.begins[s] + 1; i < mine.ends[s]; ++i) {
      if (mine.keys[i] < mine.keys[i - 1]) ++faults;
    }
  }
  if (faults != 0) atomicAdd(&log->faults, faults);
  if (threadIdx.x == 0) atomicAdd(&log->runs, 1u);
}

/// Calls a segmented sort for each job; a thread calls every so many.
template <class Environment>
__global__ void call_segmented_sorts(const job* jobs, unsigned count, call_log* logs,
                                     call_mode mode, const bool* faulty, Environment calls) {
  const traced here(calls.trace, __func__);
  const unsigned threads = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) {
    const job mine = jobs[i];
    const auto call = [&](const auto& how) {
      return ramify::segmented_sort(mine.keys, mine.n, mine.begins, mine.ends, mine.segments,
                                    ascending{}, how);
    };
    const auto how = mode.refuses ? calls.or_refuse() : calls;
    const call_status status =
        mode.continues ? call(how.then(check_segments, {1, 32}, mine, &logs[i], faulty[i]))
                       : call(how);
    logs[i].status = static_cast<unsigned>(status) + 1;
  }
}

/// Calls of segmented sorts, with their arrays in device memory.
class segmented_jobs {
 public:
  explicit segmented_jobs(std::vector<segment_arrays> all, std::uint64_t seed = 1)
      : all_(std::move(all)), logs_(zeros<call_log>(all_.size())) {
    std::vector<std::uint32_t> begins{0};  // no array is empty
    std::vector<std::uint32_t> ends{0};
    std::vector<std::uint8_t> faulty;
    std::size_t n = 0;
    for (const segment_arrays& one : all_) {
      begins.insert(begins.end(), one.begins.begin(), one.begins.end());
      ends.insert(ends.end(), one.ends.begin(), one.ends.end());
      faulty.push_back(is_faulty(one) ? 1 : 0);
      n += one.n;
    }
    begins_ = upload(begins);
    ends_ = upload(ends);
    faulty_ = upload(faulty);
    keys_ = device_buffer<key>(n + 1, nullptr);
    std::vector<job> jobs;
    std::size_t first = 0;
    std::size_t segment = 1;
    for (const segment_arrays& one : all_) {
      jobs.push_back({keys_.data() + first, one.n, begins_.data() + segment, ends_.data() + segment,
                      static_cast<unsigned>(one.size())});
      first += one.n;
      segment += one.size();
    }
    jobs_ = upload(jobs);
    reset(seed, nullptr);
  }

  [[nodiscard]] std::size_t size() const { return all_.size(); }

  /// Puts other keys into the arrays.
  void reset(std::uint64_t seed, cudaStream_t stream) {
    input_ = make_keys<key>(keys_.size(), seed, seed % 3 == 0 ? 7 : ~0u);
    check(cudaMemcpyAsync(keys_.data(), input_.data(), input_.size() * sizeof(key),
                          cudaMemcpyHostToDevice, stream),
          "copying the input");
    check(cudaMemsetAsync(logs_.data(), 0, logs_.size() * sizeof(call_log), stream), "clearing");
    check(cudaStreamSynchronize(stream), "copying the input");
  }

  template <class Environment>
  void call(const Environment& environment, const call_mode& mode = {},
            cudaStream_t stream = nullptr) const {
    check(launch(call_segmented_sorts<Environment>, {4, 32}, stream,
                 static_cast<const job*>(jobs_.data()), static_cast<unsigned>(size()), logs_.data(),
                 mode, reinterpret_cast<const bool*>(faulty_.data()), environment)
              .code(),
          "launching the kernel that calls");
  }

  /// Returns how many calls have each status, after a check that all other calls were done once.
  [[nodiscard]] std::vector<unsigned> check_all(const call_mode& mode = {}) const {
    const auto output = download(keys_);
    const auto logs = download(logs_);
    std::vector<unsigned> statuses(3);
    std::vector<key> expected = input_;
    std::size_t first = 0;
    unsigned wrong = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      const segment_arrays& one = all_[i];
      const bool refused = count_status(logs[i], statuses);
      for (std::size_t s = 0; s < one.size() && !refused && !is_faulty(one); ++s) {
        const auto at = expected.begin() + std::ptrdiff_t(first);
        std::sort(at + one.begins[s], at + one.ends[s]);
      }
      first += one.n;
      const unsigned runs = mode.continues && !refused ? 1 : 0;
      if (logs[i].runs != runs || logs[i].faults != 0) ++wrong;
    }
    BOOST_TEST(wrong == 0u);
    BOOST_TEST((output == expected));
    return statuses;
  }

  /// Returns whether a call counts these segments as faulty.
  [[nodiscard]] static bool is_faulty(const segment_arrays& one) {
    std::size_t elements = 0;
    for (std::size_t s = 0; s < one.size(); ++s) {
      if (one.begins[s] > one.ends[s] || one.ends[s] > one.n) return true;
      elements += one.ends[s] - one.begins[s];
    }
    return elements > one.n;
  }

 private:
  std::vector<segment_arrays> all_;
  std::vector<key> input_;
  device_buffer<call_log> logs_;
  device_buffer<key> keys_;
  device_buffer<std::uint32_t> begins_, ends_;
  device_buffer<std::uint8_t> faulty_;
  device_buffer<job> jobs_;
};

/// Makes, completes and checks all calls. Returns the report.
template <class Arena>
call_report expect_jobs(const segmented_jobs& jobs, Arena& arena, const call_mode& mode = {}) {
  jobs.call(arena.environment(), mode);
  arena.complete_async();
  const auto statuses = jobs.check_all(mode);
  return expect_report(arena, statuses);
}

/// Returns segments of all mixtures in turn, each with up to `longest` elements.
std::vector<segment_arrays> mixed_segments(std::size_t count, std::size_t longest,
                                           std::uint64_t seed = 1) {
  std::vector<segment_arrays> all{{}, {1, {0}, {1}}, {100, {}, {}}};
  std::mt19937_64 random(seed);
  for (std::size_t i = all.size(); i < count; ++i) {
    const lengths kind = all_lengths[i % std::size(all_lengths)];
    const std::size_t n = random() % 3 == 0 ? longest * 3 / 4 : 1 + random() % 3'000;
    const auto made = make_segments<key>(kind, n, random());
    all.push_back(random() % 2 == 0 ? made : scattered(made, random()));
  }
  all.resize(count);
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(calls_of_segmented_sorts)

BOOST_DATA_TEST_CASE(all_segments_are_sorted,
                     data::make({3, 9, 60}) * data::make({32, 128, 2048}) *
                         data::make({false, true}),
                     count, limit, continues) {
  static int piece = 0;
  if (left_out(piece, 3)) return;
  const launch_limits limits({.pending_launches = std::size_t(limit)});
  {
    const segmented_jobs jobs(mixed_segments(std::size_t(count), most / 2), std::uint64_t(count));
    call_arena arena(segmented_sorts(2 * most), {.chunks = 3});
    const std::uint64_t before = cpu::grids_begun();
    const call_report report = expect_jobs(jobs, arena, {.continues = continues});
    BOOST_TEST(report.refused == 0u);
    BOOST_TEST(report.faulty == 0u);
    if (count == 60) BOOST_TEST(report.kept > 0u);  // there are more calls than chunks
    if (!RAMIFY_ON_CUDA) {
      constexpr unsigned not_reported = 2;  // the kernel that calls, and the one that clears
      BOOST_TEST(report.host_grids + report.child_grids + not_reported ==
                 cpu::grids_begun() - before);
    }
  }
  BOOST_TEST(slots_in_use() == 0u);
}

BOOST_DATA_TEST_CASE(faulty_segments_change_no_key, data::make({32, 2048}), limit) {
  const launch_limits limits({.pending_launches = std::size_t(limit)});
  const segment_arrays good = make_segments<key>(lengths::of_all_kinds, most / 2, 3);
  std::vector<segment_arrays> all{good, {10, {5}, {4}}, {10, {0}, {11}}, good,
                                  good, good,           {0, {0}, {1}}};
  all[3].ends.back() = static_cast<key>(good.n + 1);
  all[4].begins.push_back(0);  // more elements than the array has
  all[4].ends.push_back(static_cast<key>(good.n));
  unsigned faulty = 0;
  for (const segment_arrays& one : all) faulty += segmented_jobs::is_faulty(one) ? 1u : 0u;
  BOOST_TEST(faulty == 5u);
  call_arena arena(segmented_sorts(2 * most), {.chunks = 2});
  const call_report report = expect_jobs(segmented_jobs(all), arena);
  BOOST_TEST(report.faulty == faulty);
  BOOST_TEST(report.refused == 0u);
}

BOOST_AUTO_TEST_CASE(a_call_of_more_elements_than_planned_is_refused) {
  call_arena arena(segmented_sorts(100));
  const segmented_jobs jobs({{100, {0}, {100}}, {101, {0}, {10}}, {}});
  const call_report report = expect_jobs(jobs, arena);
  BOOST_TEST(report.refused == 1u);
  BOOST_TEST(report.started == 2u);
  BOOST_CHECK_THROW(segmented_sorts(std::size_t{1} << 40), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(a_call_without_a_chunk_may_be_refused) {
  const segmented_jobs jobs(mixed_segments(60, most / 2));
  call_arena arena(segmented_sorts(2 * most), {.chunks = 1});
  const call_report report = expect_jobs(jobs, arena, {.continues = true, .refuses = true});
  BOOST_TEST(report.refused > 0u);
  BOOST_TEST(report.kept == 0u);
}

BOOST_AUTO_TEST_CASE(no_call_is_lost_after_any_failed_launch,
                     *boost::unit_test::precondition(on_the_executor)) {
  const auto all = mixed_segments(9, 20'000, 2);
  constexpr std::size_t limits[] = {32, 128, 2048};
  expect_no_call_lost(limits, 5, [&] {
    const segmented_jobs jobs(all);
    call_arena arena(segmented_sorts(most), {.chunks = 2, .kept_calls = 100});
    return expect_jobs(jobs, arena);
  });
}

BOOST_AUTO_TEST_CASE(every_schedule_does_all_calls,
                     *boost::unit_test::precondition(on_the_executor)) {
  expect_all_done_under_schedules([&](std::uint64_t seed) {
    const segmented_jobs jobs(mixed_segments(8, 10'000, seed), seed);
    call_arena arena(segmented_sorts(most), {.chunks = 2, .kept_calls = 100});
    return expect_jobs(jobs, arena);
  });
}

// ---- a pipeline of a segmented sort and a sort --------------------------------------------------

namespace {

using pair_sorts = segmented_sort_calls<key, unsigned, descending>;
using both = call_plans<pair_sorts, sorts>;

struct pipeline {
  key* keys;
  unsigned* indices;
  const std::int64_t* offsets;
  const unsigned* segments;  ///< their number
  std::size_t n;
  unsigned* faults;  ///< then the number of pipelines that have ended
};
__global__ void end_of_pipeline(pipeline p) {
  for (std::size_t i = threadIdx.x; i < p.n; i += blockDim.x) {
    if (p.indices[i] != i) atomicAdd(p.faults, 1u);
  }
  if (threadIdx.x == 0) atomicAdd(p.faults + 1, 1u);
}
/// Checks the keys of each segment, and sorts the indices.
__global__ void sort_indices(pipeline p, kernel_environment<both> calls) {
  const traced here(calls.trace, __func__);
  for (unsigned s = threadIdx.x; s < *p.segments; s += blockDim.x) {
    for (std::int64_t i = p.offsets[s] + 1; i < p.offsets[s + 1]; ++i) {
      if (p.keys[i - 1] < p.keys[i]) atomicAdd(p.faults, 1u);
    }
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  const call_status status =
      ramify::quicksort(p.indices, p.n, ascending{}, calls.then(end_of_pipeline, {1, 64}, p));
  if (status == call_status::refused) atomicAdd(p.faults, 1u);
}
/// Each thread sorts pairs.
__global__ void begin_pipelines(const pipeline* all, unsigned count, std::size_t most_segments,
                                kernel_environment<both> calls) {
  const traced here(calls.trace, __func__);
  if (threadIdx.x >= count) return;
  const pipeline p = all[threadIdx.x];
  const call_status status = ramify::segmented_sort_pairs(
      p.keys, p.indices, p.n, p.offsets, p.offsets + 1, device_count(p.segments, most_segments),
      descending{}, calls.then(sort_indices, {1, 64}, p, calls));
  if (status == call_status::refused) atomicAdd(p.faults, 1u);
}

}  // namespace

BOOST_DATA_TEST_CASE(a_pipeline_with_numbers_of_segments_on_the_device, data::make({32, 128, 2048}),
                     limit) {
  const launch_limits limits({.pending_launches = std::size_t(limit)});
  constexpr unsigned segments = 20;
  constexpr unsigned count = 5;
  const std::size_t n = most / 2;
  std::vector<std::int64_t> offsets;
  for (unsigned s = 0; s <= segments; ++s) offsets.push_back(std::int64_t(n * s * s / 400));
  offsets.push_back(std::int64_t(n));  // the continuation of the faulty call reads it, too
  const auto keys = upload(make_keys<key>(count * n, 5));
  const device_buffer<unsigned> indices(count * n, nullptr);
  for (unsigned i = 0; i < count; ++i) {
    const auto up = count_up<unsigned>(n);
    check(
        cudaMemcpy(indices.data() + i * n, up.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice),
        "uploading");
  }
  const auto device_offsets = upload(offsets);
  const auto numbers = upload(std::vector<unsigned>{segments, segments + 1, 0, 7, segments});
  const auto faults = zeros<unsigned>(2 * count);
  std::vector<pipeline> all;
  for (unsigned i = 0; i < count; ++i) {
    all.push_back({keys.data() + i * n, indices.data() + i * n, device_offsets.data(),
                   numbers.data() + i, n, faults.data() + 2 * i});
  }
  const auto on_device = upload(all);
  call_arena arena(call_plans{pair_sorts(n), sorts(n)}, {.chunks = 2});
  check(launch(begin_pipelines, {1, 32}, nullptr, static_cast<const pipeline*>(on_device.data()),
               count, std::size_t{segments}, arena.environment())
            .code(),
        "launching");
  arena.complete_async();
  const auto seen = download(faults);
  for (unsigned i = 0; i < count; ++i) {
    if (i != 1) BOOST_TEST(seen[2 * i] == 0u);
    BOOST_TEST(seen[2 * i + 1] == 1u);
  }
  const call_report report = arena.get();
  BOOST_TEST(report.refused == 0u);
  BOOST_TEST(report.faulty == 1u);
}

#if RAMIFY_ON_CUDA
BOOST_DATA_TEST_CASE(a_graph_of_calls_runs_with_other_keys, data::make({32, 2048}), limit) {
  const launch_limits limits({.pending_launches = std::size_t(limit)});
  const host_stream stream;
  segmented_jobs jobs(mixed_segments(60, most / 2));
  call_arena arena(segmented_sorts(2 * most), {.chunks = 3}, {.stream = stream.get()});
  expect_captured_calls(
      jobs, arena, stream, 10, [&](unsigned seed) { jobs.reset(seed, stream.get()); },
      [&] { jobs.call(arena.environment(), {}, stream.get()); });
}
#endif

BOOST_AUTO_TEST_SUITE_END()
