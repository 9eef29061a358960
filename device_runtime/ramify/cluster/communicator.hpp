// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// A group of processes that work on one problem, each with one GPU or one CPU executor.
///
///     mpirun -n 4 ./program
///
///     ramify::mpi_session session;                  // <ramify/cluster/session.hpp>
///     ramify::communicator comm;                    // all processes
///     comm.run([&] {
///       float* mine = ...;                          // device memory of this rank
///       comm.all_reduce(mine, n, ramify::reduction::sum, stream);
///       const double step = comm.all_reduce(own_step, ramify::reduction::min);  // host value
///     });
///
/// MPI starts and connects the processes. On the CPU backend MPI moves the data, and on the CUDA
/// backend NCCL does, from GPU to GPU. The calls are the same.
///
/// Memory    Arrays are memory that the rank's kernels can access: device memory on the CUDA
///           backend, any memory of the process on the CPU backend. Single values are host values
///           on both.
/// Stream    A call waits for the work that is in `stream` (a cudaStream_t; the CPU backend ignores
///           it), and returns when its own work is complete. Only begin_exchange() and functions
///           whose names end in _in_stream return earlier. No other call leaves work in `stream`.
/// Calls     Functions marked "collective" must be called by all ranks, in the same order, with the
///           same arguments where the description says so; cluster_options::check_calls verifies
///           this. A difference of options is found in any case: require_equal() compares them, and
///           the distributed algorithms and the constructor call it.
/// Sizes     Counts have 64 bits; messages may be longer than 2^31 bytes.
/// Errors    If a rank throws in run(), or a call fails on a rank, all ranks throw cluster_error
///           with the rank and the cause. No rank waits forever: each wait polls for errors, too.
///           Then the communicator is broken, and each further call throws the same exception. If a
///           process ends by a signal, mpirun ends the others.
/// Waiting   A rank that waits polls for 50 microseconds, then yields its core, and after a
///           millisecond it sleeps between polls. If ranks share cores, it yields at once.
/// Several   A program may have several communicators. A wait polls for errors of its own
///           communicator only, so all ranks should wait on the same one.
/// Threads   One thread at a time may use a communicator, and it must be the thread that
///           initialized MPI.

#include <ramify/runtime/detail/requirements.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <ramify/cluster/error.hpp>
#include <ramify/cluster/report.hpp>
#include <ramify/cluster/settings.hpp>
#include <ramify/runtime/report.hpp>
#include <ramify/version.hpp>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace ramify::inline RAMIFY_ABI {

/// How numbers of all ranks are combined.
enum class reduction { sum, min, max };

/// Returns the name of the reduction.
[[nodiscard]] constexpr std::string_view to_string(reduction r) {
  return choice_name(r, {"sum", "min", "max"});
}

/// The configuration of a communicator. It must be the same on all ranks.
struct cluster_options {
  /// automatic: cuda if each rank has a GPU of its own and the build has NCCL, else cpu.
  ramify::backend backend = ramify::backend::automatic;
  /// Whether each call verifies that all ranks make the same call with the same counts. This takes
  /// one more reduction of 16 bytes for a collective call, and one more message of 8 bytes for
  /// each message of an exchange. On the CUDA backend begin_exchange() then waits for the
  /// begin_exchange() of the other ranks in its messages. Without the check, a message must not be
  /// longer than the other rank expects.
  bool check_calls = true;
  /// The size in bytes at which long MPI messages are divided, at least 1.
  std::size_t message_bytes = std::size_t{8} << 20;
};

/// Numbers that all_reduce() can combine: integers of 32 or 64 bits, float and double.
template <class T>
concept reducible_number = (std::integral<T> && (sizeof(T) == 4 || sizeof(T) == 8)) ||
                           std::same_as<T, float> || std::same_as<T, double>;

/// A message of an exchange to another rank, or to the own one.
template <class T>
struct outgoing_message {
  int to;             ///< the rank that receives
  const T* data;      ///< `count` elements
  std::size_t count;  ///< elements
};

/// A message of an exchange from another rank, or from the own one.
template <class T>
struct incoming_message {
  int from;           ///< the rank that sends
  T* data;            ///< space for `count` elements
  std::size_t count;  ///< elements
};

}  // namespace ramify::inline RAMIFY_ABI

namespace ramify::detail::cluster::inline RAMIFY_ABI {

class state;
class messages_in_flight;

/// Messages without the type of their elements.
struct raw_outgoing {
  int peer;
  const void* data;
  std::size_t bytes;
};
struct raw_incoming {
  int peer;
  void* data;
  std::size_t bytes;
};

enum class number_type { int32, uint32, int64, uint64, float32, float64 };

template <reducible_number T>
inline constexpr number_type type_of =
    std::is_same_v<T, float>    ? number_type::float32
    : std::is_same_v<T, double> ? number_type::float64
    : sizeof(T) == 4            ? (std::is_signed_v<T> ? number_type::int32 : number_type::uint32)
                                : (std::is_signed_v<T> ? number_type::int64 : number_type::uint64);

}  // namespace ramify::detail::cluster::inline RAMIFY_ABI

namespace ramify::inline RAMIFY_ABI {

/// Messages that begin_exchange() has started. Movable; a moved-from exchange is empty.
///
/// The destructor of an exchange that was not ended cancels its messages, as after an exception.
class [[nodiscard("call end(), which waits for the messages")]] message_exchange {
 public:
  /// The other object may then only be destroyed or assigned.
  message_exchange(message_exchange &&) noexcept;
  message_exchange& operator=(message_exchange&&) noexcept;  ///< Cancels the own messages first.
  ~message_exchange();

  /// Waits until all messages of this rank have been sent and received. Must be called once, before
  /// the communicator is moved or destroyed. \throws cluster_error
  void end();
  /// Ends the exchange in the order of a stream: later work in `stream` waits for the messages. On
  /// the CUDA backend the host does not, unless the messages are in host memory; on the CPU backend
  /// the function is end(). Must be called instead of end(). The arrays must exist until the
  /// messages are complete. To wait for them use communicator::synchronize(stream), which polls for
  /// errors: if a rank fails, a wait by another function may never return. \throws cluster_error
  void end_in_stream(void* stream = nullptr);

 private:
  friend class communicator;
  explicit message_exchange(std::unique_ptr<detail::cluster::messages_in_flight>);

  std::unique_ptr<detail::cluster::messages_in_flight> messages_;
};

/// A group of processes, its ranks. Move-only; a moved-from communicator may only be assigned or
/// destroyed.
///
/// The destructor waits at most some seconds for other ranks: on the CUDA backend until NCCL has
/// sent its messages, and after an exception until all ranks have the error. If it runs because an
/// exception leaves its scope, all other ranks throw cluster_error.
class communicator {
 public:
  /// Connects all processes of MPI. Collective. For a part of them, see <ramify/cluster/mpi.hpp>.
  ///
  /// On the CUDA backend the constructor makes the rank's GPU the current device. On the CPU
  /// backend it limits the threads of the executor to this rank's share of the cores, unless
  /// their number was set before. The destructor restores it.
  /// \throws std::invalid_argument, on all ranks, naming a bad field, or one that differs between
  ///         ranks; also if the ranks have different versions of Ramify
  /// \throws unavailable, on all ranks, if a rank cannot run the requested backend;
  ///         std::logic_error if MPI is not initialized; cluster_error
  explicit communicator(const cluster_options& options = {});
  /// The other object may then only be destroyed or assigned.
  communicator(communicator&&) noexcept;
  communicator& operator=(communicator&&) noexcept;  ///< As the destructor, then the move.
  ~communicator();

  [[nodiscard]] int rank() const;        ///< in [0, size())
  [[nodiscard]] int size() const;        ///< number of ranks
  [[nodiscard]] int local_rank() const;  ///< in [0, local_size())
  [[nodiscard]] int local_size() const;  ///< number of ranks on this machine
  /// Returns cuda or cpu: where the kernels of all ranks run.
  [[nodiscard]] ramify::backend backend() const;
  [[nodiscard]] const std::string& backend_reason() const;  ///< Returns why the kernels run there.
  /// Returns the number of the rank's GPU, or -1 on the CPU backend.
  [[nodiscard]] int device() const;
  /// Returns this rank's share of the cores of its machine, at least 1.
  [[nodiscard]] unsigned cores() const;

  /// Calls `work` and waits for all ranks to do the same. Collective. If `work` throws on any rank,
  /// all ranks throw. \throws cluster_error
  void run(const std::function<void()>& work);

  /// Waits for the work in `stream`, while it polls for errors of other ranks.
  /// \throws cluster_error
  void synchronize(void* stream = nullptr);

  /// Returns on no rank before all ranks have called it. Collective. \throws cluster_error
  void barrier();

  /// Checks that all ranks have the same settings. Collective. Takes one reduction of 16 bytes,
  /// also if cluster_options::check_calls is false.
  /// \throws std::invalid_argument, with the same message on all ranks. It names the first rank
  ///         that differs from rank 0, the first setting in which it does, and both values. The
  ///         communicator can still be used
  /// \throws cluster_error, also if a rank makes another call
  void require_equal(const shared_settings& settings);

  /// Copies `count` elements of the rank `root` to all ranks. Collective, with the same count and
  /// root. \throws cluster_error
  template <class T>
  void broadcast(T* data, std::size_t count, int root, void* stream = nullptr) {
    static_assert(std::is_trivially_copyable_v<T>);
    broadcast_bytes(data, count, sizeof(T), root, stream);
  }
  /// Returns the value of the rank `root`, a host value. Collective. \throws cluster_error
  template <class T>
  [[nodiscard]] T broadcast(T value, int root) {
    static_assert(std::is_trivially_copyable_v<T>);
    broadcast_value(&value, sizeof(T), root);
    return value;
  }

  /// Replaces element i, for each i, by the reduction of the elements i of all ranks. Collective,
  /// with the same count. The result has the same bits on all ranks. \throws cluster_error
  template <reducible_number T>
  void all_reduce(T* data, std::size_t count, reduction how, void* stream = nullptr) {
    reduce_numbers(data, count, detail::cluster::type_of<T>, how, stream, false);
  }
  /// Reduces elements as all_reduce() does, in the order of a stream: on the CUDA backend the
  /// result is in `data` for later work in `stream`, and the host does not wait for it. Wait as
  /// after message_exchange::end_in_stream(). Collective. \throws cluster_error
  template <reducible_number T>
  void all_reduce_in_stream(T* data, std::size_t count, reduction how, void* stream = nullptr) {
    reduce_numbers(data, count, detail::cluster::type_of<T>, how, stream, true);
  }
  /// Returns the reduction of the values of all ranks, which are host values. Collective.
  /// \throws cluster_error
  template <reducible_number T>
  [[nodiscard]] T all_reduce(T value, reduction how) {
    reduce_value(&value, detail::cluster::type_of<T>, how);
    return value;
  }

  /// Writes the `count` elements of each rank to `all`, in the order of the ranks. Collective, with
  /// the same count. `all` has size() * count elements and must not overlap `mine`.
  /// \throws cluster_error
  template <class T>
  void all_gather(const T* mine, std::size_t count, T* all, void* stream = nullptr) {
    static_assert(std::is_trivially_copyable_v<T>);
    gather_bytes(mine, std::vector<std::uint64_t>(static_cast<std::size_t>(size()), count), all,
                 sizeof(T), "all_gather", stream);
  }
  /// Returns the values of all ranks, which are host values, in their order. Collective.
  /// \throws cluster_error
  template <class T>
  [[nodiscard]] std::vector<T> all_gather(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> all(static_cast<std::size_t>(size()));
    gather_values(&value, all.data(), sizeof(T));
    return all;
  }

  /// Writes the counts[r] elements of each rank r to `all`, in the order of the ranks. Collective,
  /// with the same counts. `all` must not overlap `mine`.
  /// \throws std::invalid_argument if there is not one count for each rank; cluster_error
  template <class T>
  void all_gather_v(const T* mine, std::span<const std::uint64_t> counts, T* all,
                    void* stream = nullptr) {
    static_assert(std::is_trivially_copyable_v<T>);
    gather_bytes(mine, counts, all, sizeof(T), "all_gather_v", stream);
  }

  /// Sends `send_counts[r]` elements to rank r, and receives `receive_counts[r]` from it. `from`
  /// has the elements for rank 0, then those for rank 1, and so on; `to` gets them in the order of
  /// the ranks. Collective. The arrays must not overlap.
  /// \throws std::invalid_argument if there is not one count for each rank; cluster_error
  template <class T>
  void all_to_all_v(const T* from, std::span<const std::uint64_t> send_counts, T* to,
                    std::span<const std::uint64_t> receive_counts, void* stream = nullptr) {
    static_assert(std::is_trivially_copyable_v<T>);
    all_to_all_bytes(from, send_counts, to, receive_counts, sizeof(T), stream);
  }
  /// Sends numbers[r] to rank r, and returns the numbers of all ranks for this one: the
  /// receive_counts of all_to_all_v(), for its send_counts. Collective. Host values.
  /// \throws std::invalid_argument if there is not one number for each rank; cluster_error
  [[nodiscard]] std::vector<std::uint64_t> all_to_all(std::span<const std::uint64_t> numbers);

  /// Starts to send and to receive messages, so that the caller can compute before end(). Not
  /// collective, but for each outgoing message the other rank must have an incoming one of the same
  /// count. Messages between two ranks are matched in their order. The arrays must exist until
  /// end() has returned. Until then the caller must not write to them, and must not read those of
  /// incoming messages. On the CUDA backend the messages are sent after the work that is in
  /// `stream`, and the function may wait for the begin_exchange() of the other ranks in its
  /// messages: ranks must not begin exchanges in a cyclic order.
  /// \throws std::invalid_argument if there is no such rank; cluster_error
  template <class T>
  message_exchange begin_exchange(std::span<const outgoing_message<T>> outgoing,
                                  std::span<const incoming_message<T>> incoming,
                                  void* stream = nullptr) {
    return begin_typed(outgoing, incoming, false, stream);
  }
  /// Starts an exchange as begin_exchange() does, with arrays in ordinary host memory, also on the
  /// CUDA backend. The other ranks must call this function, too.
  template <class T>
  message_exchange begin_host_exchange(std::span<const outgoing_message<T>> outgoing,
                                       std::span<const incoming_message<T>> incoming) {
    return begin_typed(outgoing, incoming, true, nullptr);
  }

  /// Returns the report since construction. Collective. \throws cluster_error
  [[nodiscard]] cluster_report report();

  /// Takes over a state; <ramify/cluster/mpi.hpp> uses it.
  explicit communicator(std::unique_ptr<detail::cluster::state>);

 private:
  void broadcast_bytes(void* data, std::size_t count, std::size_t element, int root, void* stream);
  void broadcast_value(void* value, std::size_t bytes, int root);
  void reduce_numbers(void* data, std::size_t count, detail::cluster::number_type, reduction,
                      void* stream, bool in_stream);
  void reduce_value(void* value, detail::cluster::number_type, reduction);
  void gather_bytes(const void* mine, std::span<const std::uint64_t> counts, void* all,
                    std::size_t element, const char* call, void* stream);
  void gather_values(const void* value, void* all, std::size_t bytes);
  void all_to_all_bytes(const void* from, std::span<const std::uint64_t> send_counts, void* to,
                        std::span<const std::uint64_t> receive_counts, std::size_t element,
                        void* stream);
  message_exchange begin_messages(std::span<const detail::cluster::raw_outgoing>,
                                  std::span<const detail::cluster::raw_incoming>, bool on_host,
                                  void* stream);
  template <class T>
  message_exchange begin_typed(std::span<const outgoing_message<T>> outgoing,
                               std::span<const incoming_message<T>> incoming, bool on_host,
                               void* stream) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<detail::cluster::raw_outgoing> out;
    for (const auto& m : outgoing) out.push_back({m.to, m.data, m.count * sizeof(T)});
    std::vector<detail::cluster::raw_incoming> in;
    for (const auto& m : incoming) in.push_back({m.from, m.data, m.count * sizeof(T)});
    return begin_messages(out, in, on_host, stream);
  }

  std::unique_ptr<detail::cluster::state> state_;
};

}  // namespace ramify::inline RAMIFY_ABI
