// SPDX-License-Identifier: BSD-3-Clause
// Messages between ranks: through MPI on the CPU backend, in pieces of options.message_bytes, and
// through the device channel on the CUDA backend.
#include <algorithm>
#include <climits>
#include <cstring>
#include <exception>
#include <stdexcept>

#include "state.hpp"

namespace ramify::detail::cluster::inline RAMIFY_ABI {
namespace {

// Message number n has the tag 2 n, modulo 2 max_number, and its header the next tag. Every MPI has
// tags up to 32767.
constexpr unsigned max_number = 16'000;
constexpr int header_tag = 1;

/// Calls use(begin, bytes) for each piece of a message.
template <class Use>
void for_each_piece(std::size_t bytes, std::size_t piece_bytes, const Use& use) {
  const std::size_t most = std::min<std::size_t>(piece_bytes, INT_MAX);
  for (std::size_t begin = 0; begin < bytes; begin += most) {
    use(begin, static_cast<int>(std::min(most, bytes - begin)));
  }
}

template <class Message>
void check_arguments(std::span<const Message> messages, int size, const char* call) {
  for (const Message& m : messages) {
    if (m.peer < 0 || m.peer >= size) {
      throw std::invalid_argument(std::string(call) + ": there is no rank " +
                                  std::to_string(m.peer) + " of " + std::to_string(size));
    }
    if (m.data == nullptr && m.bytes != 0) {
      throw std::invalid_argument(std::string(call) + ": the data of a message is null");
    }
  }
}

}  // namespace

messages_in_flight::messages_in_flight(state& s, std::span<const raw_outgoing> out,
                                       std::span<const raw_incoming> in, bool headers,
                                       device_channel* channel, void* stream, const char* call)
    : state_(&s), call_(call) {
  check_arguments(out, s.size, call);
  check_arguments(in, s.size, call);
  if (channel != nullptr) {
    for (const auto& m : out) {
      if (m.bytes > 0) channel->check_access(m.data, call);
    }
    for (const auto& m : in) {
      if (m.bytes > 0) channel->check_access(m.data, call);
    }
  }
  for (const auto& m : out) s.bytes_sent += m.peer != s.rank ? m.bytes : 0;
  for (const auto& m : in) s.bytes_received += m.peer != s.rank ? m.bytes : 0;
  s.in_flight.push_back(this);
  std::vector<int> tags;
  for (const auto& m : out) tags.push_back(next_tag(s.messages_to, m.peer));
  for (const auto& m : in) incoming_.push_back({m, next_tag(s.messages_from, m.peer)});
  try {
    if (headers) start_headers(out, tags);
    if (channel == nullptr) {
      copy_own(out, in);
      // A message that is longer than its receive must not be received, so with headers the
      // receives begin when the sizes are known.
      if (!headers) start_receives();
      start_sends(out, tags);
    } else {
      incoming_.clear();
      wait_for_headers();
      on_device_ = s.on_device([&] { return channel->messages(out, in, stream); });
      s.wait_on_device(*on_device_, false);
    }
  } catch (...) {
    std::erase(s.in_flight, this);
    throw;
  }
}

messages_in_flight::~messages_in_flight() {
  if (!ended_ && !state_->is_broken()) {
    // The memory of the messages may be freed next. The other ranks still communicate, and so the
    // messages that they have matched complete.
    cancel();
    const bool complete = state_->poll_for(std::chrono::seconds(2), [&] {
      return are_cancelled() && are_sent() && is_done_on_device();
    });
    if (!complete && on_device_ != nullptr) state_->device->abort();
    // During an exception, run() breaks the communicator, and states the cause.
    if (!complete && std::uncaught_exceptions() == 0) {
      state_->fail_silently("a message_exchange was destroyed before end()");
    }
  }
  std::erase(state_->in_flight, this);
}

int messages_in_flight::next_tag(std::vector<unsigned>& messages, int peer) {
  return static_cast<int>(2 * (messages[static_cast<std::size_t>(peer)]++ % max_number));
}

void messages_in_flight::start_headers(std::span<const raw_outgoing> out,
                                       std::span<const int> tags) {
  sent_headers_.reserve(out.size());
  received_headers_.reserve(incoming_.size());
  for (const auto& [m, tag] : incoming_) {
    header& h = received_headers_.emplace_back(m.peer, m.bytes, 0);
    MPI_Request& request = header_requests_.emplace_back(MPI_REQUEST_NULL);
    state_->check_mpi(
        MPI_Irecv(&h.received, 1, MPI_UINT64_T, m.peer, tag + header_tag, state_->data, &request),
        call_);
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    header& h = sent_headers_.emplace_back(out[i].peer, out[i].bytes, 0);
    MPI_Request& request = header_requests_.emplace_back(MPI_REQUEST_NULL);
    state_->check_mpi(
        MPI_Isend(&h.bytes, 1, MPI_UINT64_T, h.peer, tags[i] + header_tag, state_->data, &request),
        call_);
  }
}

void messages_in_flight::start_receives() {
  for (const auto& expected : incoming_) {
    const raw_incoming& m = expected.message;
    const int tag = expected.tag;
    if (m.peer == state_->rank) continue;
    for_each_piece(m.bytes, state_->options.message_bytes, [&](std::size_t begin, int bytes) {
      MPI_Request& request = receives_.emplace_back(MPI_REQUEST_NULL);
      receive_bytes_.push_back(bytes);
      state_->check_mpi(MPI_Irecv(static_cast<std::byte*>(m.data) + begin, bytes, MPI_BYTE, m.peer,
                                  tag, state_->data, &request),
                        call_);
    });
  }
  incoming_.clear();
}

void messages_in_flight::start_sends(std::span<const raw_outgoing> out, std::span<const int> tags) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    const raw_outgoing& m = out[i];
    const int tag = tags[i];
    if (m.peer == state_->rank) continue;
    for_each_piece(m.bytes, state_->options.message_bytes, [&](std::size_t begin, int bytes) {
      MPI_Request& request = sends_.emplace_back(MPI_REQUEST_NULL);
      state_->check_mpi(MPI_Isend(static_cast<const std::byte*>(m.data) + begin, bytes, MPI_BYTE,
                                  m.peer, tag, state_->data, &request),
                        call_);
    });
  }
}

void messages_in_flight::copy_own(std::span<const raw_outgoing> out,
                                  std::span<const raw_incoming> in) {
  const auto is_own = [this](const auto& m) { return m.peer == state_->rank; };
  auto to = std::ranges::find_if(in, is_own);
  for (const auto& from : out) {
    if (!is_own(from)) continue;
    if (to == in.end() || to->bytes != from.bytes) {
      state_->fail(
          std::string(call_) + ": sends " + std::to_string(from.bytes) + " bytes to itself, and " +
          (to == in.end() ? "has no message for them" : "expects " + std::to_string(to->bytes)));
    }
    if (from.bytes > 0) std::memcpy(to->data, from.data, from.bytes);
    to = std::find_if(std::next(to), in.end(), is_own);
  }
  if (to != in.end())
    state_->fail(std::string(call_) + ": expects a message that it does not send");
}

progress messages_in_flight::test(std::vector<MPI_Request>& requests,
                                  std::span<const int> expected) {
  if (requests.empty()) return progress::complete;
  indices_.resize(requests.size());
  statuses_.resize(requests.size());
  int completed = 0;
  const int code = MPI_Testsome(static_cast<int>(requests.size()), requests.data(), &completed,
                                indices_.data(), statuses_.data());
  if (completed == MPI_UNDEFINED) return progress::complete;
  for (int i = 0; i < completed; ++i) {
    const MPI_Status& status = statuses_[static_cast<std::size_t>(i)];
    if (code == MPI_ERR_IN_STATUS) state_->check_mpi(status.MPI_ERROR, call_);
    if (expected.empty()) continue;
    int received = 0;
    MPI_Get_count(&status, MPI_BYTE, &received);
    const int wanted = expected[static_cast<std::size_t>(indices_[static_cast<std::size_t>(i)])];
    if (received != wanted) {
      state_->fail(std::string(call_) + ": expects " + std::to_string(wanted) +
                   " bytes from rank " + std::to_string(status.MPI_SOURCE) + ", but got " +
                   std::to_string(received));
    }
  }
  if (code != MPI_ERR_IN_STATUS) state_->check_mpi(code, call_);
  return completed > 0 ? progress::some : progress::none;
}

void messages_in_flight::wait_for_headers() {
  state_->poll([&] { return test(header_requests_, {}); });
  for (const header& h : received_headers_) {
    if (h.received == h.bytes) continue;
    state_->fail(std::string(call_) + ": expects " + std::to_string(h.bytes) + " bytes from rank " +
                 std::to_string(h.peer) + ", which sends " + std::to_string(h.received));
  }
}

void messages_in_flight::require_under_way() const {
  state_->require_intact();
  if (ended_) throw std::logic_error(std::string(call_) + ": end() was called before");
}

void messages_in_flight::end_in_stream(void* stream) {
  if (on_device_ == nullptr) {
    end();
    return;
  }
  require_under_way();
  state_->on_device([&] { on_device_->block(stream); });
  ended_ = true;
}

void messages_in_flight::end() {
  state& s = *state_;
  require_under_way();
  wait_for_headers();
  start_receives();
  if (on_device_ != nullptr) {
    s.wait_on_device(*on_device_, true);
  } else {
    s.poll([&] {
      const progress received = test(receives_, receive_bytes_);
      const progress sent = test(sends_, {});
      if (received == progress::complete && sent == progress::complete) return progress::complete;
      const bool progressed = received == progress::some || sent == progress::some;
      return progressed ? progress::some : progress::none;
    });
  }
  ended_ = true;
}

void messages_in_flight::cancel() noexcept {
  for (const std::span<MPI_Request> requests : {std::span(receives_), header_receives()}) {
    for (MPI_Request& request : requests) {
      if (request != MPI_REQUEST_NULL) MPI_Cancel(&request);
    }
  }
}

std::span<MPI_Request> messages_in_flight::header_receives() noexcept {
  // start_headers() may have failed after it had appended a header, and before its request.
  const std::size_t count = std::min(header_requests_.size(), received_headers_.size());
  return std::span(header_requests_).first(count);
}

namespace {

/// Returns whether all requests are complete.
bool are_complete(std::span<MPI_Request> requests) noexcept {
  int complete = 0;
  MPI_Testall(static_cast<int>(requests.size()), requests.data(), &complete, MPI_STATUSES_IGNORE);
  return complete != 0;
}

}  // namespace

bool messages_in_flight::are_cancelled() noexcept {
  const bool contents = are_complete(receives_);
  return are_complete(header_receives()) && contents;
}

bool messages_in_flight::are_sent() noexcept {
  const bool headers = are_complete(std::span(header_requests_).subspan(header_receives().size()));
  return are_complete(sends_) && headers;
}

bool messages_in_flight::is_done_on_device() noexcept {
  try {
    return on_device_ == nullptr || (on_device_->is_started() && on_device_->is_done());
  } catch (const std::exception&) {  // the next call reports it
    return true;
  }
}

}  // namespace ramify::detail::cluster::inline RAMIFY_ABI
