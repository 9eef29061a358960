// SPDX-License-Identifier: BSD-3-Clause
// The collective calls of a communicator, on the host by MPI and on devices by its channel.
#include <mpi.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <numeric>
#include <ramify/cluster/communicator.hpp>
#include <ramify/runtime/detail/arguments.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "state.hpp"

namespace ramify::inline RAMIFY_ABI {

using namespace detail::cluster;

namespace {

MPI_Datatype mpi_type(number_type type) {
  switch (type) {
    case number_type::int32: return MPI_INT32_T;
    case number_type::uint32: return MPI_UINT32_T;
    case number_type::int64: return MPI_INT64_T;
    case number_type::uint64: return MPI_UINT64_T;
    case number_type::float32: return MPI_FLOAT;
    default: return MPI_DOUBLE;
  }
}

std::size_t bytes_of(number_type type) {
  return type == number_type::int32 || type == number_type::uint32 || type == number_type::float32
             ? 4
             : 8;
}

MPI_Op mpi_operation(reduction how) {
  if (how == reduction::sum) return MPI_SUM;
  return how == reduction::min ? MPI_MIN : MPI_MAX;
}

void check_root(const state& s, int root) {
  if (root < 0 || root >= s.size) {
    throw std::invalid_argument("broadcast: there is no rank " + std::to_string(root) + " of " +
                                std::to_string(s.size));
  }
}

void check_count_of_counts(const state& s, std::size_t given, const char* call, const char* name) {
  detail::required_count{call, static_cast<std::size_t>(s.size), "ranks"}.check(given, name);
}

/// Checks memory that a collective call accesses.
void check_memory(state& s, const void* data, std::size_t bytes, const char* call) {
  if (bytes == 0) return;
  if (data == nullptr) throw std::invalid_argument(std::string(call) + ": data is null");
  if (s.device != nullptr) s.device->check_access(data, call);
}

/// Waits for an operation that `start` puts into the stream of the device channel.
template <class Start>
void run_on_device(state& s, const Start& start) {
  const auto operation = s.on_device(start);
  s.wait_on_device(*operation, true);
}

/// Calls use(piece, bytes) for pieces of an array, which are copied to memory that is never freed
/// while MPI may access it, and back.
template <class Use>
void in_pieces(state& s, void* data, std::size_t bytes, std::size_t element, const Use& use) {
  const std::size_t wanted = std::min<std::size_t>(s.options.message_bytes, INT_MAX);
  const std::size_t most = std::max(wanted / element, std::size_t{1}) * element;
  s.memory->block.resize(std::max(s.memory->block.size(), std::min(most, bytes)));
  std::byte* const block = s.memory->block.data();
  for (std::size_t begin = 0; begin < bytes; begin += most) {
    const std::size_t piece = std::min(most, bytes - begin);
    std::byte* const place = static_cast<std::byte*>(data) + begin;
    std::memcpy(block, place, piece);
    use(block, piece);
    std::memcpy(place, block, piece);
  }
}

void count_broadcast(state& s, std::size_t bytes, int root) {
  if (s.rank != root) {
    s.bytes_received += bytes;
  } else {
    s.bytes_sent += bytes * static_cast<std::size_t>(s.size - 1);
  }
}

void broadcast_on_host(state& s, void* data, std::size_t bytes, int root) {
  in_pieces(s, data, bytes, 1, [&](std::byte* piece, std::size_t piece_bytes) {
    s.collective("broadcast", [&](MPI_Request* request) {
      return MPI_Ibcast(piece, static_cast<int>(piece_bytes), MPI_BYTE, root, s.data, request);
    });
  });
}

/// Inverts the sign bit of each number in `bytes` bytes.
template <class T>
void invert_sign_bits(std::byte* numbers, std::size_t bytes) {
  for (std::byte* at = numbers; at != numbers + bytes; at += sizeof(T)) {
    T number;
    std::memcpy(&number, at, sizeof number);
    number ^= T{1} << (8 * sizeof number - 1);
    std::memcpy(at, &number, sizeof number);
  }
}

/// The type as which MPI compares numbers of `type`, and the function that maps them to it and
/// back, or null.
///
/// Some versions of MPI (MPICH 4.0) compare unsigned numbers as if they were signed. So they are
/// mapped to signed ones, in the same order.
struct compared_type {
  number_type type;
  void (*map)(std::byte*, std::size_t) = nullptr;
};

compared_type compared_as(number_type type) {
  switch (type) {
    case number_type::uint32: return {number_type::int32, invert_sign_bits<std::uint32_t>};
    case number_type::uint64: return {number_type::int64, invert_sign_bits<std::uint64_t>};
    default: return {type};
  }
}

void reduce_on_host(state& s, void* data, std::size_t count, number_type type, reduction how) {
  const std::size_t element = bytes_of(type);
  const compared_type in_mpi = how == reduction::sum ? compared_type{type} : compared_as(type);
  in_pieces(s, data, count * element, element, [&](std::byte* piece, std::size_t bytes) {
    if (in_mpi.map != nullptr) in_mpi.map(piece, bytes);
    s.collective("all_reduce", [&](MPI_Request* request) {
      return MPI_Iallreduce(MPI_IN_PLACE, piece, static_cast<int>(bytes / element),
                            mpi_type(in_mpi.type), mpi_operation(how), s.data, request);
    });
    if (in_mpi.map != nullptr) in_mpi.map(piece, bytes);
  });
}

/// Counts a call to which each rank contributes `bytes`, and from which it gets as many.
void count_reduction(state& s, std::size_t bytes) {
  if (s.size == 1) return;
  s.bytes_sent += bytes;
  s.bytes_received += bytes;
}

/// Returns the counts of all_to_all() from all ranks.
std::vector<std::uint64_t> exchange_numbers(state& s, std::span<const std::uint64_t> numbers) {
  s.memory->numbers.assign(numbers.begin(), numbers.end());
  s.memory->numbers_result.resize(numbers.size());
  s.collective("all_to_all", [&](MPI_Request* request) {
    return MPI_Ialltoall(s.memory->numbers.data(), 1, MPI_UINT64_T, s.memory->numbers_result.data(),
                         1, MPI_UINT64_T, s.data, request);
  });
  return s.memory->numbers_result;
}

}  // namespace

void communicator::broadcast_bytes(void* data, std::size_t count, std::size_t element, int root,
                                   void* stream) {
  state& s = *state_;
  const timed_call timed(s);
  check_root(s, root);
  check_memory(s, data, count * element, "broadcast");
  s.check_call("broadcast", count, element, static_cast<std::uint64_t>(root));
  if (count == 0) return;
  if (s.device != nullptr) {
    run_on_device(s, [&] { return s.device->broadcast(data, count * element, root, stream); });
  } else {
    broadcast_on_host(s, data, count * element, root);
  }
  count_broadcast(s, count * element, root);
}

void communicator::broadcast_value(void* value, std::size_t bytes, int root) {
  state& s = *state_;
  const timed_call timed(s);
  check_root(s, root);
  s.check_call("broadcast (value)", 1, bytes, static_cast<std::uint64_t>(root));
  broadcast_on_host(s, value, bytes, root);
  count_broadcast(s, bytes, root);
}

void communicator::reduce_numbers(void* data, std::size_t count, number_type type, reduction how,
                                  void* stream, bool in_stream) {
  state& s = *state_;
  const timed_call timed(s);
  check_enumerator(how, "all_reduce: how");
  check_memory(s, data, count * bytes_of(type), "all_reduce");
  s.check_call("all_reduce", count, bytes_of(type),
               10 * static_cast<std::uint64_t>(type) + static_cast<std::uint64_t>(how));
  if (count == 0) return;
  if (s.device == nullptr) {
    reduce_on_host(s, data, count, type, how);
  } else {
    const auto operation =
        s.on_device([&] { return s.device->all_reduce(data, count, type, how, stream); });
    s.wait_on_device(*operation, !in_stream);
    if (in_stream) s.on_device([&] { operation->block(stream); });
  }
  count_reduction(s, count * bytes_of(type));
}

void communicator::reduce_value(void* value, number_type type, reduction how) {
  state& s = *state_;
  const timed_call timed(s);
  check_enumerator(how, "all_reduce: how");
  s.check_call("all_reduce (value)", 1, bytes_of(type),
               10 * static_cast<std::uint64_t>(type) + static_cast<std::uint64_t>(how));
  reduce_on_host(s, value, 1, type, how);
  count_reduction(s, bytes_of(type));
}

void communicator::gather_bytes(const void* mine, std::span<const std::uint64_t> counts, void* all,
                                std::size_t element, const char* call, void* stream) {
  state& s = *state_;
  const timed_call timed(s);
  check_count_of_counts(s, counts.size(), call, "counts");
  const auto own = static_cast<std::size_t>(s.rank);
  const std::size_t own_bytes = counts[own] * element;
  const std::uint64_t total = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  check_memory(s, mine, own_bytes, call);
  check_memory(s, all, total * element, call);
  // All ranks must have the same counts. The extra number is a hash of them.
  std::uint64_t hash = 0;
  for (const std::uint64_t count : counts) hash = (hash ^ count) * 0x9e3779b97f4a7c15u + 1;
  s.check_call(call, total, element, hash);
  if (total == 0) return;
  const bool is_equal = std::ranges::all_of(counts, [&](auto c) { return c == counts[0]; });
  if (s.device != nullptr && is_equal) {
    run_on_device(s, [&] { return s.device->all_gather(mine, own_bytes, all, stream); });
    s.bytes_sent += own_bytes * (counts.size() - 1);
    s.bytes_received += own_bytes * (counts.size() - 1);
    return;
  }
  std::vector<raw_outgoing> out;
  std::vector<raw_incoming> in;
  auto* place = static_cast<std::byte*>(all);
  for (std::size_t r = 0; r < counts.size(); ++r) {
    const std::size_t bytes = counts[r] * element;
    if (own_bytes > 0) out.push_back({static_cast<int>(r), mine, own_bytes});
    if (bytes > 0) in.push_back({static_cast<int>(r), place, bytes});
    place += bytes;
  }
  messages_in_flight(s, out, in, false, s.device.get(), stream, call).end();
}

void communicator::gather_values(const void* value, void* all, std::size_t bytes) {
  state& s = *state_;
  const timed_call timed(s);
  s.check_call("all_gather (value)", 1, bytes, 0);
  const auto ranks = static_cast<std::size_t>(s.size);
  s.memory->block.resize(std::max(s.memory->block.size(), (ranks + 1) * bytes));
  std::byte* const block = s.memory->block.data();
  std::memcpy(block, value, bytes);
  s.collective("all_gather", [&](MPI_Request* request) {
    return MPI_Iallgather(block, static_cast<int>(bytes), MPI_BYTE, block + bytes,
                          static_cast<int>(bytes), MPI_BYTE, s.data, request);
  });
  std::memcpy(all, block + bytes, ranks * bytes);
  s.bytes_sent += bytes * (ranks - 1);
  s.bytes_received += bytes * (ranks - 1);
}

void communicator::all_to_all_bytes(const void* from, std::span<const std::uint64_t> send_counts,
                                    void* to, std::span<const std::uint64_t> receive_counts,
                                    std::size_t element, void* stream) {
  state& s = *state_;
  const timed_call timed(s);
  check_count_of_counts(s, send_counts.size(), "all_to_all_v", "send_counts");
  check_count_of_counts(s, receive_counts.size(), "all_to_all_v", "receive_counts");
  // 1. The messages with elements.
  std::vector<raw_outgoing> out;
  std::vector<raw_incoming> in;
  std::size_t begin = 0;
  for (std::size_t r = 0; r < send_counts.size(); ++r) {
    const std::size_t bytes = send_counts[r] * element;
    if (bytes > 0) {
      out.push_back({static_cast<int>(r), static_cast<const std::byte*>(from) + begin, bytes});
    }
    begin += bytes;
  }
  check_memory(s, from, begin, "all_to_all_v");
  begin = 0;
  for (std::size_t r = 0; r < receive_counts.size(); ++r) {
    const std::size_t bytes = receive_counts[r] * element;
    if (bytes > 0) in.push_back({static_cast<int>(r), static_cast<std::byte*>(to) + begin, bytes});
    begin += bytes;
  }
  check_memory(s, to, begin, "all_to_all_v");
  // 2. Their sizes must match.
  s.check_call("all_to_all_v", 0, 0, element);
  if (s.options.check_calls) {
    const std::vector<std::uint64_t> sent = exchange_numbers(s, send_counts);
    for (std::size_t r = 0; r < sent.size(); ++r) {
      if (sent[r] == receive_counts[r]) continue;
      s.fail("all_to_all_v: expects " + std::to_string(receive_counts[r]) + " elements from rank " +
             std::to_string(r) + ", which sends " + std::to_string(sent[r]));
    }
  }
  // 3. All at once.
  messages_in_flight(s, out, in, false, s.device.get(), stream, "all_to_all_v").end();
}

std::vector<std::uint64_t> communicator::all_to_all(std::span<const std::uint64_t> numbers) {
  state& s = *state_;
  const timed_call timed(s);
  check_count_of_counts(s, numbers.size(), "all_to_all", "numbers");
  s.check_call("all_to_all", 1, sizeof(std::uint64_t), 0);
  s.bytes_sent += numbers.size_bytes() - sizeof(std::uint64_t);
  s.bytes_received += numbers.size_bytes() - sizeof(std::uint64_t);
  return exchange_numbers(s, numbers);
}

}  // namespace ramify::inline RAMIFY_ABI
