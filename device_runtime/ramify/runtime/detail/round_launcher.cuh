// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// round_launcher: launches the grids of one round of a launch chain, from the host or from a
/// kernel. chain_link: the base of the program that the kernels of a chain share. chain_link.cuh
/// describes programs.

#include <cstring>
#include <ramify/runtime/graph_loop.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/slots.cuh>
#include <ramify/runtime/status.cuh>
#include <ramify/runtime/stream.cuh>
#include <ramify/runtime/tasks.cuh>
#include <utility>

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// The way in which a chain waits for a round before it launches the next one.
enum class chain_join { last_block, tail_launch };

/// The progress of a chain, in device memory. All fields are 0 at first.
struct chain_progress {
  unsigned launched;    ///< grids of the current round that kernels have launched
  unsigned held;        ///< launch slots that the chain keeps until the driver runs
  unsigned stopped;     ///< 1: kernels launch nothing more, and the host continues
  unsigned rounds;      ///< rounds that kernels or a graph have begun
  unsigned arrived;     ///< blocks of the round's last grid that have arrived
  unsigned iterations;  ///< of graph loops; an iteration that the host launched does not count
  unsigned call;        ///< of a call from a kernel: the number of its plan plus 1, for errors
  unsigned begun;       ///< blocks of the current grid that have begun, if it has a round_team
  unsigned taken;       ///< parts of the round that blocks of a round_team took after their first
  unsigned long long published;  ///< the last round of a round_team, or its end
};

/// The base of every program. Its members are what the kernels need to launch the next round.
struct chain_link {
  chain_progress* progress = nullptr;
  run_status* status = nullptr;
  launch_slots slots{};      ///< none on the flat route
  loop_condition loop{};     ///< of the graph loop that launches the rounds, if one does
  trace_ticket trace{};      ///< of each grid
  bool on_slot = false;      ///< this grid was launched on a slot of its own
  bool keeps_slots = false;  ///< grids do not release their slots: `slots` counts all of the chain

  /// Returns true, to all threads of the block, in the last of `blocks` blocks to call it. The
  /// writes of the other blocks are then visible. Every thread of the block must call it.
  [[nodiscard]] __device__ bool is_last_block(unsigned blocks) const {
    return last_to_arrive(progress->arrived, blocks);
  }

  /// Clears the status and the progress. One thread of the first grid of a run calls it, if the
  /// run's run_setup has `first_grid_clears`.
  /// (For `*progress = {}` nvcc stores constants under numbered names. nvlink rejects files in
  /// which such constants, or copies of a function, have the same name and different sizes.)
  __device__ __forceinline__ void clear_status() const {
    memset(static_cast<void*>(progress), 0, sizeof *progress);
    memset(static_cast<void*>(status), 0, sizeof *status);
  }

  /// Releases the slot of a grid whose program has `releases_slots`. Every thread must call it, as
  /// its first step in the kernel.
  __device__ void release_slot() const {
    if (on_slot && blockIdx.x == 0 && threadIdx.x == 0) slots.release();
  }
};

/// Whether a program has the optional member `releases_slots`, and its value is true.
template <class Program>
inline constexpr bool releases_slots = requires {
  requires Program::releases_slots;
};

/// Launches the grids of a round, from the host or from one thread of a kernel. After a launch that
/// fails it launches nothing more. A grid without blocks is not launched and not counted.
class round_launcher {
 public:
  /// Launches from the host into `stream`. It skips the first `skipped` grids, because a kernel has
  /// launched them.
  explicit round_launcher(cudaStream_t stream, unsigned skipped = 0)
      : in_order_(stream), unordered_(stream), skipped_(skipped) {}

  /// Launches from a kernel. `counted` is the present value of progress.launched. Ordered grids are
  /// launched into the NULL stream of the block or, if `own_stream`, into a named stream, which is
  /// created before the first of them.
  __device__ round_launcher(chain_progress& progress, unsigned counted, bool own_stream)
      : unordered_(fire_and_forget()),
        progress_(&progress),
        counted_(counted),
        makes_stream_(own_stream) {}

  round_launcher(const round_launcher&) = delete;
  round_launcher& operator=(const round_launcher&) = delete;

  __host__ __device__ ~round_launcher() noexcept(RAMIFY_ON_CUDA) {  // the rule checker throws
#if RAMIFY_DEVICE_LAUNCH && (!RAMIFY_ON_CUDA || defined(__CUDA_ARCH__))
    // This releases the handle alone; the work in the stream continues.
    if (made_stream_) static_cast<void>(cudaStreamDestroy(in_order_));
#endif
  }

  /// Launches a grid that runs after the earlier grids of this function.
  template <class... Parameters, class... Arguments>
  __host__ __device__ void operator()(void (*kernel)(Parameters...), const launch_shape& shape,
                                      const Arguments&... arguments) {
    if (!is_next(shape)) return;
    make_stream();
    conclude(launch(kernel, shape, in_order_, arguments...));
  }

  /// Launches a grid that may run before, after or at the same time as the other grids of the
  /// round. A grid that the host launches runs in the order of the launches.
  template <class... Parameters, class... Arguments>
  __host__ __device__ void unordered(void (*kernel)(Parameters...), const launch_shape& shape,
                                     const Arguments&... arguments) {
    if (!is_next(shape)) return;
    conclude(launch(kernel, shape, unordered_, arguments...));
  }

  /// Calls task(program, grids). Its grids run after all grids that this launcher and earlier tasks
  /// launched. A kernel calls the task by a tail launch. Requires chain_join::tail_launch.
  template <class Program, class Task>
  __host__ __device__ void then(const Program& program, const Task& task);

  /// Makes the host launch later grids into `stream`. Returns the stream of the earlier ones. The
  /// caller orders the streams.
  cudaStream_t continue_in(cudaStream_t stream) { return std::exchange(in_order_, stream); }

  [[nodiscard]] __host__ __device__ bool from_kernel() const { return progress_ != nullptr; }
  [[nodiscard]] __host__ __device__ unsigned launched() const { return launched_; }
  [[nodiscard]] __host__ __device__ cudaError_t error() const { return error_; }

 private:
  /// Returns whether to launch the grid. The progress counts the grid before its launch, because
  /// the grid may change the progress.
  __host__ __device__ bool is_next(const launch_shape& shape) {
    if (shape.grid.x == 0 || error_ != cudaSuccess) return false;
    if (progress_ != nullptr) {
      progress_->launched = ++counted_;
      return true;
    }
    if (skipped_ == 0) return true;
    --skipped_;
    return false;
  }

  __host__ __device__ void conclude(const launch_status& status) {
    error_ = status.code();
    if (status) {
      ++launched_;
    } else if (progress_ != nullptr) {
      progress_->launched = --counted_;
    }
  }

  __host__ __device__ void make_stream() {
#if RAMIFY_DEVICE_LAUNCH && (!RAMIFY_ON_CUDA || defined(__CUDA_ARCH__))
    if (!makes_stream_) return;
    makes_stream_ = false;
    // Without a named stream, the round uses the NULL stream, which is correct but slower. (The
    // address of a member would put the whole launcher into local memory.)
    cudaStream_t made = nullptr;
    made_stream_ = cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking) == cudaSuccess;
    if (made_stream_) in_order_ = made;
#endif
  }

  cudaStream_t in_order_ = nullptr;
  cudaStream_t unordered_ = nullptr;
  chain_progress* progress_ = nullptr;
  unsigned counted_ = 0;  // a copy of progress_->launched: a read would wait for memory
  unsigned skipped_ = 0;
  unsigned launched_ = 0;
  cudaError_t error_ = cudaSuccess;
  bool makes_stream_ = false;
  bool made_stream_ = false;
};

/// Counts the launches of a kernel, and stops the chain if one has failed. One thread calls it.
__device__ inline void record_launches(const chain_link& link, const round_launcher& grids,
                                       unsigned depth, const char* kernel) {
  link.status->count_children(grids.launched(), depth);
  if (grids.error() == cudaSuccess) return;
  link.progress->stopped = 1;
  link.status->record_failure(grids.error(), kernel, depth - 1, link.progress->call);
}

/// Returns the name of a task's grid in traces and in errors. A task may define it: `static const
/// char* name()`, __device__.
template <class Task>
__device__ const char* name_of_task() {
  if constexpr (requires { Task::name(); }) {
    return Task::name();
  } else {
    return "run_task";
  }
}

/// Runs a task of round_launcher::then(). Launched with one thread.
template <class Program, class Task>
__global__ void run_task(Program program, Task task) {
  const traced here(program.trace, name_of_task<Task>());
  if (program.progress->stopped != 0) return;
  round_launcher grids(*program.progress, program.progress->launched, false);
  task(program, grids);
  record_launches(program, grids, program.progress->rounds, name_of_task<Task>());
}

template <class Program, class Task>
__host__ __device__ void round_launcher::then(const Program& program, const Task& task) {
#if !RAMIFY_ON_CUDA || !defined(__CUDA_ARCH__)
  if (!from_kernel()) {
    task(program, *this);
    return;
  }
#endif
#if RAMIFY_DEVICE_LAUNCH && (!RAMIFY_ON_CUDA || defined(__CUDA_ARCH__))
  // The progress counts the grids that the task launches, but not the task itself. If the host
  // continues the round, it calls the task again and skips these grids.
  if (error_ != cudaSuccess) return;
  const auto status = launch(run_task<Program, Task>, {1, 1}, cudaStreamTailLaunch, program, task);
  error_ = status.code();
  if (status) ++launched_;
#endif
}

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
