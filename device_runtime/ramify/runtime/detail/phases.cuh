// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Programs of launch chains that list their phases. Each round of such a chain is one grid, the
/// grid of a phase. The program has a table instead of launch_round():
///
///     struct sum_program : chain_link {
///       using state_type = sum_state;
///       using due_type = sum_state;       // what decides the phase: the state, or due_in(state)
///
///       template <class Row>
///       __host__ __device__ void phase_table(const due_type& due, Row& row) const {
///         switch (due.phase) {
///           case phase::add:  // the kernel, its shape, and what is expected after it
///             return row(add_tiles<sum_program>, {due.tiles, 256}, after_add(due));
///           case phase::write: return row(write_sum<sum_program>, {1, 32});
///         }
///       }
///       bool expects(const due_type& known, const due_type& next) const;  // on the host
///       ...
///     };
///
/// row.size_of(element_count) returns the number of elements for the shape of a grid. What is
/// expected after a phase must not depend on it, but may depend on the upper bound.
///
/// A kernel has the parameters (Program) or (Program, due_type). What is expected after a phase
/// may be omitted, if only the kernel can decide it. A kernel launches the grid of the due phase,
/// or runs the due phase. The host launches the due phase, whose state `known` it has read, and
/// without another read the expected phases after it, while expects(known, next) is true: on the
/// flat route, and where it continues a chain of the device route. If another phase is due when
/// such a grid runs, the grid must run that phase or end at once.

#include <cassert>
#include <cstddef>
#include <ramify/runtime/detail/element_count.cuh>
#include <ramify/runtime/launch.cuh>
#include <type_traits>

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// Whether a program has a table of phases.
template <class Program>
inline constexpr bool lists_phases = requires {
  typename Program::due_type;
};

/// Returns what decides the phase of a state.
template <class Program>
[[nodiscard]] __host__ __device__ decltype(auto) due_in(const Program& program,
                                                        const typename Program::state_type& state) {
  if constexpr (requires { program.due_in(state); }) {
    return program.due_in(state);
  } else {
    return (state);
  }
}

/// A row that launches the grid of the due phase.
template <class Program, class Grids>
struct launching_row {
  using due_type = typename Program::due_type;

  const Program& program;
  const due_type& due;
  Grids& grids;

  /// Returns the number of elements for the shape of a grid: the number itself in a kernel, and its
  /// upper bound on the host.
  [[nodiscard]] __host__ __device__ std::size_t size_of(const element_count& n) const {
#if !RAMIFY_ON_CUDA || defined(__CUDA_ARCH__)
    if (grids.from_kernel()) return n.get();
#endif
    return n.upper_bound;
  }

  template <class... Next>
  __host__ __device__ void operator()(void (*kernel)(Program), const launch_shape& shape,
                                      const Next&...) const {
    grids.unordered(kernel, shape, program);
  }
  template <class... Next>
  __host__ __device__ void operator()(void (*kernel)(Program, due_type), const launch_shape& shape,
                                      const Next&...) const {
    grids.unordered(kernel, shape, program, due);
  }
};

/// A row that finds what is expected after the due phase.
template <class Due>
struct finding_row {
  Due next{};
  bool is_found = false;

  [[nodiscard]] __host__ __device__ std::size_t size_of(const element_count& n) const {
    return n.upper_bound;  // the shape is not used
  }

  template <class Kernel>
  __host__ __device__ void operator()(Kernel*, const launch_shape&) const {}
  template <class Kernel>
  __host__ __device__ void operator()(Kernel*, const launch_shape&, const Due& expected) {
    next = expected;
    is_found = true;
  }
};

/// Launches the grid of the due phase.
template <class Program, class Grids>
__host__ __device__ void launch_phase(const Program& program, const typename Program::due_type& due,
                                      Grids& grids) {
  launching_row<Program, Grids> row{program, due, grids};
  program.phase_table(due, row);
}

/// Returns what is expected after the due phase. The row of the phase must state it.
template <class Program>
[[nodiscard]] __host__ __device__ typename Program::due_type expected_after(
    const Program& program, const typename Program::due_type& due) {
  finding_row<typename Program::due_type> row;
  program.phase_table(due, row);
  assert(row.is_found);
  return row.next;
}

/// Launches the due phase, `known`, and the expected ones after it, on the host.
template <class Program, class Grids>
void launch_expected(const Program& program, const typename Program::due_type& known,
                     Grids& grids) {
  using due_type = typename Program::due_type;
  finding_row<due_type> row{known, true};
  while (row.is_found) {
    const due_type due = row.next;
    launch_phase(program, due, grids);
    row.is_found = false;
    program.phase_table(due, row);
    row.is_found = row.is_found && program.expects(known, row.next);
  }
}

/// Launches the due round of a chain. From the host without launch slots, whose kernels launch
/// nothing, it also launches the expected phases of a program with a table.
template <class Program, class Grids>
__host__ __device__ void launch_round(const Program& program,
                                      const typename Program::state_type& state, Grids& grids) {
  if constexpr (lists_phases<Program>) {
#if !RAMIFY_ON_CUDA || !defined(__CUDA_ARCH__)
    if (!grids.from_kernel() && program.slots.in_use == nullptr) {
      launch_expected(program, due_in(program, state), grids);
      return;
    }
#endif
    launch_phase(program, due_in(program, state), grids);
  } else {
    program.launch_round(state, grids);
  }
}

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
