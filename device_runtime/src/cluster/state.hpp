// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The state of a communicator: two MPI communicators, one for data and one for errors, and how a
/// rank waits and fails.
///
/// A rank that fails sends the cause to all others through the second communicator. Each wait polls
/// for such a message. Then all ranks do the same:
///
///   1. Cancel the receives that no message has reached. The others complete, because their senders
///      poll, too.
///   2. Agree on the lowest rank that has failed. This reduction is complete when no rank has a
///      receive any more, so that no message can reach freed memory.
///   3. Receive and discard messages until all sends of all ranks are complete.
///   4. Throw cluster_error with the cause of that rank.
///
/// A rank that does not communicate for failure_timeout is not waited for. mpi_session ends it.

#include <mpi.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <ramify/cluster/communicator.hpp>
#include <ramify/cpu/executor.hpp>
#include <ramify/version.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device_channel.hpp"

namespace ramify::detail::cluster::inline RAMIFY_ABI {

inline constexpr std::chrono::seconds failure_timeout{4};

/// Whether a communicator of this process has failed, and on which rank; mpi_session reads it.
struct process_failure {
  bool happened = false;
  bool is_own = false;  ///< this process failed first
};
[[nodiscard]] process_failure& failure_of_process();

enum class progress { none, some, complete };

/// Pauses between polls: none at first, then it yields the core, then it sleeps.
class polling_pause {
 public:
  /// `crowded`: ranks share a core, so each poll yields.
  explicit polling_pause(bool crowded);
  void operator()() const;
  void restart() { begin_ = std::chrono::steady_clock::now(); }

 private:
  bool crowded_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Memory that collective calls of MPI access. It is never freed after a failure, because MPI
/// cannot cancel them.
struct collective_memory {
  std::array<std::uint64_t, 2> check{}, check_result{};
  std::uint64_t longest_text = 0;
  std::vector<char> own_text, all_texts;
  std::vector<std::uint64_t> numbers, numbers_result;
  std::vector<std::byte> block;  ///< a piece of an array
  int failed_rank = 0;
};

class state;

/// The messages of an exchange, between its begin and its end.
class messages_in_flight {
 public:
  /// Starts the messages. With `headers` each has a message of its own with its size. `channel` is
  /// that of the state, or null for messages in host memory.
  messages_in_flight(state&, std::span<const raw_outgoing>, std::span<const raw_incoming>,
                     bool headers, device_channel* channel, void* stream, const char* call);
  ~messages_in_flight();
  messages_in_flight(const messages_in_flight&) = delete;
  messages_in_flight& operator=(const messages_in_flight&) = delete;

  /// Waits for all messages. \throws cluster_error
  void end();
  /// Makes later work in `stream` wait for all messages between devices; waits for others.
  /// \throws cluster_error
  void end_in_stream(void* stream);
  [[nodiscard]] state& owner() const { return *state_; }
  /// Cancels the receives. are_cancelled() must be called until it returns true.
  void cancel() noexcept;
  [[nodiscard]] bool are_cancelled() noexcept;
  /// Returns whether all sends are complete.
  [[nodiscard]] bool are_sent() noexcept;

 private:
  struct header {
    int peer;
    std::uint64_t bytes;     ///< that this rank sends, or expects
    std::uint64_t received;  ///< the size that the other rank sends
  };

  /// A message to be received.
  struct expected_message {
    raw_incoming message;
    int tag;
  };

  /// Returns the number of the next message to or from a rank, as a tag. So the messages between
  /// two ranks are matched in their order, in whatever order their exchanges end.
  [[nodiscard]] static int next_tag(std::vector<unsigned>& messages, int peer);
  /// Starts the receives of all headers, then their sends.
  void start_headers(std::span<const raw_outgoing>, std::span<const int> tags);
  void start_receives();
  void start_sends(std::span<const raw_outgoing>, std::span<const int> tags);
  /// Copies the messages of this rank to itself. \throws cluster_error if their sizes differ
  void copy_own(std::span<const raw_outgoing>, std::span<const raw_incoming>);
  /// Tests requests. Checks that completed receives got the `expected` bytes; empty: not checked.
  [[nodiscard]] progress test(std::vector<MPI_Request>& requests, std::span<const int> expected);
  /// Waits for the headers, and checks the sizes. \throws cluster_error
  void wait_for_headers();
  /// \throws cluster_error if the communicator is broken; std::logic_error if end() was called
  void require_under_way() const;
  /// Returns the receives in header_requests_.
  [[nodiscard]] std::span<MPI_Request> header_receives() noexcept;
  [[nodiscard]] bool is_done_on_device() noexcept;

  state* state_;
  const char* call_;
  bool ended_ = false;
  std::vector<expected_message> incoming_;  ///< messages whose receives have not begun
  std::vector<header> sent_headers_, received_headers_;
  std::vector<MPI_Request> header_requests_;  ///< receives, then sends
  std::vector<MPI_Request> sends_, receives_;
  std::vector<int> receive_bytes_;  ///< of each of receives_
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
  device_channel::operation on_device_;
};

class state {
 public:
  state(MPI_Comm ranks, const cluster_options&);
  ~state();
  state(const state&) = delete;
  state& operator=(const state&) = delete;

  MPI_Comm data = MPI_COMM_NULL, errors = MPI_COMM_NULL;
  int rank = 0, size = 1, local_rank = 0, local_size = 1;
  unsigned cores = 1;
  cluster_options options;
  ramify::backend where = ramify::backend::cpu;
  std::string where_reason;
  int device_number = -1;
  std::unique_ptr<device_channel> device;  ///< null on the CPU backend
  std::unique_ptr<collective_memory> memory = std::make_unique<collective_memory>();
  std::vector<messages_in_flight*> in_flight;
  std::vector<unsigned> messages_to, messages_from;  ///< number of messages so far, by rank
  std::uint64_t bytes_sent = 0, bytes_received = 0;
  double communication_ms = 0;
  std::chrono::steady_clock::time_point created;
  int exceptions = std::uncaught_exceptions();  ///< at construction

  /// \throws cluster_error if the communicator is broken
  void require_intact() const;
  [[nodiscard]] bool is_broken() const { return failure_.has_value(); }
  /// Returns the error of a broken communicator.
  [[nodiscard]] cluster_error error() const { return {failure_->rank, failure_->cause}; }
  /// Makes all ranks throw, because this one has failed. \throws cluster_error
  [[noreturn]] void fail(const std::string& cause);
  /// Does the same without an exception, in a destructor.
  void fail_silently(std::string_view cause) noexcept;
  /// Throws on this rank; all other ranks call the function with the same arguments.
  [[noreturn]] void fail_together(int rank, const std::string& cause);

  /// Calls `test` until it returns progress::complete. \throws cluster_error if a rank fails
  template <class Test>
  void poll(const Test& test) {
    polling_pause pause(crowded_);
    for (;;) {
      const progress made = test();
      if (made == progress::complete) return;
      throw_if_others_failed();
      if (made == progress::some) pause.restart();
      pause();
    }
  }
  /// Does the same for at most `limit`, and ignores errors. Returns whether `test` completed.
  template <class Test>
  bool poll_for(std::chrono::milliseconds limit, const Test& test) noexcept {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    const polling_pause pause(crowded_);
    for (;;) {
      try {
        if (test()) return true;
      } catch (const std::exception&) {  // no memory: the next call may have some
      }
      if (std::chrono::steady_clock::now() > deadline) return false;
      pause();
    }
  }

  /// Starts a collective function of MPI by `start(request)`, and waits for it.
  template <class Start>
  void collective(const char* call, const Start& start) {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(start(&request), call);
    poll([&] {
      int done = 0;
      check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), call);
      return done != 0 ? progress::complete : progress::none;
    });
  }
  /// Waits until an operation of the GPU is complete, or only started.
  void wait_on_device(device_operation&, bool until_done);
  /// Calls `function` of the device channel; makes all ranks throw if it throws.
  template <class Function>
  auto on_device(const Function& function) {
    try {
      return function();
    } catch (const std::invalid_argument&) {
      throw;  // a bad argument of the caller; nothing has been changed
    } catch (const std::exception& e) {
      fail(e.what());
    }
  }

  /// Checks that all ranks make the same call. Waits for all ranks, whether or not
  /// options.check_calls requires the check if `always`.
  void check_call(const char* name, std::uint64_t count, std::uint64_t element, std::uint64_t extra,
                  bool always = false);
  /// Checks that all ranks have the same settings, as communicator::require_equal() does.
  void require_equal(const shared_settings& settings);
  /// Makes all ranks throw unless `code` is MPI_SUCCESS.
  void check_mpi(int code, const char* call);

  /// Stores the causes that other ranks have sent.
  void receive_causes() noexcept;

 private:
  struct failure {
    int rank;
    std::string cause;
  };

  /// Returns whether all ranks make the same call with the same number. Waits for all ranks.
  bool have_same_call(const char* name, const std::string& call, std::uint64_t number);
  /// Makes all ranks throw if they make different calls. Else returns the calls and numbers of all
  /// ranks as texts. Waits for all ranks.
  std::vector<std::string> compare_calls(const char* name, const std::string& call,
                                         std::uint64_t number);
  /// Returns the texts of all ranks, of which each has at most `length` bytes and no null character
  /// at its end. Waits for all ranks.
  std::vector<std::string> gather_texts(const char* name, std::string_view mine,
                                        std::size_t length);
  void throw_if_others_failed();
  /// Stores the cause of a rank's failure, if there is memory for it.
  void keep_cause(int of, std::string_view cause) noexcept;
  /// Makes the failure of a rank that of the communicator.
  void keep_failure(int of) noexcept;
  void send_cause(std::string_view cause) noexcept;
  /// Steps 1 to 3 of a failure. `own_rank`: this rank, that of fail_together(), or INT_MAX.
  void break_off(int own_rank) noexcept;
  /// Step 3 of a failure.
  void discard_messages() noexcept;
  void find_place();
  void choose_backend();

  bool crowded_ = false;
  std::map<int, std::string> causes_;  ///< by rank
  std::optional<failure> failure_;
  std::optional<cpu::scoped_executor_config> executor_;
};

/// Adds the time of a scope to the communication time.
class timed_call {
 public:
  explicit timed_call(state& s) : state_(&s) {}
  ~timed_call() {
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - begin_;
    state_->communication_ms += taken.count();
  }
  timed_call(const timed_call&) = delete;
  timed_call& operator=(const timed_call&) = delete;

 private:
  state* state_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace ramify::detail::cluster::inline RAMIFY_ABI
