// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A progress bar on stderr.

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace common {

/// A progress bar. It prints nothing unless stderr is a terminal. The destructor removes it.
class progress_bar {
  using clock = std::chrono::steady_clock;

 public:
  /// Creates a bar for `total` items. `unit` names the items in the rate; without it no rate is
  /// printed.
  progress_bar(std::uint64_t total, const char* unit, bool quiet)
      : total_(total), unit_(unit), shown_(!quiet && total > 0 && ::isatty(STDERR_FILENO) == 1) {}
  ~progress_bar() { clear(); }
  progress_bar(const progress_bar&) = delete;
  progress_bar& operator=(const progress_bar&) = delete;

  /// Draws the bar for `done` items, at most ten times a second.
  void show(std::uint64_t done) {
    const auto now = clock::now();
    if (!shown_ || now - drawn_ < std::chrono::milliseconds(100)) return;
    drawn_ = now;
    constexpr std::size_t width = 40;
    const double share = double(done) / double(total_);
    const double seconds = std::chrono::duration<double>(now - begin_).count();
    const auto filled = static_cast<std::size_t>(share * double(width));
    const std::string bar = std::string(filled, '#') + std::string(width - filled, '.');
    std::fprintf(stderr, "\r[%s] %3.0f %%  ", bar.c_str(), 100 * share);
    if (unit_ != nullptr) std::fprintf(stderr, "%.1f %s/s  ", double(done) / seconds, unit_);
    std::fprintf(stderr, "%.0f s left \033[K", done == 0 ? 0 : seconds / share - seconds);
  }

  /// Removes the bar, so that the caller can print a line.
  void clear() {
    if (shown_ && drawn_ != clock::time_point{}) std::fputs("\r\033[K", stderr);
    drawn_ = {};
  }

 private:
  std::uint64_t total_;
  const char* unit_;
  bool shown_;
  clock::time_point begin_ = clock::now();
  clock::time_point drawn_{};
};

}  // namespace common
