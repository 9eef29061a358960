// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The runs of all families: started_run and its two forms, memory_run and device_run.
///
/// An _async function of a family has three steps: a run_setup checks the environment and makes the
/// choices, the constructor of the family's run starts the work, and async_run owns the run. The
/// family's run derives from one of the classes below and defines finish(). If the grids that its
/// constructor puts into the stream complete the run for every input, it calls
/// complete_in_stream(). Otherwise the _async function completes the run before it returns, unless
/// environment::completion is by_get.

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <ramify/runtime/async_run.hpp>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/phase_range.cuh>
#include <ramify/runtime/report.hpp>
#include <ramify/runtime/run_control.cuh>
#include <ramify/runtime/run_setup.cuh>
#include <ramify/runtime/stream.cuh>
#include <string>
#include <type_traits>
#include <utility>

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// The options of a call without options. A call with them compiles only the default strategy.
template <class Options>
struct default_of : Options {};
template <class Options>
inline constexpr bool is_default = false;
template <class Options>
inline constexpr bool is_default<default_of<Options>> = true;

/// The options of a call that has no environment either. It requests no graph, and no graph
/// captures it, because a captured run needs memory of the caller. So it need not compile a graph's
/// loop.
template <class Options>
struct default_call_of : default_of<Options> {};
template <class Options>
inline constexpr bool is_default<default_call_of<Options>> = true;
template <class Options>
inline constexpr bool may_need_loop = true;
template <class Options>
inline constexpr bool may_need_loop<default_call_of<Options>> = false;

/// A run that has started. It does not move, because chains refer to its members.
template <class Result>
class started_run : public pending_run<Result> {
 public:
  explicit started_run(const run_setup& setup)
      : pending_run<Result>(setup.algorithm, setup.captured), choices(setup) {}

  void settle() noexcept final {
    if (this->captured() || choices.completion == completion::by_get) return;
    const bool get_follows = choices.completion == completion::by_get_at_once;
    if (is_complete_in_stream_ && !get_follows) return;
    try {
      if (get_follows) return read_ahead();
      is_settled_ = true;
      result_ = finish();
      if constexpr (std::is_base_of_v<run_report, Result>) {
        state_reason(*result_);
      } else if constexpr (requires { result_->report.completion_reason; }) {
        state_reason(result_->report);
      }
    } catch (...) {
      error_ = std::current_exception();
    }
  }

  /// \throws std::logic_error while the stream is being captured; as finish()
  [[nodiscard]] Result get() final {
    const phase_range range(this->algorithm());
    const device_scope here(choices.device);
    require_not_captured(choices.stream, this->algorithm());
    if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
    if (result_) return std::move(*result_);
    return finish();
  }

 protected:
  /// States that the grids in the stream complete the run. The constructor of a run calls it.
  void complete_in_stream(bool they_do = true) { is_complete_in_stream_ = they_do; }

  /// Writes into a report why the run was completed before the call returned, if it was. A finish()
  /// whose result has its report as a private member calls it.
  void state_reason(run_report& report) const {
    if (!is_settled_) return;
    const std::string obstacle = choices.completion_obstacle();
    report.completion_reason =
        obstacle.empty() ? "the host launches some of its grids, or reads their results" : obstacle;
  }

  run_choices choices;

 private:
  /// Waits for the run, completes it, and returns its result.
  virtual Result finish() = 0;
  /// Puts the first copy that finish() waits for into the stream. Optional.
  virtual void read_ahead() {}

  bool is_complete_in_stream_ = false;
  bool is_settled_ = false;       // settle() has completed the run
  std::optional<Result> result_;  // of settle(), until get()
  std::exception_ptr error_;      // likewise
};

/// A run with scratch memory, of which Parts(memory_layout&, sizes...) takes its parts. Other runs
/// do its work.
template <class Result, class Parts>
class memory_run : public started_run<Result> {
 public:
  /// Takes the scratch memory. \throws std::invalid_argument for bad memory; cuda_error
  template <class... Sizes>
  explicit memory_run(const run_setup& setup, const Sizes&... sizes)
      : started_run<Result>(setup),
        memory(setup.given, setup.stream, setup.algorithm, sizes...),
        parts(memory.parts) {}

  /// Returns the device memory that a run needs, in bytes.
  template <class... Sizes>
  [[nodiscard]] static std::size_t scratch_bytes(const Sizes&... sizes) {
    return layout_bytes<Parts>(sizes...);
  }

 protected:
  run_memory<Parts> memory;
  Parts& parts;
};

/// A run that launches grids: it has a run_control, and scratch memory with the parts that
/// Parts(memory_layout&, sizes...) takes. What Parts takes first is among the bytes that
/// run_control::wait() reads.
template <class Result, class Parts>
class device_run : public started_run<Result> {
 public:
  /// Takes the scratch memory. \throws std::invalid_argument for bad memory; cuda_error
  template <class... Sizes>
  explicit device_run(const run_setup& setup, const Sizes&... sizes)
      : started_run<Result>(setup),
        scratch(setup.given, scratch_bytes(sizes...), setup.stream, setup.algorithm),
        memory(scratch.data()),
        control(memory.take<std::byte>(run_control::scratch_bytes), setup, scratch.size()),
        parts(memory, sizes...) {}

  /// Returns the device memory that a run needs, in bytes.
  template <class... Sizes>
  [[nodiscard]] static std::size_t scratch_bytes(const Sizes&... sizes) {
    memory_layout sizing(nullptr);
    sizing.take<std::byte>(run_control::scratch_bytes);
    static_cast<void>(Parts(sizing, sizes...));
    return sizing.size();
  }

 protected:
  /// Reads the trace of the complete run, and returns its report.
  [[nodiscard]] const run_report& end() {
    control.read_trace();
    control.report().scratch_bytes = scratch.size();
    return control.report();
  }

  void read_ahead() override { control.read_ahead(); }

  scratch_space scratch;
  memory_layout memory;
  run_control control;
  Parts parts;
};

/// A run without work, whose result is known.
template <class Result>
class known_run final : public started_run<Result> {
 public:
  known_run(const run_setup& setup, Result result)
      : started_run<Result>(setup), known_(std::move(result)) {
    this->complete_in_stream();
  }

 private:
  Result finish() override { return known_; }

  Result known_;
};

/// Returns a run without work. `reason` is the reason for its route, which is flat.
template <class Report>
[[nodiscard]] async_run<Report> run_without_work(const run_setup& setup, Report report,
                                                 const char* reason) {
  static_cast<run_report&>(report) = report_of_this_build({route::flat, reason});
  return std::make_unique<known_run<Report>>(setup, std::move(report));
}

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
