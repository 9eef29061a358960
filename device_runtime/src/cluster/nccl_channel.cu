// SPDX-License-Identifier: BSD-3-Clause
// Moves data between GPUs with NCCL. NCCL connects two ranks in the first call that needs it, and
// such a call waits for the other rank; it runs in a thread of its own, so that this one can poll
// for errors. Later calls wait for no rank. (A nonblocking communicator of NCCL makes each call in
// a new thread, which takes 80 us.) ncclCommAbort() ends operations that wait. NCCL is loaded at
// run time, so that programs start without it.
#include <dlfcn.h>
#include <nccl.h>

#include <chrono>
#include <compare>
#include <cstring>
#include <functional>
#include <future>
#include <memory>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/device_context.cuh>
#include <ramify/runtime/stream.cuh>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "device_channel.hpp"

namespace ramify::detail::cluster::inline RAMIFY_ABI {
namespace {

/// The oldest NCCL that has the functions below. One that is newer than it and older than the
/// program's header also works: NCCL reads no more of a configuration than it has fields for.
constexpr int oldest_nccl = NCCL_VERSION(2, 18, 0);
static_assert(NCCL_VERSION_CODE >= oldest_nccl, "Ramify's clusters need NCCL 2.18 or later");

/// Returns a version of NCCL as its name has it.
std::string version_name(int version) {
  const int major = version < 10'000 ? 1'000 : 10'000;  // of the number; 2,804 is 2.8.4
  return std::to_string(version / major) + "." + std::to_string(version % major / 100) + "." +
         std::to_string(version % 100);
}

/// The functions of NCCL.
class nccl_library {
 public:
  /// \throws std::runtime_error with the reason why NCCL cannot be used
  nccl_library() {
    void* library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) library = dlopen(RAMIFY_NCCL_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(std::string("no NCCL: ") + dlerror());
    find(library, get_version, "ncclGetVersion");
    int version = 0;
    if (get_version(&version) != ncclSuccess || version < oldest_nccl) {
      throw std::runtime_error("NCCL " + version_name(version) + " is older than " +
                               version_name(oldest_nccl));
    }
    find(library, error_string, "ncclGetErrorString");
    find(library, unique_id, "ncclGetUniqueId");
    find(library, init, "ncclCommInitRankConfig");
    find(library, async_error, "ncclCommGetAsyncError");
    find(library, finalize, "ncclCommFinalize");
    find(library, destroy, "ncclCommDestroy");
    find(library, abort, "ncclCommAbort");
    find(library, group_start, "ncclGroupStart");
    find(library, group_end, "ncclGroupEnd");
    find(library, send, "ncclSend");
    find(library, receive, "ncclRecv");
    find(library, broadcast, "ncclBroadcast");
    find(library, all_reduce, "ncclAllReduce");
    find(library, all_gather, "ncclAllGather");
  }

  decltype(&ncclGetVersion) get_version = nullptr;
  decltype(&ncclGetErrorString) error_string = nullptr;
  decltype(&ncclGetUniqueId) unique_id = nullptr;
  decltype(&ncclCommInitRankConfig) init = nullptr;
  decltype(&ncclCommGetAsyncError) async_error = nullptr;
  decltype(&ncclCommFinalize) finalize = nullptr;
  decltype(&ncclCommDestroy) destroy = nullptr;
  decltype(&ncclCommAbort) abort = nullptr;
  decltype(&ncclGroupStart) group_start = nullptr;
  decltype(&ncclGroupEnd) group_end = nullptr;
  decltype(&ncclSend) send = nullptr;
  decltype(&ncclRecv) receive = nullptr;
  decltype(&ncclBroadcast) broadcast = nullptr;
  decltype(&ncclAllReduce) all_reduce = nullptr;
  decltype(&ncclAllGather) all_gather = nullptr;

 private:
  template <class Function>
  static void find(void* library, Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (function == nullptr) throw std::runtime_error(std::string("NCCL has no ") + name + "()");
  }
};

/// Returns NCCL, which is never unloaded. \throws std::runtime_error if it cannot be used
const nccl_library& nccl() {
  static const nccl_library library;
  return library;
}

void check_nccl(ncclResult_t result, const char* doing) {
  if (result == ncclSuccess || result == ncclInProgress) return;
  throw std::runtime_error(std::string(doing) + ": " + nccl().error_string(result) + " (NCCL)");
}

ncclDataType_t nccl_type(number_type type) {
  switch (type) {
    case number_type::int32: return ncclInt32;
    case number_type::uint32: return ncclUint32;
    case number_type::int64: return ncclInt64;
    case number_type::uint64: return ncclUint64;
    case number_type::float32: return ncclFloat32;
    default: return ncclFloat64;
  }
}

ncclRedOp_t nccl_operation(reduction how) {
  if (how == reduction::sum) return ncclSum;
  return how == reduction::min ? ncclMin : ncclMax;
}

cudaStream_t as_stream(void* stream) { return static_cast<cudaStream_t>(stream); }

using event_handle = unique_handle<cudaEvent_t, cudaEventDestroy>;

event_handle new_event() {
  event_handle handle(nullptr, {current_context()});
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "creating an event");
  handle.reset(event);
  return handle;
}

/// A call in a thread of its own. If it never returns, the thread stays until the process ends.
class separate_call {
 public:
  /// Starts `work`, which must own what it uses.
  void start(int device, std::function<void()> work) {
    std::packaged_task<void()> task([device, work = std::move(work)] {
      check(cudaSetDevice(device), "setting the device");
      work();
    });
    done_ = task.get_future();
    std::thread(std::move(task)).detach();
  }
  /// Returns whether no call is under way. \throws what the call has thrown
  [[nodiscard]] bool is_done() {
    if (!returns_within(std::chrono::seconds(0))) return false;
    if (done_.valid()) done_.get();
    return true;
  }
  /// Waits for the call at most for `limit`. Returns whether none is under way.
  [[nodiscard]] bool returns_within(std::chrono::seconds limit) {
    return !done_.valid() || done_.wait_for(limit) == std::future_status::ready;
  }

 private:
  std::future<void> done_;
};

class nccl_channel final : public device_channel {
 public:
  nccl_channel(const connection_id& id, int rank, int size, int device) : device_(device) {
    ncclUniqueId unique{};
    static_assert(sizeof unique.internal == sizeof id);
    std::memcpy(unique.internal, id.data(), id.size());
    call_.start(device_, [comm = comm_, unique, rank, size] {
      ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
      check_nccl(nccl().init(comm.get(), size, unique, rank, &config), "connecting the GPUs");
    });
  }
  ~nccl_channel() override {
    if (is_aborted_ || !call_.returns_within(std::chrono::seconds(0)) || *comm_ == nullptr) return;
    // An operation that is complete here may still send data that another rank needs.
    try {
      call_.start(device_, [comm = comm_] {
        if (nccl().finalize(*comm) == ncclSuccess) static_cast<void>(nccl().destroy(*comm));
      });
      if (call_.returns_within(std::chrono::seconds(5))) return;
    } catch (const std::exception&) {  // no thread or no memory for the call
    }
    abort();
  }
  nccl_channel(const nccl_channel&) = delete;
  nccl_channel& operator=(const nccl_channel&) = delete;

  operation connection() override { return std::make_unique<enqueued>(*this); }

  operation messages(std::span<const raw_outgoing> out, std::span<const raw_incoming> in,
                     void* stream) override {
    bool is_first = false;
    for (const raw_outgoing& m : out) is_first |= is_new({kind::send, m.peer});
    for (const raw_incoming& m : in) is_first |= is_new({kind::receive, m.peer});
    return enqueue(
        stream, is_first,
        [sends = std::vector(out.begin(), out.end()), receives = std::vector(in.begin(), in.end())](
            auto comm, auto in_stream) {
          for (const raw_outgoing& m : sends) {
            check_nccl(nccl().send(m.data, m.bytes, ncclUint8, m.peer, comm, in_stream), "sending");
          }
          for (const raw_incoming& m : receives) {
            check_nccl(nccl().receive(m.data, m.bytes, ncclUint8, m.peer, comm, in_stream),
                       "receiving");
          }
        });
  }
  operation broadcast(void* data, std::size_t bytes, int root, void* stream) override {
    return enqueue(stream, is_new({kind::broadcast, root, bytes}), [=](auto comm, auto in_stream) {
      check_nccl(nccl().broadcast(data, data, bytes, ncclUint8, root, comm, in_stream),
                 "broadcasting");
    });
  }
  operation all_reduce(void* data, std::size_t count, number_type type, reduction how,
                       void* stream) override {
    const int operation = 10 * static_cast<int>(type) + static_cast<int>(how);
    return enqueue(stream, is_new({kind::all_reduce, operation, count}),
                   [=](auto comm, auto in_stream) {
                     check_nccl(nccl().all_reduce(data, data, count, nccl_type(type),
                                                  nccl_operation(how), comm, in_stream),
                                "reducing");
                   });
  }
  operation all_gather(const void* mine, std::size_t bytes, void* all, void* stream) override {
    return enqueue(stream, is_new({kind::all_gather, 0, bytes}), [=](auto comm, auto in_stream) {
      check_nccl(nccl().all_gather(mine, all, bytes, ncclUint8, comm, in_stream), "gathering");
    });
  }

  bool is_idle(void* stream) override {
    return is_complete(cudaStreamQuery(as_stream(stream)), "waiting for a stream");
  }

  void check_access(const void* data, const char* call) override {
    check_device_access(data, (std::string(call) + ": data").c_str());
  }

  void abort() noexcept override {
    if (is_aborted_) return;
    is_aborted_ = true;
    try {
      // A call that connects ranks mostly returns; else NCCL's flag ends it.
      static_cast<void>(call_.returns_within(std::chrono::seconds(1)));
      if (*comm_ != nullptr) static_cast<void>(nccl().abort(*comm_));
    } catch (const std::exception&) {  // the caller reports the first error
    }
  }

 private:
  class enqueued final : public device_operation {
   public:
    explicit enqueued(nccl_channel& channel) : channel_(&channel), done_(new_event()) {}

    bool is_started() override {
      if (is_started_) return true;
      if (!channel_->is_ready()) return false;
      check(cudaEventRecord(done_.get(), channel_->stream_.get()), "recording an event");
      return is_started_ = true;
    }
    bool is_done() override {
      static_cast<void>(channel_->is_ready());  // throws if NCCL has failed
      return is_complete(cudaEventQuery(done_.get()), "waiting for messages between GPUs");
    }
    void block(void* stream) override {
      check(cudaStreamWaitEvent(as_stream(stream), done_.get(), 0), "ordering two streams");
    }

   private:
    nccl_channel* channel_;
    event_handle done_;
    bool is_started_ = false;
  };

  enum class kind { send, receive, broadcast, all_reduce, all_gather };

  /// What NCCL may connect ranks for: a kind of call with a peer, a root or an operation and, since
  /// NCCL chooses an algorithm by the size, the size of a collective call.
  struct connection_use {
    kind what;
    int with;
    std::size_t size = 0;
    auto operator<=>(const connection_use&) const = default;
  };

  /// Returns whether no earlier call was of this kind.
  [[nodiscard]] bool is_new(const connection_use& use) { return uses_.insert(use).second; }

  /// Enqueues the operation that call(comm, stream) makes, after the work in `stream`. If it
  /// `may_connect` ranks, it is enqueued when is_ready() returns true.
  template <class Call>
  operation enqueue(void* stream, bool may_connect, Call call) {
    check(cudaEventRecord(before_.get(), as_stream(stream)), "recording an event");
    check(cudaStreamWaitEvent(stream_.get(), before_.get(), 0), "ordering two streams");
    const auto group = [comm = comm_, in_stream = stream_.get(), call = std::move(call)] {
      check_nccl(nccl().group_start(), "beginning a group of messages");
      try {
        call(*comm, in_stream);
      } catch (...) {
        static_cast<void>(nccl().group_end());
        throw;
      }
      check_nccl(nccl().group_end(), "ending a group of messages");
    };
    if (may_connect) {
      call_.start(device_, group);
    } else {
      group();
    }
    return std::make_unique<enqueued>(*this);
  }

  /// Returns whether all operations are in the stream.
  [[nodiscard]] bool is_ready() {
    if (!call_.is_done()) return false;
    ncclResult_t result = ncclSuccess;
    check_nccl(nccl().async_error(*comm_, &result), "querying NCCL");
    check_nccl(result, "communicating between GPUs");
    return true;
  }

  static bool is_complete(cudaError_t status, const char* doing) {
    if (status == cudaErrorNotReady) {
      static_cast<void>(cudaGetLastError());  // not an error
      return false;
    }
    check(status, doing);
    return true;
  }

  int device_;
  bool is_aborted_ = false;
  std::shared_ptr<ncclComm_t> comm_ = std::make_shared<ncclComm_t>(nullptr);
  separate_call call_;
  std::set<connection_use> uses_;
  // NCCL's blocks begin before those of a large grid of the caller that was launched earlier.
  host_stream stream_ = host_stream::of_highest_priority();
  event_handle before_ = new_event();
};

}  // namespace

device_choice choose_device(int local_rank) {
  try {
    static_cast<void>(nccl());
  } catch (const std::runtime_error& e) {
    return {-1, e.what(), {}};
  }
  int count = 0;
  const cudaError_t found = cudaGetDeviceCount(&count);
  if (found != cudaSuccess || count == 0) {
    static_cast<void>(cudaGetLastError());
    return {-1, found == cudaSuccess ? "no GPU" : cudaGetErrorString(found), {}};
  }
  const int number = local_rank % count;
  cudaDeviceProp properties{};
  const cudaError_t read = cudaGetDeviceProperties(&properties, number);
  if (read != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return {-1, cudaGetErrorString(read), {}};
  }
  device_choice choice{number, properties.name, {}};
  static_assert(sizeof properties.uuid == sizeof choice.id);
  std::memcpy(choice.id.data(), &properties.uuid, choice.id.size());
  return choice;
}

connection_id new_connection() {
  ncclUniqueId unique{};
  check_nccl(nccl().unique_id(&unique), "making an identifier of a group of GPUs");
  connection_id id{};
  std::memcpy(id.data(), unique.internal, id.size());
  return id;
}

std::unique_ptr<device_channel> connect(const connection_id& id, int rank, int size, int device) {
  check(cudaSetDevice(device), "setting the device");
  return std::make_unique<nccl_channel>(id, rank, size, device);
}

}  // namespace ramify::detail::cluster::inline RAMIFY_ABI
