// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The loop of the program amr over the steps of a flow.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <optional>
#include <ramify/amr.hpp>
#include <stdexcept>
#include <string>

#include "amr_command_line.hpp"
#include "amr_recorder.hpp"
#include "common/progress_bar.hpp"
#include "common/stop_request.hpp"
#include "common/trace_option.hpp"
#include "output/amr_checkpoint.hpp"

namespace common {

/// Returns the number of steps until the next multiple of `every`.
[[nodiscard]] inline std::uint64_t steps_until_multiple(std::uint64_t step, std::uint64_t every) {
  return every - step % every;
}

/// Advances a flow, and writes its files meanwhile. All functions are collective.
template <class Processes, class Simulation>
class amr_stepper {
 public:
  /// `now` has all of a checkpoint except the state and the number of frames.
  amr_stepper(const amr_command_line& o, const Processes& processes, Simulation& flow,
              amr_recorder& files, amr_checkpoint& now)
      : o_(o),
        processes_(processes),
        flow_(flow),
        files_(files),
        now_(now),
        bar_(std::uint64_t(ticks), nullptr, o.quiet),
        begin_(flow.time()) {}

  /// Writes the first row of the history and the first frame of a new run.
  void begin(bool is_new) {
    print_row(true);
    if (is_new) {
      files_.add_row(flow_);
      if (now_.settings.frames > 0) files_.add_frame(flow_);
    } else if (o_.checkpoint == o_.restart) {
      saved_ = flow_.steps();
    }
  }

  /// Advances until the end or a signal. Returns the seconds of the steps.
  double run(const stop_request& stop) {
    const double end = now_.settings.flow.end_time;
    double all_seconds = 0;
    std::uint64_t steps_at_most = 1;  // of a call, so that a stop request is soon seen
    int signal = processes_.largest(stop.signal());
    while (flow_.time() < end && signal == 0) {
      const double target = next_frame_time(now_.settings, flow_.time());
      const std::uint64_t steps = std::min(steps_at_most, steps_until_a_file());
      const double seconds = advance(steps, target);
      all_seconds += seconds;
      steps_at_most = seconds < 0.25 ? 2 * steps : std::max<std::uint64_t>(steps / 2, 1);
      bar_.show(std::uint64_t(ticks * (flow_.time() - begin_) / (end - begin_)));
      write_due(flow_.time() == target);
      signal = processes_.largest(stop.signal());
    }
    // At the end, after a signal, or without any step.
    if (!o_.checkpoint.empty() && saved_ != flow_.steps()) save();
    return all_seconds;
  }

 private:
  static constexpr double ticks = 10'000;

  /// Returns the number of steps until the next row of the history or checkpoint.
  [[nodiscard]] std::uint64_t steps_until_a_file() const {
    const std::uint64_t row = steps_until_multiple(flow_.steps(), now_.settings.history_every);
    if (o_.checkpoint.empty()) return row;
    return std::min(row, steps_until_multiple(flow_.steps(), o_.checkpoint_every));
  }

  /// Returns the seconds. \throws std::runtime_error that names the last checkpoint
  double advance(std::uint64_t steps, double target) {
    using clock = std::chrono::steady_clock;
    const auto before = clock::now();
    try {
      flow_.advance(steps, target);
    } catch (const ramify::amr_error& e) {
      std::string what = e.what();
      if (saved_) what += "; " + o_.checkpoint + " is of step " + std::to_string(*saved_);
      if (now_.settings.env.trace) write_trace(o_.trace, *now_.settings.env.trace);
      throw std::runtime_error(what);
    }
    return processes_.of_first(std::chrono::duration<double>(clock::now() - before).count());
  }

  void write_due(bool is_frame) {
    if (is_frame || flow_.steps() % now_.settings.history_every == 0) files_.add_row(flow_);
    if (is_frame) {
      if (now_.settings.frames > 0) files_.add_frame(flow_);
      print_row(false);
    }
    if (!o_.checkpoint.empty() && flow_.steps() % o_.checkpoint_every == 0) save();
  }

  void save() {
    now_.state = flow_.state();
    now_.frames_written = files_.frames();
    if (processes_.is_first()) {
      keep_checkpoints(o_.checkpoint, o_.keep);
      write_amr_checkpoint(o_.checkpoint, now_);
    }
    saved_ = flow_.steps();
  }

  void print_row(bool header) {
    if (o_.quiet || o_.report == "json") return;
    bar_.clear();
    if (header) std::cout << "       time      step    leaves     blocks  finest level\n";
    const ramify::amr_report report = flow_.report();
    std::cout << std::setw(11) << report.time << std::setw(10) << report.steps << std::setw(10)
              << report.leaves << std::setw(11) << report.blocks << std::setw(14)
              << report.finest_level << std::endl;
  }

  const amr_command_line& o_;
  const Processes& processes_;
  Simulation& flow_;
  amr_recorder& files_;
  amr_checkpoint& now_;
  progress_bar bar_;
  double begin_;
  std::optional<std::uint64_t> saved_;  // the step of the checkpoint
};

}  // namespace common
