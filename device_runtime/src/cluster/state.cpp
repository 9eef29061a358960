// SPDX-License-Identifier: BSD-3-Clause
#include "state.hpp"

#include <sched.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstring>
#include <exception>
#include <list>
#include <new>
#include <ramify/runtime/detail/arguments.hpp>
#include <ramify/runtime/error.hpp>
#include <ramify/version.hpp>
#include <stdexcept>
#include <thread>

namespace ramify::detail::cluster::inline RAMIFY_ABI {
namespace {

constexpr int cause_tag = 0;
constexpr std::size_t max_cause = 2000;  // characters, so that MPI sends it at once

/// Texts of messages. They are never freed, because a message may never be received.
std::list<std::string>& kept_texts() {
  static auto& texts = *new std::list<std::string>;
  return texts;
}

/// Returns the settings that all ranks must have in common when a communicator is constructed.
shared_settings settings_of(const cluster_options& options) {
  shared_settings settings("communicator");
  settings.add("the version of Ramify", RAMIFY_VERSION);
  settings.add("cluster_options.backend", options.backend);
  settings.add("cluster_options.check_calls", options.check_calls);
  settings.add("cluster_options.message_bytes", options.message_bytes);
  return settings;
}

}  // namespace

process_failure& failure_of_process() {
  static process_failure failure;
  return failure;
}

polling_pause::polling_pause(bool crowded) : crowded_(crowded) {}

void polling_pause::operator()() const {
  using namespace std::chrono_literals;
  const auto waited = std::chrono::steady_clock::now() - begin_;
  if (!crowded_ && waited < 50us) return;
  if (waited < 1ms) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(waited < 10ms ? 50us : waited < 100ms ? 200us : 1000us);
  }
}

state::state(MPI_Comm ranks, const cluster_options& wanted) : options(wanted) {
  int is_initialized = 0;
  MPI_Initialized(&is_initialized);
  int is_finalized = 0;
  MPI_Finalized(&is_finalized);
  if (is_initialized == 0 || is_finalized != 0) {
    throw std::logic_error("communicator: MPI is not initialized (construct an mpi_session first)");
  }
  MPI_Comm_dup(ranks, &data);
  MPI_Comm_dup(ranks, &errors);
  MPI_Comm_set_errhandler(data, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(errors, MPI_ERRORS_RETURN);
  MPI_Comm_rank(data, &rank);
  MPI_Comm_size(data, &size);
  messages_to.resize(static_cast<std::size_t>(size));
  messages_from.resize(static_cast<std::size_t>(size));
  try {
    find_place();
    require_equal(settings_of(options));  // so that all ranks throw in the same way
    check_enumerator(options.backend, "cluster_options.backend");
    check_field(options.message_bytes >= 1, "cluster_options.message_bytes", options.message_bytes,
                "at least 1");
    choose_backend();
  } catch (...) {  // the destructor does not run
    if (!is_broken()) {
      MPI_Comm_free(&data);
      MPI_Comm_free(&errors);
    }
    throw;
  }
  created = std::chrono::steady_clock::now();
}

state::~state() {
  executor_.reset();
  device.reset();
  if (is_broken()) {
    static_cast<void>(memory.release());  // MPI may still access it
    return;
  }
  int is_finalized = 0;
  MPI_Finalized(&is_finalized);
  if (is_finalized != 0) return;
  MPI_Comm_free(&data);
  MPI_Comm_free(&errors);
}

/// Finds the ranks of this machine, and this rank's share of its cores.
void state::find_place() {
  MPI_Comm local = MPI_COMM_NULL;
  MPI_Comm_split_type(data, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &local);
  MPI_Comm_rank(local, &local_rank);
  MPI_Comm_size(local, &local_size);
  // The core i counts for this rank as 1 over the number of ranks that may run on it.
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  const bool is_known = sched_getaffinity(0, sizeof allowed, &allowed) == 0;
  std::array<int, CPU_SETSIZE> sharing{};
  for (std::size_t i = 0; i < sharing.size(); ++i) sharing[i] = CPU_ISSET(i, &allowed) ? 1 : 0;
  std::array<int, CPU_SETSIZE> mine = sharing;
  MPI_Allreduce(MPI_IN_PLACE, sharing.data(), CPU_SETSIZE, MPI_INT, MPI_SUM, local);
  MPI_Comm_free(&local);
  double share = 0;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (mine[i] != 0) share += 1.0 / sharing[i];
  }
  if (!is_known) share = double(std::thread::hardware_concurrency()) / local_size;
  cores = static_cast<unsigned>(std::max(1.0, std::floor(share + 1e-6)));
  crowded_ = share < 1 - 1e-6;
}

void state::choose_backend() {
  // 1. The choice of each rank.
  struct choice {
    device_identity id;
    std::array<char, 160> reason;
    int number;
  };
  choice mine{{}, {}, -1};
  if (options.backend != backend::cpu) {
    const device_choice found = choose_device(local_rank);
    mine.number = found.number;
    mine.id = found.id;
    found.reason.copy(mine.reason.data(), mine.reason.size() - 1);
  }
  std::vector<choice> all(static_cast<std::size_t>(size));
  check_mpi(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, data),
            "communicator");
  // 2. The common one: cuda if each rank has a GPU that no other rank has.
  std::string obstacle;
  for (std::size_t i = 0; i < all.size() && obstacle.empty(); ++i) {
    const std::string name = "rank " + std::to_string(i);
    if (all[i].number < 0) obstacle = name + " cannot use a GPU: " + all[i].reason.data();
    for (std::size_t j = 0; j < i && obstacle.empty(); ++j) {
      if (all[i].id == all[j].id) {
        obstacle = name + " and rank " + std::to_string(j) + " have the same GPU (" +
                   all[i].reason.data() + "); start at most one rank for each GPU";
      }
    }
  }
  if (options.backend == backend::cuda && !obstacle.empty()) {
    throw unavailable("the cuda backend of the cluster cannot run: " + obstacle);
  }
  // 3. The CPU executor, with this rank's cores.
  if (options.backend == backend::cpu || !obstacle.empty()) {
    where_reason = options.backend == backend::cpu ? "requested" : obstacle;
    cpu::executor_config config = cpu::current_executor_config();
    if (config.order == cpu::schedule::parallel && config.workers == 0) {
      config.workers = cores;
      executor_.emplace(config);
    }
    return;
  }
  // 4. The GPUs.
  where = backend::cuda;
  where_reason =
      std::string(options.backend == backend::cuda ? "requested: " : "found ") + mine.reason.data();
  device_number = mine.number;
  memory->block.resize(sizeof(connection_id));
  connection_id id{};
  if (rank == 0) {
    id = on_device([] { return new_connection(); });
    std::memcpy(memory->block.data(), id.data(), id.size());
  }
  collective("communicator", [&](MPI_Request* request) {
    return MPI_Ibcast(memory->block.data(), sizeof id, MPI_BYTE, 0, data, request);
  });
  std::memcpy(id.data(), memory->block.data(), id.size());
  device = on_device([&] { return connect(id, rank, size, device_number); });
  const auto connected = on_device([&] { return device->connection(); });
  wait_on_device(*connected, false);
}

void state::wait_on_device(device_operation& operation, bool until_done) {
  poll([&] {
    return on_device([&] {
      const bool reached =
          until_done ? operation.is_started() && operation.is_done() : operation.is_started();
      return reached ? progress::complete : progress::none;
    });
  });
}

void state::check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  fail(std::string(call) + ": " + std::string(text.data(), static_cast<std::size_t>(length)) +
       " (MPI)");
}

// ---- failures ----

void state::require_intact() const {
  if (is_broken()) throw error();
}

void state::receive_causes() noexcept {
  for (;;) {
    int is_there = 0;
    MPI_Status status{};
    if (MPI_Iprobe(MPI_ANY_SOURCE, cause_tag, errors, &is_there, &status) != MPI_SUCCESS) return;
    if (is_there == 0) return;
    int length = 0;
    MPI_Get_count(&status, MPI_CHAR, &length);
    std::array<char, max_cause> cause;
    MPI_Recv(cause.data(), length, MPI_CHAR, status.MPI_SOURCE, cause_tag, errors,
             MPI_STATUS_IGNORE);
    keep_cause(status.MPI_SOURCE, {cause.data(), static_cast<std::size_t>(length)});
  }
}

void state::keep_cause(int of, std::string_view cause) noexcept {
  try {
    causes_.emplace(of, cause);
  } catch (const std::bad_alloc&) {  // the rank of the failure is then reported without its cause
  }
}

void state::throw_if_others_failed() {
  receive_causes();
  if (causes_.empty()) return;
  break_off(INT_MAX);
  throw error();
}

void state::send_cause(std::string_view cause) noexcept {
  std::string_view text = "not enough memory";
  try {
    text = kept_texts().emplace_back(cause.substr(0, max_cause));
  } catch (const std::bad_alloc&) {
  }
  for (int to = 0; to < size; ++to) {
    if (to == rank) continue;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(text.data(), static_cast<int>(text.size()), MPI_CHAR, to, cause_tag, errors,
              &request);
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }
  keep_cause(rank, text);
}

void state::keep_failure(int of) noexcept {
  failure_ = {of, {}};
  try {
    const auto cause = causes_.find(of);
    failure_->cause = cause == causes_.end() ? "unknown" : cause->second;
  } catch (const std::bad_alloc&) {
  }
}

void state::break_off(int own_rank) noexcept {
  keep_failure(causes_.empty() ? rank : causes_.begin()->first);
  if (device != nullptr) device->abort();
  // 1. No receive remains.
  for (messages_in_flight* messages : in_flight) messages->cancel();
  poll_for(failure_timeout, [&] {
    return std::ranges::all_of(in_flight, [](messages_in_flight* m) { return m->are_cancelled(); });
  });
  // 2. The lowest failed rank.
  memory->failed_rank = own_rank;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(MPI_IN_PLACE, &memory->failed_rank, 1, MPI_INT, MPI_MIN, errors, &request);
  const bool all_know = poll_for(failure_timeout, [&] {
    receive_causes();
    int done = 0;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    return done != 0;
  });
  if (all_know && memory->failed_rank != INT_MAX) {
    const int lowest = memory->failed_rank;
    poll_for(failure_timeout, [&] {
      receive_causes();
      return causes_.contains(lowest);
    });
    if (causes_.contains(lowest)) keep_failure(lowest);
    discard_messages();
  }
  failure_of_process() = {true, failure_->rank == rank};
}

void state::discard_messages() noexcept {
  MPI_Request request = MPI_REQUEST_NULL;
  bool are_sent = false;
  poll_for(failure_timeout, [&] {
    // 1. What other ranks have sent.
    int is_there = 0;
    MPI_Status status{};
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, data, &is_there, &status);
    while (is_there != 0) {
      int bytes = 0;
      MPI_Get_count(&status, MPI_BYTE, &bytes);
      std::vector<std::byte> discarded(static_cast<std::size_t>(bytes));
      MPI_Recv(discarded.data(), bytes, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, data,
               MPI_STATUS_IGNORE);
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, data, &is_there, &status);
    }
    // 2. The messages of this rank have been received; then those of all ranks.
    if (!are_sent) {
      are_sent =
          std::ranges::all_of(in_flight, [](messages_in_flight* m) { return m->are_sent(); });
      if (are_sent) MPI_Ibarrier(errors, &request);
    }
    int done = 0;
    if (are_sent) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    return done != 0;
  });
}

void state::fail(const std::string& cause) {
  if (!is_broken()) {
    send_cause(cause);
    break_off(rank);
  }
  throw error();
}

void state::fail_silently(std::string_view cause) noexcept {
  if (is_broken()) return;
  send_cause(cause);
  break_off(rank);
}

void state::fail_together(int failed, const std::string& cause) {
  causes_.emplace(failed, cause);
  break_off(failed);
  throw error();
}

}  // namespace ramify::detail::cluster::inline RAMIFY_ABI
