// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// result_state: when get() of a run may be called. Plain C++.

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

namespace ramify::detail::runtime {

/// The rule of get() for the run objects of all families:
///
/// - get() returns once. A further call throws std::logic_error.
/// - If a graph has captured the run, get() may be called after each launch of the graph.
/// - get() of a moved-from run throws std::logic_error.
/// - After a get() that has thrown, get() may be called again.
///
/// A run object has a result_state as a member, and the first statement of its get() is
/// `const auto call = result_.begin_get();`.
class result_state {
  enum class state { pending, returned, moved_from };

 public:
  /// One call of get(). Its destructor notes that the call has returned, unless an exception leaves
  /// the scope.
  class [[nodiscard]] call {
   public:
    explicit call(result_state& result) : result_(result) {}
    ~call() {
      const bool returns = std::uncaught_exceptions() == exceptions_;
      if (returns && !result_.captured_) result_.state_ = state::returned;
    }
    call(const call&) = delete;
    call& operator=(const call&) = delete;

   private:
    result_state& result_;
    const int exceptions_ = std::uncaught_exceptions();
  };

  /// `algorithm` begins the messages. `captured` is whether a graph captures the run.
  explicit result_state(const char* algorithm, bool captured = false)
      : algorithm_(algorithm), captured_(captured) {}
  result_state(result_state&& other) noexcept
      : algorithm_(other.algorithm_),
        captured_(other.captured_),
        state_(std::exchange(other.state_, state::moved_from)) {}
  result_state& operator=(result_state&& other) noexcept {
    algorithm_ = other.algorithm_;
    captured_ = other.captured_;
    state_ = std::exchange(other.state_, state::moved_from);
    return *this;
  }

  /// Begins a call of get(). \throws std::logic_error if the rule forbids the call
  call begin_get() {
    if (state_ == state::pending) return call(*this);
    throw std::logic_error(std::string(algorithm_) + (state_ == state::returned
                                                          ? ": get() was called before"
                                                          : ": get() of a moved-from run"));
  }

 private:
  const char* algorithm_;
  bool captured_;
  state state_ = state::pending;
};

}  // namespace ramify::detail::runtime

namespace ramify::detail {
using namespace runtime;
}
