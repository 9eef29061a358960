// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// quadrature() for CUDA code: integrates a function over a box in one to eight dimensions, by
/// adaptive subdivision.
///
///     struct bell {
///       __device__ double operator()(const ramify::quadrature_point<3>& p) const {
///         return exp(-p[0] * p[0] - p[1] * p[1] - p[2] * p[2]);
///       }
///     };
///     const ramify::quadrature_box<3> cube{{0, 0, 0}, {1, 1, 1}};
///     const auto found = ramify::quadrature(cube, bell{});
///     found.value      // --> 0.416538..., found.error is a bound of the error
///     found.converged()
///
/// Integrand  f(point) -> double, a pure function, called by one thread for each point. A point is
///            never on the boundary of the box, where f may be singular. A point at which f is NaN
///            or infinite ends the quadrature; the result states the point.
/// Box        each axis must be longer than 2^-36 times the larger magnitude of its two
///            coordinates, so that round-off moves no point onto the boundary. For the same reason,
///            regions are not split into halves that are shorter.
/// Rules      Gauss-Kronrod with 23 points a region in one dimension; Genz-Malik of degree 7 with
///            21 points in two dimensions and of degree 9 in 3 to 8 dimensions, with 77, 153, 273,
///            453, 717 and 1105 points (ramify/quadrature/rules.cuh).
/// Result     the best estimate, and the reason for the end: converged, max_evaluations, round_off,
///            not_finite, out_of_range, out_of_memory. The error is the sum of the errors of all
///            regions. The error of a region is the difference of its rule from an embedded one. In
///            3 to 8 dimensions there are two embedded rules: the larger difference counts where
///            the integrand is not smooth, and that of the first region counts 8 times. The error
///            of a region is larger if the points near its faces deviate, or if the estimates of
///            its halves have another sum. Where the integrand is not smooth, a split reduces it to
///            a 16th at most.
///            Before the quadrature converges, all regions are checked at further points with a
///            random shift (ramify/quadrature/checks.cuh). The sum of errors is a reliable bound
///            for functions that the regions resolve. It is no proof: points can miss a narrow peak
///            (options.min_evaluations). The page of the family states how often it is wrong.
/// Range      any finite values and any domain: no sum overflows unless the integral does. Values
///            below 2^-1062 count as 0. An integral that a double cannot hold has the status
///            out_of_range.
/// Order      sums have a fixed order, so the result has the same bits in each run, on both routes.
/// Scratch    16 d + 38 bytes for each region, and about 150,000 bytes. They come from Ramify's
///            stream-ordered pool or from a resource, for at most 2^18 regions at the begin; get()
///            allocates more when a round needs it. Memory that is handed in holds all regions that
///            options.max_evaluations allows: quadrature_scratch_bytes().
/// Stream     quadrature_async() returns before the result is known; get() waits for the stream. A
///            graph can capture it if memory is handed in.
/// Batches    quadrature(box, f, parameters, n, estimates) integrates f(point, parameter) for many
///            parameters. Each block of one grid takes an integral after another.
/// Launches   one grid for all rounds with few points, then one grid a round, and with more than
///            some thousand regions four: evaluate, sum, select, list
///            (ramify/quadrature/rounds.cuh). The last block of each launches the next one. A round
///            splits all regions whose error is over their share of the tolerance, so there are far
///            fewer rounds than regions.
/// Kernels    A thread of a kernel calls quadrature(box, f, options, result, calls) with a
///            kernel_environment; see quadrature/calls.cuh and <ramify/runtime/call_arena.cuh>.
/// Errors     std::invalid_argument for a bad argument, before anything is launched; unavailable,
///            cuda_error, device_launch_error.
/// Complexity O(evaluations).
/// Not for    more than eight dimensions, where Monte Carlo methods need fewer points; improper
///            integrals (substitute first).
/// Source     PAGANI (Sakiotis et al., SC 2021) splits breadth first, too. It discards regions with
///            small errors; quadrature() keeps them.

#include <ramify/runtime/detail/requirements.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <ramify/quadrature/argument_types.cuh>
#include <ramify/quadrature/batch.cuh>
#include <ramify/quadrature/calls.cuh>
#include <ramify/quadrature/config.hpp>
#include <ramify/quadrature/domain.cuh>
#include <ramify/quadrature/growing_regions.cuh>
#include <ramify/quadrature/rounds.cuh>
#include <ramify/runtime/detail/launch_chain.cuh>
#include <ramify/runtime/detail/started_run.cuh>
#include <ramify/runtime/phase_range.cuh>
#include <utility>

namespace ramify::detail::quadrature::inline RAMIFY_BUILD {

/// Returns the launches of 6 rounds that are not small, on each route. Smooth functions need fewer.
[[nodiscard]] inline route_plans round_plans(bool by_host) {
  constexpr double rounds = 6;
  const route_plan device{.host_launches = 1, .nested_levels = rounds};
  if (by_host) {
    return {{.host_launches = rounds, .host_round_trips = rounds / 4}, device, route::flat};
  }
  return {{.graph_iterations = 4 * rounds, .graph_loops = 1}, device, route::flat};
}

/// A quadrature that has started.
template <unsigned d, class Integrand>
class quadrature_run final : public device_run<quadrature_result, round_memory<d>> {
  static_assert(1 <= d && d <= max_quadrature_dimensions, "one to eight dimensions");
  using program = quadrature_program<d, Integrand>;
  using base = device_run<quadrature_result, round_memory<d>>;

 public:
  quadrature_run(const run_setup& setup, const quadrature_box<d>& box, const Integrand& f,
                 const quadrature_options& options, const round_bounds& bounds)
      : quadrature_run(setup, box, f, options, bounds, max_regions<d>(options),
                       setup.given.data() == nullptr && !setup.captured) {}

 private:
  /// If `grows`, the regions have memory of their own, which grows.
  quadrature_run(const run_setup& setup, const quadrature_box<d>& box, const Integrand& f,
                 const quadrature_options& options, const round_bounds& bounds, std::size_t most,
                 bool grows)
      : base(setup, grows ? 0 : most),
        most_(most),
        units_(units_of(box)),
        exponent_(exponent_of(units_)),
        chain_(this->control,
               {{},
                with_regions(grows, bounds),
                f,
                std::scalbn(options.absolute_tolerance, -exponent_),
                options.relative_tolerance,
                options.min_evaluations,
                options.max_evaluations,
                box,
                units_,
                bounds},
               setup.loop) {
    const round_state first{};  // the chain starts with the small rounds, which need no state
    chain_.launch_first_round(first);
    chain_.start(first);
  }

  /// Returns the memory of the rounds, with new memory for the regions if it `grows`.
  [[nodiscard]] round_memory<d> with_regions(bool grows, const round_bounds& bounds) {
    round_memory<d> all = this->parts;
    if (grows) {
      const std::size_t count = std::min<std::size_t>(bounds.first_regions, most_);
      static_cast<region_memory<d>&>(all) =
          regions_.emplace(this->choices.given, count, this->choices.stream).arrays();
    }
    return all;
  }

  quadrature_result finish() override {
    finish_chain();
    const auto& end = chain_.state();
    const program& done = chain_.program();
    quadrature_result result;
    result.status = end.status;
    set_value(result, end.total, exponent_, done.tolerance(end.total.value));
    result.regions = end.regions;
    result.evaluations = end.evaluations;
    if (end.status == quadrature_status::not_finite) {
      const auto bad =
          read_back(done.bad_point, this->choices.stream, "reading a point that is not finite");
      std::copy(bad.x, bad.x + d, result.not_finite_at.begin());
      result.error = HUGE_VAL;
    }
    static_cast<run_report&>(result.report) = this->end();
    result.report.scratch_bytes += regions_ ? regions_->bytes() : 0;
    result.report.rounds = end.rounds;
    result.report.check_evaluations = end.check_evaluations;
    return result;
  }

  /// Waits until the chain is complete, or until there is no memory for more regions.
  void finish_chain() {
    chain_.finish();
    while (chain_.state().status == quadrature_status::out_of_memory) {
      round_state next = chain_.state();
      const std::size_t needed = std::size_t{next.regions} + next.splits;
      if (!regions_ || !regions_->grow(needed, most_, next.regions)) return;
      next.ended = 0;
      next.status = quadrature_status::converged;
      chain_.write_state(next);
      chain_.restart(
          [&](program& changed) { static_cast<region_memory<d>&>(changed) = regions_->arrays(); });
      chain_.finish();
    }
  }

  std::size_t most_;  ///< the number of regions that options.max_evaluations allows
  length_units<d> units_;
  int exponent_;                               ///< of the unit of the integral
  std::optional<growing_regions<d>> regions_;  ///< none if the scratch memory has the regions
  launch_chain<program> chain_;
};

/// Starts a quadrature; see quadrature_async(). Tests and benchmarks pass other bounds.
template <unsigned d, class Integrand>
[[nodiscard]] async_run<quadrature_result> start_quadrature(const quadrature_box<d>& box,
                                                            const Integrand& f,
                                                            const quadrature_options& options,
                                                            const environment& env,
                                                            const round_bounds& bounds = {}) {
  const phase_range range("quadrature: start");
  ramify::validate(options);
  validate(box);
  // Only get() returns results, so the stream need not complete them.
  run_setup setup("quadrature", by_get(env));
  setup.prefer_host("the host launches rounds ahead, which costs less than a graph");
  setup.choose_route(2, round_plans(setup.by_host()));
  return std::make_unique<quadrature_run<d, Integrand>>(setup, box, f, options, bounds);
}

}  // namespace ramify::detail::quadrature::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// Starts a quadrature over `box`. The integrand is copied.
///
/// Returns without waiting. The one exception is the first call with the automatic route on a GPU,
/// which may measure launch costs (see choose_route()). On the flat route, unless env.flat_loop is
/// graph, get() launches the rounds after the small ones. get() also allocates memory for more
/// regions if no memory was handed in and a round needs more. Only get() returns a result, so the
/// call does not read environment::completion.
///
/// A stream that is being captured records a quadrature. Each launch of the graph runs it. The run
/// must live as long as the graph is launched.
///
/// \param env  its memory: quadrature_scratch_bytes()
/// \throws std::invalid_argument, unavailable, cuda_error
template <unsigned d, class Integrand>
detail::run_if<detail::quadrature::argument_types<d, Integrand>, async_run<quadrature_result>>
quadrature_async(const quadrature_box<d>& box, const Integrand& f,
                 const quadrature_options& options, const environment& env = {}) {
  if constexpr (detail::quadrature::checked_types<d, Integrand>::are_valid) {
    return detail::quadrature::start_quadrature(box, f, options, env);
  }
}
/// Overload with the default options.
template <unsigned d, class Integrand>
auto quadrature_async(const quadrature_box<d>& box, const Integrand& f,
                      const environment& env = {}) {
  return quadrature_async(box, f, quadrature_options{}, env);
}

/// Integrates `f` over `box` and waits for the result: quadrature_async() and get().
/// \param env  its memory: quadrature_scratch_bytes()
/// \throws std::invalid_argument, unavailable, cuda_error, device_launch_error
template <unsigned d, class Integrand>
quadrature_result quadrature(const quadrature_box<d>& box, const Integrand& f,
                             const quadrature_options& options, const environment& env = {}) {
  if constexpr (detail::quadrature::checked_types<d, Integrand>::are_valid) {
    return quadrature_async(box, f, options, env).get();
  }
}
/// Overload with the default options.
template <unsigned d, class Integrand>
quadrature_result quadrature(const quadrature_box<d>& box, const Integrand& f,
                             const environment& env = {}) {
  return quadrature(box, f, quadrature_options{}, env);
}

/// Starts n integrals over `box`, of f(point, parameters[i]): a batch. The integrand is copied.
///
/// Returns without waiting. get() writes estimates[i], and waits until they are written. They are
/// those of quadrature() but for round-off, because the sums have another order, which is the same
/// in each run. An integral that needs more than 1,024 regions is integrated by a quadrature() of
/// its own, which get() makes. Only get() returns results, so the call does not read
/// environment::completion. A captured stream records the batch; get() reads the last launch.
///
/// \param parameters  n trivially copyable and default-constructible objects. They are in device
///                    memory, which must not change before get() returns, or in ordinary host
///                    memory, which the call has read when it returns. A captured stream requires
///                    device memory.
/// \param n           a number less than 2^31, or a device_count
/// \param estimates   n elements in device or host memory
/// \param options     of each integral
/// \param env         its memory: quadrature_scratch_bytes<d, Integrand, Parameter>(n, options)
/// \throws std::invalid_argument, unavailable, cuda_error
template <unsigned d, class Integrand, class Parameter>
detail::run_if<detail::quadrature::batch_types<d, Integrand, Parameter>,
               async_run<quadrature_batch_report>>
quadrature_async(const quadrature_box<d>& box, const Integrand& f, const Parameter* parameters,
                 const detail::element_count& n, quadrature_estimate* estimates,
                 const quadrature_options& options, const environment& env = {}) {
  if constexpr (detail::quadrature::checked_batch_types<d, Integrand, Parameter>::are_valid) {
    validate(options);
    detail::quadrature::validate(box);
    const detail::run_setup setup("quadrature", detail::by_get(env));
    const auto sizes =
        detail::quadrature::sizes_of_batch<d, Integrand, Parameter>(n.upper_bound, options);
    setup.check_count(n);
    detail::check_results(setup.algorithm, estimates, n.upper_bound, "estimates");
    std::shared_ptr<const void> copy;
    const Parameter* const given =
        detail::input_on_device(setup, parameters, n.upper_bound, "parameters", copy);
    const detail::quadrature::batch_arguments<d, Integrand, Parameter> batch{box, f, given, n,
                                                                             options};
    return std::make_unique<detail::quadrature::batch_run<d, Integrand, Parameter>>(
        setup, batch, sizes, estimates, std::move(copy));
  }
}
/// Overload with the default options.
template <unsigned d, class Integrand, class Parameter>
auto quadrature_async(const quadrature_box<d>& box, const Integrand& f, const Parameter* parameters,
                      const detail::element_count& n, quadrature_estimate* estimates,
                      const environment& env = {}) {
  return quadrature_async(box, f, parameters, n, estimates, quadrature_options{}, env);
}

/// Integrates f(point, parameters[i]) over `box` for n parameters, waits, and writes estimates[i]:
/// quadrature_async() and get(), with the same parameters.
/// \param env  its memory: quadrature_scratch_bytes<d, Integrand, Parameter>(n, options)
/// \throws std::invalid_argument, std::length_error, unavailable, cuda_error, device_launch_error
template <unsigned d, class Integrand, class Parameter>
quadrature_batch_report quadrature(const quadrature_box<d>& box, const Integrand& f,
                                   const Parameter* parameters, const detail::element_count& n,
                                   quadrature_estimate* estimates,
                                   const quadrature_options& options, const environment& env = {}) {
  if constexpr (detail::quadrature::checked_batch_types<d, Integrand, Parameter>::are_valid) {
    return quadrature_async(box, f, parameters, n, estimates, options, env).get();
  }
}
/// Overload with the default options.
template <unsigned d, class Integrand, class Parameter>
quadrature_batch_report quadrature(const quadrature_box<d>& box, const Integrand& f,
                                   const Parameter* parameters, const detail::element_count& n,
                                   quadrature_estimate* estimates, const environment& env = {}) {
  return quadrature(box, f, parameters, n, estimates, quadrature_options{}, env);
}

/// Returns the device memory that a batch of n integrals needs, in bytes. It depends on the device.
/// \throws std::invalid_argument for options that are not valid; cuda_error
template <unsigned d, class Integrand, class Parameter>
[[nodiscard]] std::size_t quadrature_scratch_bytes(std::size_t n,
                                                   const quadrature_options& options = {}) {
  validate(options);
  return detail::quadrature::batch_run<d, Integrand, Parameter>::scratch_bytes(
      detail::quadrature::sizes_of_batch<d, Integrand, Parameter>(n, options));
}

/// Returns the device memory that the caller must hand in for a quadrature in d dimensions, in
/// bytes: that of all regions which options.max_evaluations allows.
/// \throws std::invalid_argument for options that are not valid
template <unsigned d, class Integrand>
[[nodiscard]] std::size_t quadrature_scratch_bytes(const quadrature_options& options = {}) {
  validate(options);
  return detail::quadrature::quadrature_run<d, Integrand>::scratch_bytes(
      detail::quadrature::max_regions<d>(options));
}

}  // namespace ramify::inline RAMIFY_BUILD
