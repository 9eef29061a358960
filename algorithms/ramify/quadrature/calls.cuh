// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Quadratures that kernels call: quadrature_calls, which is their plan in a call_arena, and their
/// kernels.
///
/// The first grid of a call is one block, which does the small rounds (rounds.cuh). Most smooth
/// integrands converge in them, so that the call is this grid. Otherwise the rounds follow as in a
/// quadrature that the host starts (chain_call.cuh).

#include <cfloat>
#include <cmath>
#include <cstring>
#include <new>
#include <ramify/quadrature/argument_types.cuh>
#include <ramify/quadrature/domain.cuh>
#include <ramify/quadrature/rounds.cuh>
#include <ramify/runtime/detail/chain_call.cuh>
#include <ramify/runtime/kernel_calls.cuh>

namespace ramify::inline RAMIFY_BUILD {

template <unsigned d, class Integrand>
class quadrature_calls;

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::quadrature::inline RAMIFY_BUILD {

template <class Call>
__global__ void begin_quadrature_call(Call call, call_ticket ticket,
                                      const typename Call::plan* plan);

/// The scratch memory of a call.
template <unsigned d>
struct quadrature_call_memory {
  __host__ __device__ quadrature_call_memory(memory_layout& layout, std::size_t regions)
      : chain(layout.take<chain_call_state>(1)), rounds(layout, regions) {}

  chain_call_state* chain;
  round_memory<d> rounds;
};

/// Returns the result of a complete quadrature, whose last state is `end`.
template <class Program>
[[nodiscard]] __device__ quadrature_estimate result_of(const Program& done,
                                                       const round_state& end) {
  quadrature_estimate found;
  found.status = end.status;
  set_value(found, end.total, exponent_of(done.units), done.tolerance(end.total.value));
  found.regions = end.regions;
  found.evaluations = end.evaluations;
  if (end.status == quadrature_status::not_finite) {
    memcpy(static_cast<void*>(&found.not_finite_at), done.bad_point, sizeof *done.bad_point);
    found.error = HUGE_VAL;
  }
  return found;
}

/// A quadrature that a kernel has called. chain_call.cuh describes its members.
template <unsigned d, class Integrand>
struct quadrature_call : chain_call<quadrature_call<d, Integrand>> {
  using plan = quadrature_calls<d, Integrand>;
  using program_type = quadrature_program<d, Integrand>;

  quadrature_box<d> box;
  Integrand f;
  quadrature_options options;
  quadrature_estimate* result;

  __device__ __forceinline__ quadrature_call(const quadrature_box<d>& domain,
                                             const Integrand& integrand,
                                             const quadrature_options& of_call,
                                             quadrature_estimate* to)
      : box(domain), f(integrand), options(of_call), result(to) {}

  /// Returns whether the host would accept the arguments.
  [[nodiscard]] __device__ __forceinline__ bool fits(const plan& p) const {
    const double absolute = options.absolute_tolerance;
    const double relative = options.relative_tolerance;
    bool valid = absolute >= 0 && absolute <= DBL_MAX && relative >= 0 && relative < 1;
    valid = valid && (absolute > 0 || relative > 0);
    for (unsigned axis = 0; axis < d; ++axis) {
      valid = valid && is_valid_axis(box.low[axis], box.high[axis]);
    }
    const std::size_t most = evaluations_of(p);
    return valid && most >= cubature_rule<d>::points && options.min_evaluations <= most;
  }

  [[nodiscard]] __device__ __forceinline__ call_needs needs(const plan&) const {
    return {1, 1, true, call_needs::no_batch};
  }

  [[nodiscard]] __device__ __forceinline__ bool start(const plan& p,
                                                      const call_ticket& ticket) const {
    return ticket.conclude(ramify::launch(begin_quadrature_call<quadrature_call>,
                                          {1, small_threads}, fire_and_forget(), *this, ticket, &p),
                           "begin_quadrature_call");
  }

  [[nodiscard]] __device__ program_type program(const plan& p, const call_ticket& ticket) const {
    memory_layout layout(ticket.scratch());
    const quadrature_call_memory<d> memory(layout, p.regions());
    const length_units<d> units = units_of(box);
    program_type made{{},
                      memory.rounds,
                      f,
                      std::scalbn(options.absolute_tolerance, -exponent_of(units)),
                      options.relative_tolerance,
                      options.min_evaluations,
                      evaluations_of(p),
                      box,
                      units,
                      {}};
    link_to_call(made, ticket);
    return made;
  }

  __device__ void write_result(const plan& p, const call_ticket& ticket) const {
    write_result(program(p, ticket));
  }
  __device__ void write_result(const program_type& done) const {
    *result = result_of(done, *done.state);
  }

 private:
  [[nodiscard]] __device__ __forceinline__ std::size_t evaluations_of(const plan& p) const {
    return options.max_evaluations < p.max_evaluations() ? options.max_evaluations
                                                         : p.max_evaluations();
  }
};

/// Memory for an object without a default constructor, in shared memory.
template <class T>
struct uninitialized {
  alignas(T) unsigned char bytes[sizeof(T)];

  __device__ void construct(const T& value) { new (static_cast<void*>(bytes)) T(value); }
  [[nodiscard]] __device__ const T& get() const { return *reinterpret_cast<const T*>(bytes); }
};

/// Begins a call with the small rounds. Launched with one block of small_threads threads.
template <class Call>
__global__ void __maxnreg__(max_registers(small_threads))
    begin_quadrature_call(Call call, call_ticket ticket, const typename Call::plan* plan) {
  using program_type = typename Call::program_type;
  const traced here(ticket.trace, __func__);
  __shared__ small_memory<program_type> memory;
  // In shared memory, because threads would have their copies in local memory.
  __shared__ uninitialized<program_type> shared_program;
  if (threadIdx.x == 0) shared_program.construct(call.program(*plan, ticket));
  __syncthreads();
  const program_type& program = shared_program.get();
  const round_state now = small_rounds(program, memory);
  // The fence and the barrier put the writes of all threads before what thread 0 launches.
  __threadfence();
  __syncthreads();
  if (threadIdx.x != 0) return;
  *program.state = now;
  if (!program.finished(now)) return continue_in_rounds(call, *plan, ticket, __func__);
  call.write_result(program);
  ticket.end();
}

}  // namespace ramify::detail::quadrature::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// The plan of a call_arena for calls of quadrature() by kernels, in d dimensions, with integrands
/// of this type. Each chunk of the arena has 16 d + 38 bytes for each region, and about 150,000
/// bytes.
template <unsigned d, class Integrand>
class quadrature_calls {
  static_assert(1 <= d && d <= max_quadrature_dimensions, "one to eight dimensions");

 public:
  using call = detail::quadrature::quadrature_call<d, Integrand>;  ///< the call, for the runtime
  static constexpr const char* name = "quadrature";  ///< the name of the call in messages
  static constexpr unsigned batches = 0;             ///< batches of calls, for the runtime

  /// Plans calls that evaluate up to `max_evaluations` points each.
  /// \throws std::invalid_argument if quadrature() throws it for this number
  explicit quadrature_calls(std::size_t max_evaluations)
      : max_evaluations_(max_evaluations),
        regions_(detail::quadrature::max_regions<d>({.max_evaluations = max_evaluations})) {}

  /// Does nothing: the sizes do not depend on the device.
  void prepare() {}  // the sizes do not depend on the device

  /// Returns the scratch memory of a call, in bytes.
  [[nodiscard]] std::size_t scratch_bytes() const {
    return layout_bytes<detail::quadrature::quadrature_call_memory<d>>(regions_);
  }

  /// Returns the maximum number of evaluations of a call.
  [[nodiscard]] __host__ __device__ std::size_t max_evaluations() const { return max_evaluations_; }
  /// Returns the largest number of regions of a call.
  [[nodiscard]] __host__ __device__ std::size_t regions() const { return regions_; }

 private:
  std::size_t max_evaluations_;
  std::size_t regions_;
};

/// Integrates `f` over `box`: quadrature() for a thread of a kernel. It returns without waiting;
/// when the call is complete, the continuation of `calls` runs.
///
/// A call evaluates at most as many points as its plan, whatever options.max_evaluations is. It is
/// refused if the host would throw std::invalid_argument.
///
/// \param result  in device memory. It is an argument, because no thread waits for the call. It has
///                the bits of the host's result for the same options.
/// \param calls   a kernel_environment. The plan quadrature_calls<d, Integrand> is among those of
///                its arena.
template <unsigned d, class Integrand, class Calls>
requires detail::is_kernel_environment<Calls> __device__ __forceinline__ call_status
quadrature(const quadrature_box<d>& box, const Integrand& f, const quadrature_options& options,
           quadrature_estimate* result, const Calls& calls) {
  if constexpr (detail::quadrature::checked_types<d, Integrand>::are_valid) {
    return detail::start_call(
        detail::quadrature::quadrature_call<d, Integrand>(box, f, options, result), calls);
  }
}
/// Overload with the default options.
template <unsigned d, class Integrand, class Calls>
requires detail::is_kernel_environment<Calls> __device__ __forceinline__ call_status
quadrature(const quadrature_box<d>& box, const Integrand& f, quadrature_estimate* result,
           const Calls& calls) {
  return quadrature(box, f, quadrature_options{}, result, calls);
}

}  // namespace ramify::inline RAMIFY_BUILD
