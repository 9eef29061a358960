// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Batches of integrals, which differ in a parameter: the kernel, and the host side.
///
///     1. base case   a block takes an integral, and runs all its rounds, as it runs small rounds
///                    (rounds.cuh)
///     2. repeat      until no integral is left
///     3. the others  integrals for whose regions a block has no memory are listed. The host
///                    continues with a quadrature for each of them, with all blocks
///
/// Join: the stream waits for the one grid; get() waits for the others.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ramify/quadrature/calls.cuh>
#include <ramify/runtime/detail/any_memory.cuh>
#include <ramify/runtime/detail/started_run.cuh>
#include <ramify/runtime/residency.cuh>
#include <ramify/runtime/trace_recorder.cuh>
#include <string>
#include <utility>

namespace ramify::detail::quadrature::inline RAMIFY_BUILD {

/// The maximum number of regions that a block has memory for. It does not depend on the GPU, so
/// that results have the same bits on all GPUs.
inline constexpr std::size_t max_batch_regions = 1024;
/// The warps and threads of a block. Many small blocks hide the latency of their barriers.
inline constexpr unsigned batch_warps = 2;
inline constexpr unsigned batch_threads = 32 * batch_warps;

/// What the blocks of a batch count.
struct batch_counts {
  unsigned next;       ///< number of the next integral
  unsigned continued;  ///< number of integrals in the list of those for which a block is too small
};

/// What determines the scratch memory of a batch.
struct batch_sizes {
  std::size_t integrals;  ///< or their upper bound
  unsigned blocks;
  std::size_t regions;  ///< of a block
};

/// The scratch memory of a batch.
template <unsigned d>
struct batch_memory {
  using of_block = round_memory<d>;

  batch_memory() = default;
  batch_memory(memory_layout& layout, const batch_sizes& sizes)
      : counts(layout.take<batch_counts>(1)),
        estimates(layout.take<quadrature_estimate>(sizes.integrals)),
        continued(layout.take<unsigned>(sizes.integrals)),
        bytes_of_block(layout_bytes<of_block>(sizes.regions, typename of_block::of_one_block{})),
        blocks(layout.take<std::byte>(bytes_of_block * sizes.blocks)) {}

  batch_counts* counts = nullptr;
  quadrature_estimate* estimates = nullptr;
  unsigned* continued = nullptr;  ///< numbers of the integrals that the host continues
  std::size_t bytes_of_block = 0;
  std::byte* blocks = nullptr;  ///< bytes_of_block for each block
};

/// The arguments of the kernel.
template <unsigned d, class Integrand, class Parameter>
struct batch_arguments {
  using program_type = quadrature_program<d, bound_integrand<Integrand, Parameter>>;

  quadrature_box<d> box;
  Integrand f;
  const Parameter* parameters;
  element_count integrals;
  quadrature_options options;
  unsigned regions = 0;  ///< of a block
  batch_memory<d> memory{};

  /// Returns the program of an integral, in the memory of this block.
  [[nodiscard]] __device__ program_type program_of(unsigned integral) const {
    memory_layout layout(memory.blocks + memory.bytes_of_block * blockIdx.x);
    const length_units<d> units = units_of(box);
    return {{},
            round_memory<d>(layout, regions, typename round_memory<d>::of_one_block{}),
            {f, parameters[integral]},
            std::scalbn(options.absolute_tolerance, -exponent_of(units)),
            options.relative_tolerance,
            options.min_evaluations,
            options.max_evaluations,
            box,
            units,
            {.small_evaluations = ~0u, .block_regions = regions}};
  }
};

/// Integrates all integrals of a batch. Launched with any number of blocks of batch_threads
/// threads.
template <class Arguments>
__global__ void __maxnreg__(max_registers(batch_threads, 8))
    integrate_batch(Arguments batch, trace_ticket trace) {
  const traced here(trace, __func__);
  using program_type = typename Arguments::program_type;
  __shared__ small_memory<program_type, batch_warps> memory;
  // In shared memory, because threads would have their copies in local memory.
  __shared__ uninitialized<program_type> shared_program;
  __shared__ unsigned taken;
  const auto count = static_cast<unsigned>(batch.integrals.get());
  for (;;) {
    // 1. Take an integral.
    if (threadIdx.x == 0) taken = atomicAdd(&batch.memory.counts->next, 1u);
    __syncthreads();
    const unsigned integral = taken;
    if (integral >= count) return;
    if (threadIdx.x == 0) shared_program.construct(batch.program_of(integral));
    __syncthreads();
    // 2. Run all its rounds.
    const program_type& program = shared_program.get();
    const round_state end = small_rounds(program, memory);
    // 3. Write the result. An integral that needs more regions is listed.
    if (threadIdx.x == 0) {
      batch.memory.estimates[integral] = result_of(program, end);
      if (end.status == quadrature_status::out_of_memory) {
        batch.memory.continued[atomicAdd(&batch.memory.counts->continued, 1u)] = integral;
      }
    }
    __syncthreads();  // before thread 0 changes the shared variables
  }
}

/// Returns the sizes of a batch. \throws std::invalid_argument for options that are not valid;
/// cuda_error
template <unsigned d, class Integrand, class Parameter>
[[nodiscard]] batch_sizes sizes_of_batch(std::size_t integrals, const quadrature_options& options) {
  using arguments = batch_arguments<d, Integrand, Parameter>;
  check_field(integrals < std::size_t{1} << 31, "quadrature: the number of integrals", integrals,
              "less than 2^31");
  const std::size_t blocks = resident_blocks(integrate_batch<arguments>, batch_threads, 0);
  return {integrals, static_cast<unsigned>(std::min(blocks, integrals)),
          std::min(max_batch_regions, max_regions<d>(options))};
}

/// A batch that has started.
template <unsigned d, class Integrand, class Parameter>
class batch_run final : public memory_run<quadrature_batch_report, batch_memory<d>> {
  using base = memory_run<quadrature_batch_report, batch_memory<d>>;
  using arguments = batch_arguments<d, Integrand, Parameter>;

 public:
  batch_run(const run_setup& setup, const arguments& batch, const batch_sizes& sizes,
            quadrature_estimate* estimates, std::shared_ptr<const void>&& parameters)
      : base(setup, sizes),
        batch_(batch),
        estimates_(estimates),
        parameters_(std::move(parameters)),
        recorder_(setup.trace, setup.stream) {
    if (sizes.integrals == 0) return;
    batch_.regions = static_cast<unsigned>(sizes.regions);
    batch_.memory = this->parts;
    clear_memory(this->parts.counts, 1, setup.stream, "clearing the counts of a batch");
    const launch_status launched = launch(integrate_batch<arguments>, {sizes.blocks, batch_threads},
                                          setup.stream, batch_, recorder_.ticket());
    check(launched.code(), "launching integrate_batch");
  }

 private:
  quadrature_batch_report finish() override {
    quadrature_batch_report report;
    static_cast<run_report&>(report) =
        report_of_this_build({route::flat, "a batch launches no child grids"});
    report.pending_launch_limit = this->choices.limit;
    report.scratch_bytes = this->memory.scratch.size();
    require_context(context_, this->choices.algorithm);
    if (batch_.integrals.upper_bound == 0) return report;
    const cudaStream_t stream = this->choices.stream;
    report.host_grids = 1;
    const auto counts = read_back(this->parts.counts, stream, "reading the counts of a batch");
    recorder_.read();
    report.integrals = read_number(this->choices.algorithm, batch_.integrals, stream);
    report.continued = counts.continued;
    if (counts.continued > 0) continue_with_all_blocks(report);
    copy_results(estimates_, this->parts.estimates, report.integrals, stream,
                 "copying the estimates of a batch");
    return report;
  }

  /// Integrates the listed integrals, one after another.
  void continue_with_all_blocks(quadrature_batch_report& report) {
    const cudaStream_t stream = this->choices.stream;
    constexpr const char* doing = "reading an integral of a batch";
    // Memory that was handed in is in use; a resource has more.
    const memory_ref& given = this->choices.given;
    const memory_ref resource = given.is_resource() ? given : memory_ref{};
    std::size_t largest = 0;  // of their scratch memory; each frees its own
    for (std::uint64_t i = 0; i < report.continued; ++i) {
      const unsigned integral = read_back(this->parts.continued + i, stream, doing);
      const bound_integrand<Integrand, Parameter> f{
          batch_.f, read_back(batch_.parameters + integral, stream, doing)};
      const quadrature_result found =
          start_quadrature(batch_.box, f, batch_.options, this->choices.of_part(resource)).get();
      const quadrature_estimate estimate = found;
      copy_to_device(this->parts.estimates + integral, &estimate, sizeof estimate, stream);
      add_part(report, found.report);
      largest = std::max(largest, found.report.scratch_bytes);
    }
    report.scratch_bytes += largest;
  }

  arguments batch_;
  quadrature_estimate* estimates_;
  std::shared_ptr<const void> parameters_;
  trace_recorder recorder_;
  context_id context_ = current_context();
};

}  // namespace ramify::detail::quadrature::inline RAMIFY_BUILD
