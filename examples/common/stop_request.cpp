// SPDX-License-Identifier: BSD-3-Clause
#include "stop_request.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>

#include "output_file.hpp"

namespace common {
namespace {

struct stop_signal {
  int number;
  const char* name;
};
constexpr std::array<stop_signal, 3> stop_signals{
    {{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"}}};

std::atomic<bool> is_deferred = false;                 // whether a stop_request exists
std::atomic<int> requested = 0;                        // the signal that made the request; 0: none
static_assert(std::atomic<int>::is_always_lock_free);  // a signal handler uses it

void set_handler(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigaction(signal, &action, nullptr);
}

// Runs in any thread, also on the stack of a fiber. All calls are async-signal-safe.
extern "C" void on_stop_signal(int signal) {
  int none = 0;
  if (is_deferred && requested.compare_exchange_strong(none, signal)) return;
  remove_partial_file();
  set_handler(signal, SIG_DFL);
  ::raise(signal);  // takes effect when the handler returns
}

}  // namespace

void handle_stop_signals() {
  for (const stop_signal& signal : stop_signals) {
    struct sigaction inherited {};
    ::sigaction(signal.number, nullptr, &inherited);
    if (inherited.sa_handler != SIG_IGN) set_handler(signal.number, on_stop_signal);
  }
  set_handler(SIGXFSZ, SIG_IGN);  // the write fails with EFBIG
}

void end_by_signal(int signal) {
  set_handler(signal, SIG_DFL);
  ::raise(signal);
  std::abort();  // not reached, because the default action ends the program
}

stop_request::stop_request() {
  requested = 0;
  is_deferred = true;
}

stop_request::~stop_request() { is_deferred = false; }

int stop_request::signal() const { return requested; }

void stop_request::finish(const std::string& what) const { throw stopped_by(signal(), what); }

stopped stopped_by(int signal, const std::string& what) {
  std::string name;
  for (const stop_signal& one : stop_signals) {
    if (one.number == signal) name = one.name;
  }
  return {signal, "stopped by " + name + ": " + what};
}

}  // namespace common
