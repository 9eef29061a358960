// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// async_run: what a function whose name ends in _async returns, in all families. Plain C++.
///
///     ramify::async_run<ramify::quicksort_report> run = ramify::quicksort_async(keys, n);
///     ...
///     const ramify::quicksort_report report = run.get();

#include <concepts>
#include <memory>
#include <ramify/version.hpp>
#include <stdexcept>
#include <string>
#include <utility>

namespace ramify::detail::runtime::inline RAMIFY_ABI {

/// A run of a family that has started. async_run owns it.
template <class Result>
class pending_run {
 public:
  using result_type = Result;

  /// `algorithm` begins messages. `captured` is whether a graph captures the run.
  pending_run(const char* algorithm, bool captured) : algorithm_(algorithm), captured_(captured) {}
  virtual ~pending_run() = default;
  pending_run(const pending_run&) = delete;
  pending_run& operator=(const pending_run&) = delete;

  /// Called once, after the start of the run. Completes the run if it must be complete for later
  /// work in its stream, and grids in the stream do not do it. get() then returns the result, or
  /// throws what this call has caught. With completion::by_get_at_once, the run may put the copy of
  /// its state into the stream.
  virtual void settle() noexcept = 0;

  /// Waits for the run, completes it, and returns its result. If it has thrown, or if a graph has
  /// captured the run, it may be called again.
  [[nodiscard]] virtual Result get() = 0;

  [[nodiscard]] const char* algorithm() const { return algorithm_; }
  [[nodiscard]] bool captured() const { return captured_; }

 private:
  const char* algorithm_;
  bool captured_;
};

}  // namespace ramify::detail::runtime::inline RAMIFY_ABI

namespace ramify::inline RAMIFY_ABI {

/// A run that an _async function has started. Movable.
///
/// Work that enters the stream after the _async call sees the complete results, also before get():
/// get() waits, reports and throws. With completion::by_get, and for functions of which only get()
/// returns a result, the run is complete only after get(). One case of the device route is left to
/// get(), too, except by sample_sort: a kernel launched only some grids of a round, because other
/// users of the pending-launch pool have exhausted it.
///
/// If it is destroyed before get(), nothing is checked. The destructor waits only with
/// completion::by_get_at_once, or if the call has set environment::pending_launches.
template <class Result>
class [[nodiscard("call get(): it waits, checks and returns the result")]] async_run {
 public:
  /// Owns a run that has started. It must not be null. Waits for the run if the stream cannot
  /// complete it and environment::completion requires that.
  template <std::derived_from<detail::runtime::pending_run<Result>> Run>
  async_run(std::unique_ptr<Run> run) : algorithm_(run->algorithm()), run_(std::move(run)) {
    run_->settle();
  }
  /// Takes over a run. The other object may then only be destroyed or assigned.
  async_run(async_run && other) noexcept
      : algorithm_(other.algorithm_),
        run_(std::move(other.run_)),
        was_moved_(std::exchange(other.was_moved_, true)) {}
  /// Destroys the own run and takes over the other one.
  async_run& operator=(async_run&& other) noexcept {
    algorithm_ = other.algorithm_;
    run_ = std::move(other.run_);
    was_moved_ = std::exchange(other.was_moved_, true);
    return *this;
  }
  ~async_run() = default;

  /// Waits for the grids of the run and returns the result. On a GPU, a small grid writes the state
  /// of the run for the host, which polls, unless cudaSetDeviceFlags() requested another kind of
  /// waiting before the first run. Immediately afterwards, cudaStreamQuery() may return
  /// cudaErrorNotReady. If the stream does not complete the run, the call launches the grids for
  /// which kernels found no launch slot, and on the flat route those that the host has left to
  /// launch. Any thread may call it, whatever its current device.
  ///
  /// It returns once. If a graph has captured the run, get() may be called after each launch of the
  /// graph; the launch must be in the same stream, or be complete. After a call that has thrown,
  /// get() may be called again.
  /// \throws std::logic_error for a further call, for a moved-from run, and while the stream is
  ///         being captured; cuda_error, device_launch_error; the exceptions of the _async function
  Result get() {
    if (run_ == nullptr) {
      throw std::logic_error(std::string(algorithm_) + (was_moved_ ? ": get() of a moved-from run"
                                                                   : ": get() was called before"));
    }
    Result result = run_->get();
    if (!run_->captured()) run_.reset();
    return result;
  }

  /// Returns whether a graph has captured the run, so that get() may be called after each launch.
  [[nodiscard]] bool captured() const { return run_ != nullptr && run_->captured(); }

 private:
  const char* algorithm_;
  std::unique_ptr<detail::runtime::pending_run<Result>> run_;  // null after get() or a move
  bool was_moved_ = false;
};

}  // namespace ramify::inline RAMIFY_ABI
