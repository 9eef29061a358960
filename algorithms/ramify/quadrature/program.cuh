// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The program of a quadrature's launch chain: its state, which regions are split, and when it
/// ends. rounds.cuh describes a round and has the kernels.

#include <cfloat>
#include <cmath>
#include <ramify/quadrature/regions.cuh>
#include <ramify/runtime/detail/chain_link.cuh>

namespace ramify::detail::quadrature::inline RAMIFY_BUILD {

inline constexpr unsigned threads = 256;         ///< of a block, except in run_small_rounds()
inline constexpr unsigned warps = threads / 32;  ///< of a block in evaluate_splits()
inline constexpr unsigned small_threads = 512;   ///< of the block in run_small_rounds()
inline constexpr unsigned small_warps = small_threads / 32;
inline constexpr unsigned max_chunks = 4 * threads;  ///< maximum number of chunks of regions
/// Number of bins. Bin b counts the regions whose error is 2^b to 2^(b + 1) times their share; the
/// last bin also counts those with larger errors.
inline constexpr unsigned bins = 32;

/// The grids of a quadrature. The first one runs once. A round has the others in their order; with
/// few regions it has `evaluate` alone.
enum class phase : unsigned { begin, evaluate, sum, select, list };

/// The sizes of small and medium rounds. They depend on the quadrature, not on the GPU, so that
/// results have the same bits on all GPUs.
struct round_bounds {
  /// The maximum number of points that a lane evaluates in a small round. Only one SM works in such
  /// a round: if evaluations are slow, more of them cost more than the launch of a grid. In 8
  /// dimensions, 5 are needed for one split.
  unsigned small_evaluations = 5;
  /// The maximum number of regions in a small or medium round, at most 8192 (32 for each thread of
  /// `evaluate`, whose last block ends the round).
  unsigned block_regions = 4096;
  /// The maximum number of splits of a round in which half of a block of `evaluate` evaluates the
  /// half of a region (fewer warps if they suffice for all points). With more splits, a warp splits
  /// a region.
  unsigned block_splits = 1024;
  /// The number of regions for which a run that allocates its memory does so at its begin. The host
  /// allocates more when a round needs it, and the result stays the same.
  unsigned first_regions = 1u << 18;
};

/// The state that a phase passes to the next one.
struct round_state {
  phase due;
  unsigned ended;  ///< 1: the quadrature is complete
  quadrature_status status;
  unsigned regions;
  unsigned splits;          ///< in this round; round 0 evaluates the whole domain and has none
  unsigned check_points;    ///< points of each region in this round if it is a check, else 0
  unsigned checked_points;  ///< the same, of the round before
  unsigned rounds;
  unsigned lowest_bin;  ///< regions in this bin or a higher one are split
  double share;         ///< a region's part of the tolerance; negative: all regions are split
  unsigned long long evaluations;
  unsigned long long check_evaluations;  ///< those of checks
  bounded total;                         ///< in the units of the program
};

/// A range of consecutive regions, which one block processes. The ranges depend on the number of
/// regions only, so sums over them have the same bits in each run.
struct chunk {
  unsigned begin;
  unsigned end;

  /// Returns the number of chunks of `regions` regions.
  [[nodiscard]] static __host__ __device__ unsigned count(unsigned regions) {
    const unsigned full = regions / threads + (regions % threads != 0 ? 1 : 0);
    return full < max_chunks ? full : max_chunks;
  }
  /// Returns chunk number `i` of `regions` regions.
  [[nodiscard]] static __device__ chunk number(unsigned i, unsigned regions) {
    const unsigned long long n = regions;
    const unsigned chunks = count(regions);
    return {static_cast<unsigned>(n * i / chunks), static_cast<unsigned>(n * (i + 1) / chunks)};
  }
};

/// Returns the number of warps that share the points of a region if `available` warps evaluate
/// `regions` regions: a power of two, at most `most`. No warp is without points.
[[nodiscard]] __host__ __device__ inline unsigned team_size(unsigned points, unsigned available,
                                                            unsigned regions, unsigned most) {
  unsigned size = 1;
  while (size < most && 2 * size * regions <= available && 32 * size < points) size *= 2;
  return size;
}

/// The parts of the scratch memory whose sizes are the number of regions.
template <unsigned d>
struct region_memory {
  region_list<d> regions;
  unsigned* split_list;
  unsigned capacity;  ///< the number of regions

  __host__ __device__ region_memory(memory_layout& memory, std::size_t count)
      : regions(region_list<d>::taken_from(memory, count)),
        split_list(memory.take<unsigned>(count)),
        capacity(static_cast<unsigned>(count)) {}
};

/// The parts of the scratch memory that the kernels use.
template <unsigned d>
struct round_memory : region_memory<d> {
  round_state* state;
  unsigned (*chunk_bins)[bins];    ///< number of regions of each chunk in each bin
  unsigned* chunk_first;           ///< first entry of each chunk in split_list
  bounded* chunk_totals;           ///< sums over the regions of each chunk
  unsigned long long* not_finite;  ///< number of a point at which f is not finite, or `none`
  quadrature_point<d>* bad_point;  ///< coordinates of this point

  /// Takes `first_state` first: it must be among the bytes that run_control::wait() reads.
  __host__ __device__ round_memory(memory_layout& memory, std::size_t count)
      : round_memory(memory.take<round_state>(1), memory, count) {}
  /// Takes what the rounds of one block need: no memory for chunks, and none for the state.
  struct of_one_block {};
  __host__ __device__ round_memory(memory_layout& memory, std::size_t count, of_one_block)
      : region_memory<d>(memory, count),
        state(nullptr),
        chunk_bins(nullptr),
        chunk_first(nullptr),
        chunk_totals(nullptr),
        not_finite(memory.take<unsigned long long>(1)),
        bad_point(memory.take<quadrature_point<d>>(1)) {}

 private:
  __host__ __device__ round_memory(round_state* first_state, memory_layout& memory,
                                   std::size_t count)
      : region_memory<d>(memory, count),
        state(first_state),
        chunk_bins(memory.take<unsigned[bins]>(max_chunks)),
        chunk_first(memory.take<unsigned>(max_chunks)),
        chunk_totals(memory.take<bounded>(max_chunks)),
        not_finite(memory.take<unsigned long long>(1)),
        bad_point(memory.take<quadrature_point<d>>(1)) {}
};

/// The program of the launch chain, and the argument of its kernels.
template <unsigned d, class Integrand>
struct quadrature_program : chain_link, round_memory<d> {
  using state_type = round_state;
  using due_type = round_state;
  static constexpr auto join = chain_join::last_block;
  static constexpr unsigned dimensions = d;
  static constexpr unsigned points = cubature_rule<d>::points;

  Integrand f;
  double absolute_tolerance;
  double relative_tolerance;
  unsigned long long min_evaluations;
  unsigned long long max_evaluations;
  quadrature_box<d> domain;
  length_units<d> units;
  round_bounds bounds;

  static constexpr unsigned long long none = ~0ull;

  [[nodiscard]] __host__ __device__ bool finished(const state_type& s) const {
    return s.ended != 0;
  }
  [[nodiscard]] __host__ __device__ bool repeats(const state_type&) const { return true; }
  [[nodiscard]] __host__ __device__ unsigned slots_of(const state_type&) const { return 1; }
  /// The phases; see runtime/detail/phases.cuh.
  template <class Row>
  __host__ __device__ void phase_table(const state_type& s, Row& row) const;
  /// Returns whether the host launches the phase of `next` before it reads the state again. It
  /// launches the phases of up to four rounds.
  [[nodiscard]] bool expects(const state_type& known, const state_type& next) const {
    if (known.due != phase::evaluate) return next.due != phase::evaluate;
    return next.rounds - known.rounds < 4;
  }
  /// Returns the number of warps of `evaluate` that share the points of a half, if there are few
  /// splits.
  [[nodiscard]] static __host__ __device__ unsigned team_of_half() {
    return team_size(points, warps, 2, warps / 2);
  }
  /// Returns the number of blocks that evaluate the due round. With few splits, teams split them,
  /// else warps. Warps check regions.
  [[nodiscard]] __host__ __device__ unsigned blocks_of(const state_type& s) const {
    if (s.check_points != 0) return s.regions / warps + (s.regions % warps != 0 ? 1 : 0);
    const unsigned each = s.splits <= bounds.block_splits ? warps / (2 * team_of_half()) : warps;
    return s.splits / each + (s.splits % each != 0 ? 1 : 0);
  }
  template <class Grids>
  void launch_repeated(const state_type&, Grids& grids) const;

  /// Returns the number of warps of a block of `available` warps that share the points of a half in
  /// a small round.
  [[nodiscard]] static __host__ __device__ unsigned small_team(unsigned splits,
                                                               unsigned available) {
    return team_size(points, available, 2 * splits, available / 2);
  }
  /// Returns the number of points that a lane of run_small_rounds() evaluates in a round.
  [[nodiscard]] static __host__ __device__ unsigned lane_evaluations(const state_type& s) {
    if (s.check_points != 0) {
      return (s.regions * ((s.check_points + 31) / 32) + small_warps - 1) / small_warps;
    }
    const unsigned splits = s.splits;
    const unsigned team = small_team(splits, small_warps);
    const unsigned teams = small_warps / team;
    return (2 * splits + teams - 1) / teams * ((points + 32 * team - 1) / (32 * team));
  }
  /// Returns whether one block evaluates the next round, and ends it.
  [[nodiscard]] __device__ bool is_small(const state_type& s) const {
    return s.regions + s.splits <= bounds.block_regions &&
           lane_evaluations(s) <= bounds.small_evaluations;
  }
  /// Returns the number of splits that the remaining evaluations allow.
  [[nodiscard]] __device__ unsigned long long affordable(const state_type& s) const {
    return (max_evaluations - s.evaluations) / (2 * points);
  }
  [[nodiscard]] __device__ bool is_due(const state_type& s, phase p) const {
    return s.ended == 0 && s.due == p;
  }
  /// Returns the bin of a region, or -1 if it is not split.
  [[nodiscard]] __device__ int bin_of(const state_type& s, unsigned region) const {
    const region_list<d>& list = this->regions;
    if (list.axes[region] == no_axis) return -1;
    if (s.share < 0) return 0;
    const double error = list.estimates[region].error;
    // A split does not reduce an error that is round-off.
    if (!(error > s.share) || error <= 2 * list.round_offs[region]) return -1;
    const double excess = error / s.share;  // infinite if the share is 0
    constexpr int top = bins - 1;
    return excess < 2147483648.0 ? min(std::ilogb(excess), top) : top;
  }
  /// Returns the number of points of each region in a check of all regions. It is a multiple of 32,
  /// or what the remaining evaluations allow. Few regions have more points, some 1,000 together.
  [[nodiscard]] __device__ unsigned points_of_check(const state_type& s) const {
    const unsigned wanted = 32 * (s.regions < 32 ? 32 / s.regions : 1);
    const unsigned long long allowed = (max_evaluations - s.evaluations) / s.regions;
    return allowed < wanted ? static_cast<unsigned>(allowed) : wanted;
  }
  /// Returns the tolerance if the estimate of the integral is `value`.
  [[nodiscard]] __host__ __device__ double tolerance(double value) const {
    return std::fmax(absolute_tolerance, relative_tolerance * std::fabs(value));
  }
};

/// Returns the number of splits in a round before min_evaluations is reached. All `wanted` regions
/// are split if so many splits are affordable, else only as many as min_evaluations requires.
template <class Program>
__device__ unsigned early_splits(const Program& program, const round_state& now, unsigned wanted,
                                 unsigned long long affordable) {
  if (wanted <= affordable) return wanted;
  const unsigned long long of_split = 2 * Program::points;
  const unsigned long long missing = program.min_evaluations - now.evaluations;
  const unsigned long long required = missing / of_split + (missing % of_split != 0 ? 1 : 0);
  return static_cast<unsigned>(required < affordable ? required : affordable);
}

/// Returns the state with the splits of the next round or, if nothing is split, the reason for the
/// end. `wanted` regions are over their share.
template <class Program>
__device__ round_state end_without_splits(const Program& program, round_state now,
                                          unsigned wanted) {
  if (now.splits != 0) return now;
  now.ended = 1;
  if (now.total.error <= program.tolerance(now.total.value)) {
    now.status = quadrature_status::converged;
  } else {
    now.status = wanted > 0 ? quadrature_status::max_evaluations : quadrature_status::round_off;
  }
  return now;
}

/// Returns the state before the evaluation of its splits. If there is no memory for their regions,
/// the chain ends; the host continues it with more memory.
template <class Program>
__device__ round_state before_evaluation(const Program& program, round_state next) {
  next.due = phase::evaluate;
  if (next.regions + next.splits > program.capacity) {
    next.ended = 1;
    next.status = quadrature_status::out_of_memory;
  }
  return next;
}

/// Returns the state after `list` if all `wanted` regions over their share are split.
template <class Program>
__device__ round_state split_all(const Program& program, round_state now, unsigned wanted) {
  now.due = phase::evaluate;
  now.splits = wanted;
  now.lowest_bin = 0;
  return end_without_splits(program, now, wanted);
}

/// Returns the state after `select`. It has the lowest bin whose regions can be split and the
/// number of splits or, if nothing is split, the reason for the end. `counts` has the number of
/// regions in each bin. One thread calls it.
template <class Program>
__device__ round_state choose_splits(const Program& program, round_state now,
                                     const unsigned* counts) {
  const unsigned long long affordable = program.affordable(now);
  unsigned wanted = 0;
  bool fits = true;
  now.splits = 0;
  now.lowest_bin = bins;
  for (unsigned bin = bins; bin-- > 0;) {
    wanted += counts[bin];
    fits = fits && wanted <= affordable;
    if (!fits) continue;
    now.splits = wanted;
    now.lowest_bin = bin;
  }
  if (now.share < 0) {
    now.splits = early_splits(program, now, wanted, affordable);
    now.lowest_bin = 0;
  }
  now.due = phase::list;
  return end_without_splits(program, now, wanted);
}

}  // namespace ramify::detail::quadrature::inline RAMIFY_BUILD
