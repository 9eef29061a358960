// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A progress display on stderr.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace common {

/// One line on stderr that shows how far the program is. It appears after a second and is drawn
/// again ten times a second, also during long calls, by a thread of its own. It prints nothing
/// unless stderr is a terminal. The destructor removes it.
class progress_bar {
  using clock = std::chrono::steady_clock;

 public:
  /// Creates a bar for `total` items. `unit` names the items in the rate; without it no rate is
  /// printed.
  progress_bar(std::uint64_t total, const char* unit, bool quiet)
      : progress_bar("", total, unit, quiet) {}
  /// Creates a display of the time that `work` takes: "sorting, 12 s".
  progress_bar(const char* work, bool quiet) : progress_bar(work, 0, nullptr, quiet) {}

  ~progress_bar() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    wake_.notify_one();
    thread_.join();
    erase();
  }
  progress_bar(const progress_bar&) = delete;
  progress_bar& operator=(const progress_bar&) = delete;

  /// Sets the number of items that are done.
  void show(std::uint64_t done) {
    const std::lock_guard lock(mutex_);
    done_ = done;
  }

  /// Begins another part of the work: "tessellating, 12 s". With a number of items, the display is
  /// a bar.
  void set_work(std::string work, std::uint64_t total = 0) {
    const std::lock_guard lock(mutex_);
    work_ = std::move(work);
    total_ = total;
    done_ = 0;
    begin_ = clock::now();
  }

  /// Removes the bar for half a second, so that the caller can print a line.
  void clear() {
    const std::lock_guard lock(mutex_);
    erase();
    next_ = std::max(next_, clock::now() + std::chrono::milliseconds(500));
  }

 private:
  progress_bar(const char* work, std::uint64_t total, const char* unit, bool quiet)
      : unit_(unit), total_(total), work_(work) {
    if (quiet || ::isatty(STDERR_FILENO) != 1) return;
    try {
      start_thread();
    } catch (const std::exception&) {  // no thread or no memory: the program works without a bar
    }
  }

  void start_thread() {
    thread_ = std::thread([this] {
      std::unique_lock lock(mutex_);
      for (;;) {
        const clock::time_point at = next_;
        if (wake_.wait_until(lock, at, [this] { return ended_; })) return;
        if (clock::now() < next_) continue;  // clear() has moved the time
        draw();
        next_ = clock::now() + std::chrono::milliseconds(100);
      }
    });
  }

  /// It allocates nothing: an exception in the thread would end the program.
  void draw() {
    const double seconds = std::chrono::duration<double>(clock::now() - begin_).count();
    std::fprintf(stderr, "\r%s%s", work_.c_str(), work_.empty() ? "" : ", ");
    if (total_ == 0 && !work_.empty()) {
      std::fprintf(stderr, "%.0f s \033[K", seconds);
    } else {
      constexpr std::size_t width = 40;
      std::array<char, width + 1> bar{};
      const double share = total_ == 0 ? 1 : std::min(double(done_) / double(total_), 1.0);
      const auto filled = static_cast<std::size_t>(share * double(width));
      std::fill_n(std::fill_n(bar.begin(), filled, '#'), width - filled, '.');
      std::fprintf(stderr, "[%s] %3.0f %%  ", bar.data(), 100 * share);
      if (unit_ != nullptr) std::fprintf(stderr, "%.1f %s/s  ", double(done_) / seconds, unit_);
      if (done_ == 0) {
        std::fprintf(stderr, "%.0f s \033[K", seconds);
      } else {
        std::fprintf(stderr, "%.0f s left \033[K", seconds / share - seconds);
      }
    }
    drawn_ = true;
  }

  void erase() {
    if (drawn_) std::fputs("\r\033[K", stderr);
    drawn_ = false;
  }

  const char* unit_;

  std::mutex mutex_;  // protects what follows
  std::uint64_t total_;
  std::string work_;
  clock::time_point begin_ = clock::now();
  std::condition_variable wake_;
  std::uint64_t done_ = 0;
  clock::time_point next_ = begin_ + std::chrono::seconds(1);
  bool drawn_ = false;
  bool ended_ = false;

  std::thread thread_;  // started last
};

}  // namespace common
