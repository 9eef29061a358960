// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// recursion: runs a kernel over a task, and over all the tasks that it spawns, on either route.
///
/// device   The host launches the first grid. Grids launch child grids, each over one task or over
///          several (launch_granularity). Tasks that get no slot wait in a list. After the first
///          grid and its descendants, the driver of a launch chain launches grids over that list
///          until it is empty.
/// flat     The tasks of a level wait in a list. The host reads the size of the list and launches a
///          grid over it. Alternatively, the loop of a graph, or the host for the levels that it
///          expects, launches grids of a fixed size over the two lists, without the sizes.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/detail/launch_chain.cuh>
#include <ramify/runtime/residency.cuh>
#include <ramify/runtime/spawner.cuh>
#include <stdexcept>
#include <string>

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// The counts of both lists of a recursion, initially zero. Between two grids, at most one list has
/// tasks.
struct list_heads {
  list_head list[2];
  unsigned chunks_taken;

  /// Returns the index of the list that has tasks. If both are empty, it returns 1.
  [[nodiscard]] __host__ __device__ unsigned filled() const {
    return list[0].count_and_blocks != 0 ? 0 : 1;
  }
};

/// Takes the memory of a list of `capacity` tasks. The caller sets the pointers to its counts.
template <class Task>
[[nodiscard]] __host__ __device__ task_list<Task> take_list(memory_layout& memory,
                                                            std::size_t capacity) {
  task_list<Task> list{};
  list.tasks = memory.take<Task>(capacity);
  list.first_block = memory.take<unsigned>(capacity);
  list.capacity = static_cast<unsigned>(capacity);
  return list;
}

/// Whether a recursion with this Context can run as a graph's loop.
template <class Context>
inline constexpr bool has_flat_kernel = requires {
  Context::flat_kernel();
};

/// Whether the host launches levels of the flat route ahead, without a read of their sizes.
template <class Context>
concept levels_are_expected = has_flat_kernel<Context> && requires(const Context& c) {
  c.levels_ahead;
};

/// Ends an iteration of the loop over the lists. Launched with one thread.
template <class Program>
__global__ void end_lists(Program program) {
  const traced here(program.trace, __func__);
  end_iteration(program);
}

/// The program that empties the lists. A round is a grid over the list that has tasks, with all its
/// descendants. While a grid works on one list, its tasks spill into the other.
template <class Task, class Context>
struct list_program : chain_link {
  using state_type = list_heads;
  static constexpr auto join = chain_join::tail_launch;

  state_type* state;
  spawner<Task> spawn;
  Context context;
  task_list<Task> lists[2];  // the last member: see cpu::clear_padding()

  /// When the grid over a list is complete, the list is empty, unless the kernel did not report the
  /// end of a task. If a list overflowed, tasks were dropped, and the host throws.
  [[nodiscard]] __host__ __device__ bool finished(const list_heads& heads) const {
    const list_head& filled = heads.list[heads.filled()];
    const bool overflowed = filled.count_and_blocks >> 32 > lists[0].capacity;
    return filled.count_and_blocks == 0 || filled.ended != 0 || overflowed;
  }
  [[nodiscard]] __host__ __device__ bool repeats(const list_heads&) const {
    return has_flat_kernel<Context>;
  }
  [[nodiscard]] __host__ __device__ unsigned slots_of(const list_heads&) const { return 1; }

  template <class Grids>
  __host__ __device__ void launch_round(const list_heads& heads, Grids& grids) const {
    // All grids are complete, so all chunks are free.
    if (grids.from_kernel()) state->chunks_taken = 0;
    const unsigned filled = heads.filled();
    const auto members = static_cast<unsigned>(heads.list[filled].count_and_blocks);
    const launch_shape shape{spawn.blocks_for(members), spawn.threads, spawn.dynamic_shared};
    const task_source<Task> source{{}, lists[filled], true};
    spawner<Task> of_round = spawner_of_round(spawn, filled);
    if (grids.from_kernel()) {
      of_round.depth = progress->rounds;
      grids.unordered(Context::kernel(), shape, source, of_round, context);
    } else {
      launch_by_host(shape, source, of_round, grids);
    }
  }

  /// Launches a grid that has no launch slots. It uses the flat kernel if there is one, because a
  /// kernel that contains no launches is faster.
  template <class Grids>
  __host__ __device__ void launch_by_host(const launch_shape& shape,
                                          const task_source<Task>& source,
                                          const spawner<Task>& of_grid, Grids& grids) const {
    if constexpr (has_flat_kernel<Context>) {
      grids(Context::flat_kernel(), shape, source, of_grid.without_launches(), context);
    } else {
      grids(Context::kernel(), shape, source, of_grid, context);
    }
  }

  /// Launches two levels, as an iteration of a graph's loop.
  template <class Grids>
  void launch_repeated(const list_heads&, Grids& grids) const requires has_flat_kernel<Context> {
    launch_levels(2, grids);
    grids(end_lists<list_program>, {1, 1}, *this);
  }

  /// Launches the levels that are expected after the root task, without a read of their sizes.
  /// Returns their number.
  template <class Grids>
  unsigned launch_ahead(Grids& grids) const requires levels_are_expected<Context> {
    launch_levels(context.levels_ahead, grids);
    return context.levels_ahead;
  }

  /// Launches a grid for each of some levels, the first one over list 0. A grid of this size can
  /// work on any number of tasks. A grid over an empty list changes nothing.
  template <class Grids>
  void launch_levels(unsigned levels, Grids& grids) const requires has_flat_kernel<Context> {
    const auto kernel = Context::flat_kernel();
    const unsigned blocks = resident_blocks(kernel, spawn.threads, spawn.dynamic_shared);
    for (unsigned level = 0; level < levels; ++level) {
      const unsigned filled = level % 2;
      grids(kernel, launch_shape{blocks, spawn.threads, spawn.dynamic_shared},
            task_source<Task>{{}, lists[filled], true},
            spawner_of_round(spawn.without_launches(), filled), context);
    }
  }

  void check(const list_heads& heads) const {
    const list_head& filled = heads.list[heads.filled()];
    if (filled.ended == 0) return;
    const auto tasks = static_cast<unsigned>(filled.count_and_blocks >> 32);
    throw std::logic_error(
        "recursion: a grid is complete, and its kernel did not call task_ends() for " +
        std::to_string(tasks - (filled.ended - task_list<Task>::begun)) + " of its tasks");
  }

 private:
  template <class Spawner>
  __host__ __device__ Spawner spawner_of_round(Spawner of_round, unsigned filled) const {
    static_cast<chain_link&>(of_round) = *this;
    of_round.on_slot = false;  // the chain holds the slot
    of_round.next = lists[1 - filled];
    return of_round;
  }
};

/// Calls `call`. Adds the option that is too small to the message of a std::length_error.
template <class Call>
void with_capacity_in_message(const char* algorithm, const char* option, std::size_t capacity,
                              Call call) {
  try {
    call();
  } catch (const std::length_error& e) {
    throw std::length_error(std::string(algorithm) + ": " + e.what() + "; raise " + option +
                            ", which is " + std::to_string(capacity));
  }
}

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD

namespace ramify::inline RAMIFY_BUILD {

/// The state of a recursion, for later kernels in its stream.
struct recursion_state {
  const detail::list_heads* heads = nullptr;  ///< the lists of tasks; null: none

  /// Returns false if tasks wait, which recursion::finish() will launch.
  [[nodiscard]] __device__ bool is_complete() const {
    return heads->list[heads->filled()].count_and_blocks == 0;
  }
};

/// One run of a kernel(task_source<Task>, spawner<Task>, Context) over a root task. All its grids
/// share the Context, which has these members:
///
///     static auto kernel()                   the kernel (__host__ __device__)
///     static constexpr unsigned max_children tasks that a block spawns for one task or member, at
///                                            most; with by_block(), the threads of the block
///     static constexpr bool may_be_thin      whether many levels may have only a few tasks;
///                                            then grids keep their slots until the driver runs
///
/// and may have these:
///
///     static auto flat_kernel()              the same kernel without launches, for the flat route:
///                                            a kernel(task_source<Task>, spawner<Task, false>,
///                                            Context) (__host__ __device__)
///
///     unsigned levels_ahead                  expected number of levels after the root task: on the
///                                            flat route, the host launches grids for them without
///                                            a read of their sizes, if there is a flat kernel
///
/// The kernel iterates over source.members(), spawns with the spawner, and calls spawn.task_ends()
/// in one thread for each task that has ended, and spawn.block_ends() at the end of each block. All
/// grids have the same block size.
///
/// With a flat kernel, a graph can launch the levels of the flat route, and a stream that is being
/// captured can record either route. Without one, it can record the device route only.
template <class Task, class Context>
class recursion {
  using program = detail::list_program<Task, Context>;

 public:
  /// Returns the device memory of a run, in bytes. `capacity` is the maximum number of tasks that
  /// wait at the same time. On the flat route, and with granularity::per_grid, it is the number of
  /// tasks of the largest level. On the device route tasks of several levels can wait at the same
  /// time: it is the maximum number of tasks of which none descends from another.
  /// granularity::per_block needs additional memory for four times as many tasks.
  [[nodiscard]] static std::size_t scratch_bytes(std::size_t capacity,
                                                 const launch_granularity& launches = {}) {
    return layout_bytes<pieces>(capacity, launches);
  }

  /// Whether a graph's loop can launch the levels of the flat route.
  static constexpr bool has_loop = detail::has_flat_kernel<Context>;

  /// Prepares a run. `scratch` is device memory of scratch_bytes(capacity, launches) bytes, aligned
  /// to 256 bytes. `scratch` and `control` must outlive the run. A block gets `dynamic_shared`
  /// bytes; if the kernels' limit is lower, it is raised. `loop` states what launches the levels of
  /// the flat route; without a flat kernel it is the host.
  /// \throws std::invalid_argument if `capacity` is not in [1, 2^31 - 1], `launches` is invalid, or
  ///         the device has less than `dynamic_shared` bytes for a block; unavailable if `loop`
  ///         requests a graph and the Context has no flat kernel; cuda_error
  recursion(void* scratch, std::size_t capacity, run_control& control, unsigned threads,
            unsigned dynamic_shared, child_streams streams, const Context& context,
            const launch_granularity& launches = {},
            const detail::loop_choice& loop = {flat_loop::host,
                                               "the host reads the size of each level"})
      : control_(&control),
        chain_(control,
               make_program(scratch, capacity, control, threads, dynamic_shared, streams, context,
                            launches),
               possible_loop(loop)) {
    require_dynamic_shared(Context::kernel(), dynamic_shared);
    if constexpr (has_loop) require_dynamic_shared(Context::flat_kernel(), dynamic_shared);
  }

  /// Puts the run into the control's stream. Asynchronous. A graph may capture it; each launch of
  /// the graph is then a run.
  /// \throws cuda_error; unavailable if the stream is being captured and the run needs a loop that
  ///         is not available
  void start(const Task& root, unsigned blocks) {
    const program& p = chain_.program();
    clear_memory(p.state, 1, control_->stream(), "clearing the task lists");
    // The first grid works on one task; its tasks spill into list 0.
    spawner<Task> first = p.spawn;
    static_cast<detail::chain_link&>(first) = p;
    first.next = p.lists[0];
    const launch_shape shape{blocks, first.threads, first.dynamic_shared};
    const task_source<Task> source{root, p.lists[1]};
    detail::round_launcher grids(control_->stream());
    if (control_->on_device_route()) {
      grids(Context::kernel(), shape, source, first, p.context);
    } else {
      p.launch_by_host(shape, source, first, grids);
    }
    check(grids.error(), "launching the first grid");
    control_->count_grids(grids.launched(), 0);
    chain_.start();
  }

  /// Waits for the run. Launches grids over the tasks that wait in the lists, and returns whether
  /// it launched any round. For a captured run, call it after the last launch of the graph, or
  /// after each launch.
  /// \throws cuda_error, device_launch_error, std::length_error; std::logic_error if a kernel did
  ///         not call task_ends() for a task, or while the stream is being captured
  bool finish() { return chain_.finish(); }

  /// Returns whether the grids that start() has put into the stream complete the run.
  [[nodiscard]] bool completes_in_stream() const { return chain_.completes_in_stream(); }

  /// Returns the state for kernels that are launched after start().
  [[nodiscard]] recursion_state state() const { return {chain_.program().state}; }

 private:
  /// The parts of the scratch memory.
  struct pieces {
    pieces(memory_layout& memory, std::size_t capacity, const launch_granularity& launches)
        : heads(memory.take<detail::list_heads>(1)) {
      for (unsigned i = 0; i < 2; ++i) {
        lists[i] = detail::take_list<Task>(memory, capacity);
        if (heads == nullptr) continue;  // the memory is only measured
        lists[i].count_and_blocks = &heads->list[i].count_and_blocks;
        lists[i].ended = &heads->list[i].ended;
      }
      if (launches.grain != granularity::per_block) return;
      pool.chunk_size = Context::max_children * launches.coarsening;
      // A block takes a whole chunk and seldom fills it.
      constexpr std::size_t entries_per_task = 4;
      const std::size_t most = std::numeric_limits<unsigned>::max() - 1;
      pool.chunks =
          static_cast<unsigned>(std::min(entries_per_task * capacity / pool.chunk_size + 1, most));
      const std::size_t entries = std::size_t{pool.chunks} * pool.chunk_size;
      pool.tasks = memory.take<Task>(entries);
      pool.first_block = memory.take<unsigned>(entries);
      pool.heads = memory.take<list_head>(pool.chunks);
      if (heads != nullptr) pool.taken = &heads->chunks_taken;
    }

    detail::list_heads* heads;
    task_list<Task> lists[2]{};
    chunk_pool<Task> pool{};
  };

  template <class Kernel>
  static void require_dynamic_shared(Kernel kernel, std::size_t bytes) {
    if (bytes == 0) return;
    const std::size_t allowed = set_max_dynamic_shared(kernel, bytes);
    if (allowed >= bytes) return;
    throw std::invalid_argument("recursion: dynamic_shared " + std::to_string(bytes) +
                                " is more than the " + std::to_string(allowed) +
                                " bytes that the device has for a block");
  }

  static detail::loop_choice possible_loop(const detail::loop_choice& loop) {
    if (has_loop || loop.wanted == flat_loop::host) return loop;
    if (loop.wanted == flat_loop::graph) {
      throw unavailable("flat_loop graph is not available: the recursion has no flat kernel");
    }
    return {flat_loop::host, "the host reads the size of each level"};
  }

  static program make_program(void* scratch, std::size_t capacity, const run_control& control,
                              unsigned threads, unsigned dynamic_shared, child_streams streams,
                              const Context& context, const launch_granularity& launches) {
    if (capacity == 0 || capacity >= task_list<Task>::begun) {
      throw std::invalid_argument("recursion: capacity " + std::to_string(capacity) +
                                  " is not in [1, 2^31 - 1]");
    }
    validate(launches, "recursion: launches");
    memory_layout memory(scratch);
    const pieces all(memory, capacity, launches);
    const bool flat = !control.on_device_route();
    spawner<Task> spawn{};
    spawn.threads = threads;
    spawn.dynamic_shared = dynamic_shared;
    // The flat route launches nothing from kernels, so it creates no streams.
    spawn.streams = flat ? child_streams::fire_and_forget : streams;
    spawn.launches = launches;
    spawn.pool = all.pool;
    return {{}, all.heads, spawn, context, {all.lists[0], all.lists[1]}};
  }

  run_control* control_;
  detail::launch_chain<program> chain_;
};

}  // namespace ramify::inline RAMIFY_BUILD
