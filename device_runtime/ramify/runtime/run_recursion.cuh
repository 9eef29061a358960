// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// run_recursion(): a recursion in one call. It takes the memory, chooses the route, runs the
/// kernel over the root task and over all tasks that it spawns, and returns the report.
///
///     struct counting;                       // the context: see recursion.cuh
///     __global__ void visit(task_source<unsigned>, spawner<unsigned>, counting);
///
///     const run_report report = ramify::run_recursion(10, counting{nodes});
///     auto run = ramify::run_recursion_async(10, counting{nodes}, {.capacity = 1024},
///                                            {.stream = stream, .route = route::device});
///     run.get();                             // waits; throws the first error of a kernel
///
/// Stream     environment::stream: the run is ordered after earlier work in it. Work that enters
///            the stream after run_recursion_async() sees the results of all tasks. Where the
///            stream cannot complete the run (environment::completion), the call waits: always for
///            a context without a flat kernel. With completion::by_get, get() completes the run.
/// Route      automatic: the device route, in which no level waits for the host, if there is a
///            launch slot; else flat. Without a flat kernel the host launches the levels of the
///            flat route.
/// Graphs     a graph can capture run_recursion_async() if memory is handed in; without a flat
///            kernel the device route only. Each launch of the graph is a run.
/// Trace      environment::trace gets all grids whose kernels begin with
///            `const traced here(spawn.trace, __func__);`.
/// Errors     std::invalid_argument naming the option, before anything is launched;
///            std::length_error if more than options.capacity tasks wait: then not all tasks have
///            run; std::logic_error if a kernel does not call task_ends() for a task; unavailable,
///            cuda_error, device_launch_error.
/// Not for    programs that share their memory or their control with other work: a class
///            recursion is a part of such a run.

#include <cstddef>
#include <memory>
#include <ramify/runtime/async_run.hpp>
#include <ramify/runtime/detail/functor_types.hpp>
#include <ramify/runtime/detail/started_run.cuh>
#include <ramify/runtime/phase_range.cuh>
#include <ramify/runtime/recursion.cuh>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace ramify::inline RAMIFY_BUILD {

/// The options of run_recursion().
struct recursion_options {
  /// Maximum number of tasks that wait at the same time; recursion::scratch_bytes() states how many
  /// that are. Each takes twice the size of a task, and 8 bytes.
  std::size_t capacity = std::size_t{1} << 20;
  unsigned threads = 32;        ///< of each block, in [1, 1024]
  unsigned root_blocks = 1;     ///< of the grid over the root task, at least 1
  unsigned dynamic_shared = 0;  ///< bytes of dynamic shared memory of each block
  child_streams streams = child_streams::fire_and_forget;  ///< of the child grids
  launch_granularity launches{};                           ///< which tasks share a child grid
};

/// Checks every field but `dynamic_shared`, whose maximum the device has.
/// \throws std::invalid_argument naming the field and its range
inline void validate(const recursion_options& options) {
  using detail::check_field;
  check_field(options.capacity >= 1 && options.capacity < task_list<int>::begun,
              "recursion_options.capacity", options.capacity, "in [1, 2^31 - 1]");
  check_field(options.threads >= 1 && options.threads <= 1024, "recursion_options.threads",
              options.threads, "in [1, 1024]");
  check_field(options.root_blocks >= 1 && options.root_blocks < task_list<int>::begun,
              "recursion_options.root_blocks", options.root_blocks, "in [1, 2^31 - 1]");
  check_enumerator(options.streams, "recursion_options.streams");
  validate(options.launches, "recursion_options.launches");
}

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// Deduces the type of the tasks from a kernel of a recursion.
template <class Task, class Context>
std::type_identity<Task> task_of(void (*)(task_source<Task>, spawner<Task>, Context));

/// Any task, for a Context without a kernel.
struct any_task {
  template <class Task>
  any_task(const Task&) {}
};

/// States which requirements a Context meets.
template <class Context>
struct context_types {
  static constexpr bool has_kernel = requires { task_of(Context::kernel()); };
  static constexpr bool has_children = requires { unsigned{Context::max_children}; };
  static constexpr bool has_thickness = requires { bool{Context::may_be_thin}; };
  static constexpr bool is_copyable = std::is_trivially_copyable_v<Context>;
  static constexpr bool are_valid = has_kernel && has_children && has_thickness && is_copyable;
};

/// Reports each requirement that a Context does not meet by a sentence of the compiler.
template <class Context>
struct checked_context : context_types<Context> {
  static_assert(context_types<Context>::has_kernel,
                "run_recursion: Context needs static auto kernel(), which returns a "
                "kernel(task_source<Task>, spawner<Task>, Context)");
  static_assert(context_types<Context>::has_children,
                "run_recursion: Context needs static constexpr unsigned max_children");
  static_assert(context_types<Context>::has_thickness,
                "run_recursion: Context needs static constexpr bool may_be_thin");
  static_assert(context_types<Context>::is_copyable,
                "run_recursion: Context must be trivially copyable, because it is an argument of "
                "kernels");
};

/// The type of the tasks of a Context.
template <class Context, bool has_kernel = context_types<Context>::has_kernel>
struct task_type {
  using type = any_task;
};
template <class Context>
struct task_type<Context, true> : decltype(task_of(Context::kernel())) {};
template <class Context>
using task_of_context = typename task_type<Context>::type;

/// The scratch memory of a recursion, besides that of its control.
template <class Context>
struct recursion_memory {
  using tree = recursion<task_of_context<Context>, Context>;

  recursion_memory(memory_layout& memory, const recursion_options& options)
      : lists(memory.take<std::byte>(tree::scratch_bytes(options.capacity, options.launches))) {}

  std::byte* lists;
};

/// A run that is one recursion.
template <class Context>
class recursion_run final : public device_run<run_report, recursion_memory<Context>> {
  using base = device_run<run_report, recursion_memory<Context>>;
  using tree = typename recursion_memory<Context>::tree;

 public:
  recursion_run(const run_setup& setup, const task_of_context<Context>& root,
                const Context& context, const recursion_options& options)
      : base(setup, options),
        capacity_(options.capacity),
        tree_(this->parts.lists, options.capacity, this->control, options.threads,
              options.dynamic_shared, options.streams, context, options.launches, setup.loop) {
    tree_.start(root, options.root_blocks);
    this->complete_in_stream(tree_.completes_in_stream());
  }

 private:
  run_report finish() override {
    try {
      with_capacity_in_message("run_recursion", "recursion_options.capacity", capacity_,
                               [&] { tree_.finish(); });
    } catch (const std::logic_error&) {  // the trace shows which task it was
      this->control.read_trace();
      throw;
    }
    return this->end();
  }

  std::size_t capacity_;
  tree tree_;
};

/// Chooses the route, and what launches the levels of the flat one.
/// \throws unavailable if a graph is requested or captures the flat route, and the context has no
///         flat kernel; as run_setup::choose_route()
template <class Context>
void choose_for_recursion(run_setup& setup) {
  constexpr const char* reason = "the context of the recursion has no flat kernel";
  if (!has_flat_kernel<Context>) {
    if (setup.wanted_loop == flat_loop::graph) {
      throw unavailable(
          std::string("run_recursion: environment.flat_loop graph is not available: ") + reason);
    }
    setup.loop = {flat_loop::host, reason};
  }
  setup.choose_route(1, route_choice{route::device, "no level waits for the host"});
}

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// Starts Context::kernel() over the task `root` and all tasks that it spawns. Returns before they
/// have run, where the stream can complete the run; see Stream above. The memory that the context
/// points to must exist until get() has returned.
/// \param env  its memory: recursion_scratch_bytes()
/// \throws std::invalid_argument, unavailable, cuda_error
template <class Context>
detail::run_if<detail::context_types<Context>, async_run<run_report>> run_recursion_async(
    const detail::task_of_context<Context>& root, const Context& context,
    const recursion_options& options, const environment& env = {}) {
  if constexpr (detail::checked_context<Context>::are_valid) {
    const phase_range range("run_recursion: start");
    validate(options);
    detail::run_setup setup("run_recursion", env);
    detail::choose_for_recursion<Context>(setup);
    return std::make_unique<detail::recursion_run<Context>>(setup, root, context, options);
  }
}
/// Overload with the default options.
template <class Context>
detail::run_if<detail::context_types<Context>, async_run<run_report>> run_recursion_async(
    const detail::task_of_context<Context>& root, const Context& context,
    const environment& env = {}) {
  return run_recursion_async(root, context, recursion_options{}, env);
}

/// Runs Context::kernel() over the task `root` and all tasks that it spawns:
/// run_recursion_async() and get(). Waits for the stream, and returns the report.
/// \param env  its memory: recursion_scratch_bytes()
/// \throws std::invalid_argument, std::length_error, std::logic_error, unavailable, cuda_error,
///         device_launch_error
template <class Context>
run_report run_recursion(const detail::task_of_context<Context>& root, const Context& context,
                         const recursion_options& options, const environment& env = {}) {
  if constexpr (detail::checked_context<Context>::are_valid) {
    return run_recursion_async(root, context, options, detail::waiting(env)).get();
  }
}
/// Overload with the default options.
template <class Context>
run_report run_recursion(const detail::task_of_context<Context>& root, const Context& context,
                         const environment& env = {}) {
  return run_recursion(root, context, recursion_options{}, env);
}

/// Returns the device memory that a recursion with this Context needs, in bytes.
/// \throws std::invalid_argument for invalid options
template <class Context>
[[nodiscard]] std::size_t recursion_scratch_bytes(const recursion_options& options = {}) {
  validate(options);
  return detail::recursion_run<Context>::scratch_bytes(options);
}

}  // namespace ramify::inline RAMIFY_BUILD
