// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The signals SIGINT, SIGTERM and SIGHUP: a program ends without partial files, and a simulation
/// first finishes its step and writes what was requested.
///
///     common::stop_request stop;                      // the first signal only sets the request
///     while (step < steps && !stop.made()) advance();
///     write_files();
///     if (stop.made()) stop.finish("step 17 of 100 is in bodies.csv");

#include <stdexcept>
#include <string>

namespace common {

/// Thrown by stop_request::finish(). run_program() prints the message and raises the signal again,
/// so that the exit status is the usual one: 128 plus the number of the signal.
class stopped : public std::runtime_error {
 public:
  stopped(int signal, const std::string& what) : std::runtime_error(what), signal_(signal) {}
  [[nodiscard]] int signal() const { return signal_; }

 private:
  int signal_;
};

/// Installs the handlers of a program. A signal removes the temporary file of a write in progress
/// and ends the program with the signal's default action. A signal that the program inherited as
/// ignored (nohup) stays ignored. Too large files (`ulimit -f`) become errors of the write, which
/// the program reports. run_program() calls this function.
void handle_stop_signals();

/// Ends the program by a signal with its default action.
[[noreturn]] void end_by_signal(int signal);

/// While an object of this class exists, the first signal only sets the request, and the second one
/// ends the program at once. At most one object may exist at a time.
class [[nodiscard]] stop_request {
 public:
  stop_request();
  ~stop_request();
  stop_request(const stop_request&) = delete;
  stop_request& operator=(const stop_request&) = delete;

  /// Returns the signal that has arrived, or 0.
  [[nodiscard]] int signal() const;
  /// Returns whether a signal has arrived.
  [[nodiscard]] bool made() const { return signal() != 0; }

  /// Ends the run after a signal: throws stopped_by(signal(), what). Requires made().
  /// \throws stopped
  [[noreturn]] void finish(const std::string& what) const;
};

/// Returns the exception with the message "stopped by SIGINT: <what>". `what` states what the run
/// has reached and which files contain it.
[[nodiscard]] stopped stopped_by(int signal, const std::string& what);

}  // namespace common
