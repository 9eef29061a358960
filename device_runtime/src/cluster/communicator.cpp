// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <ramify/cluster/communicator.hpp>
#include <ramify/cluster/mpi.hpp>
#include <stdexcept>
#include <utility>

#include "state.hpp"

namespace ramify::inline RAMIFY_ABI {

using namespace detail::cluster;

// ---- exchange ----

message_exchange::message_exchange(std::unique_ptr<messages_in_flight> messages)
    : messages_(std::move(messages)) {}
message_exchange::message_exchange(message_exchange&&) noexcept = default;
message_exchange& message_exchange::operator=(message_exchange&&) noexcept = default;
message_exchange::~message_exchange() = default;

void message_exchange::end() {
  if (messages_ == nullptr) throw std::logic_error("message_exchange: end() of an empty exchange");
  const timed_call timed(messages_->owner());
  messages_->end();
}

void message_exchange::end_in_stream(void* stream) {
  if (messages_ == nullptr) throw std::logic_error("message_exchange: end() of an empty exchange");
  const timed_call timed(messages_->owner());
  messages_->end_in_stream(stream);
}

// ---- construction and place ----

communicator::communicator(const cluster_options& options)
    : state_(std::make_unique<state>(MPI_COMM_WORLD, options)) {}
communicator::communicator(std::unique_ptr<state> taken) : state_(std::move(taken)) {}
communicator::communicator(communicator&&) noexcept = default;
communicator& communicator::operator=(communicator&&) noexcept = default;

communicator::~communicator() {
  if (state_ == nullptr || std::uncaught_exceptions() <= state_->exceptions) return;
  state_->fail_silently("an exception has left the scope of the communicator");
}

communicator communicator_of(MPI_Comm ranks, const cluster_options& options) {
  return communicator(std::make_unique<state>(ranks, options));
}

int communicator::rank() const { return state_->rank; }
int communicator::size() const { return state_->size; }
int communicator::local_rank() const { return state_->local_rank; }
int communicator::local_size() const { return state_->local_size; }
ramify::backend communicator::backend() const { return state_->where; }
const std::string& communicator::backend_reason() const { return state_->where_reason; }
int communicator::device() const { return state_->device_number; }
unsigned communicator::cores() const { return state_->cores; }

// ---- runs and waits ----

void communicator::run(const std::function<void()>& work) {
  state_->require_intact();
  const auto fail = [&](const char* cause) {
    state_->fail_silently(cause);
    std::throw_with_nested(state_->error());
  };
  try {
    work();
  } catch (const cluster_error& e) {
    if (state_->is_broken()) throw;  // from an inner run(): it has the exception nested in it
    fail(e.what());
  } catch (const std::exception& e) {
    state_->require_intact();  // throws the error of the communicator if it is broken
    fail(e.what());
  } catch (...) {
    fail("an unknown exception");
  }
  const timed_call timed(*state_);
  state_->check_call("the end of run", 0, 0, 0, true);
}

void communicator::synchronize(void* stream) {
  state& s = *state_;
  s.require_intact();
  if (s.device == nullptr) return;  // a launch on the CPU executor returns when it is complete
  s.poll([&] {
    return s.on_device(
        [&] { return s.device->is_idle(stream) ? progress::complete : progress::none; });
  });
}

void communicator::barrier() {
  const timed_call timed(*state_);
  state_->check_call("barrier", 0, 0, 0, true);
}

void communicator::require_equal(const shared_settings& settings) {
  const timed_call timed(*state_);
  state_->require_equal(settings);
}

// ---- messages and report ----

message_exchange communicator::begin_messages(std::span<const raw_outgoing> out,
                                              std::span<const raw_incoming> in, bool on_host,
                                              void* stream) {
  state& s = *state_;
  const timed_call timed(s);
  s.require_intact();
  return message_exchange(std::make_unique<messages_in_flight>(
      s, out, in, s.options.check_calls, on_host ? nullptr : s.device.get(), stream,
      on_host ? "begin_host_exchange" : "begin_exchange"));
}

cluster_report communicator::report() {
  const std::chrono::duration<double, std::milli> all_time =
      std::chrono::steady_clock::now() - state_->created;
  struct totals {
    std::uint64_t sent, received;
    double communication_ms, work_ms;
  };
  const totals mine{state_->bytes_sent, state_->bytes_received, state_->communication_ms,
                    all_time.count() - state_->communication_ms};
  cluster_report report;
  report.ranks = state_->size;
  double longest = 0;
  double sum = 0;
  for (const totals& t : all_gather(mine)) {
    report.bytes_sent += t.sent;
    report.bytes_received += t.received;
    report.communication_ms = std::max(report.communication_ms, t.communication_ms);
    longest = std::max(longest, t.work_ms);
    sum += t.work_ms;
  }
  if (sum > 0) report.imbalance = longest * report.ranks / sum;
  return report;
}

}  // namespace ramify::inline RAMIFY_ABI
