// SPDX-License-Identifier: BSD-3-Clause
#include "worker_threads.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace ramify::cpu::inline RAMIFY_ABI {
namespace {

/// Threads that call functions from a queue.
///
/// oneTBB's threads start each other. Where such a start fails, because of a limit on threads or
/// memory, an exception leaves a thread, and the process ends. Here the thread that passes work
/// starts the worker, and the run continues with fewer workers if that fails.
class thread_pool {
 public:
  /// See call_in_worker().
  bool call(unsigned max_threads, std::function<void()> function) {
    const std::lock_guard lock(mutex_);
    calls_.push_back(std::move(function));
    if (calls_.size() > idle_ && threads_ < max_threads && !start_thread() && threads_ == 0) {
      calls_.pop_back();
      return false;
    }
    changed_.notify_one();
    return true;
  }

 private:
  /// Returns false if the system has no thread or no memory for it.
  bool start_thread() noexcept {
    try {
      std::thread([this] { serve(); }).detach();
      ++threads_;
      ++idle_;
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return !calls_.empty(); });
      --idle_;
      std::function<void()> next = std::move(calls_.front());
      calls_.pop_front();
      lock.unlock();
      next();
      next = nullptr;
      lock.lock();
      ++idle_;
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;  // a call was added
  std::deque<std::function<void()>> calls_;
  unsigned threads_ = 0;
  unsigned idle_ = 0;  // threads that wait for a call, or that have just been started
};

}  // namespace

unsigned worker_count(unsigned workers) noexcept {
  constexpr unsigned max_workers = 256;
  static const unsigned cores = std::max(1u, std::thread::hardware_concurrency());  // reads a file
  return workers == 0 ? cores : std::min(workers, std::max(max_workers, cores));
}

bool call_in_worker(unsigned max_threads, std::function<void()> function) {
  static auto& pool = *new thread_pool;  // worker threads outlive main
  return pool.call(max_threads, std::move(function));
}

}  // namespace ramify::cpu::inline RAMIFY_ABI
