// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Copies between ordinary host memory and the device at the speed of the link between them.
///
/// The link's copy engine reads pinned memory only. Of pageable memory the driver makes pinned copies
/// itself, on one core, which is several times slower than the link. Here host threads share that
/// work: each packs pieces of an array into two pinned chunks in turn, and while one chunk is being
/// sent it packs the other.
///
///     thread 0   pack a | pack c      | pack e      | ...
///     thread 1   pack b | pack d      | pack f      | ...
///     link              | send a, b   | send c, d   | ...
///
/// A copy to the host goes the same way backwards.
///
///     copy_to_device(keys_on_device, keys.data(), bytes, stream);
///     sort(keys_on_device, stream);                              // behind the copy
///     copy_to_host(keys.data(), keys_on_device, bytes, stream);  // waits

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <exception>
#include <mutex>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/stream.cuh>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#if RAMIFY_ON_CUDA
#include <map>
#endif

namespace ramify::inline RAMIFY_BUILD {

/// How copies are staged.
struct staging_shape {
  /// A chunk's size. Small enough for a core's caches and for little to wait for at either end of a
  /// copy, large enough for the link to take a few times longer than the driver.
  std::size_t chunk_bytes = std::size_t{2} << 20;
  /// Host threads of a copy at most, the caller's among them. Beside an H200 1, 2, 4 and 8 of them
  /// copy 11, 20, 36 and 50 GB/s each way; PCIe 5 carries 55.
  unsigned threads = 8;
};

/// Pinned chunks of one device, two for each host thread, made when they are first needed and kept:
/// 2 * threads * chunk_bytes at most.
///
/// Copies take turns: one waits until others, of other threads of the program, have been packed. The
/// stream may be any but a thread's own default stream, which other threads cannot name.
class staging {
 public:
  /// \throws std::invalid_argument naming the field
  explicit staging(const staging_shape& shape = {}) : shape_(shape) {
    if (shape.chunk_bytes == 0) throw std::invalid_argument("staging_shape.chunk_bytes is 0");
    if (shape.threads == 0) throw std::invalid_argument("staging_shape.threads is 0");
  }
  ~staging() {
    for (const lane& each : lanes_) {
      for (const chunk& c : each) c.wait_quietly();
    }
  }
  staging(const staging&) = delete;
  staging& operator=(const staging&) = delete;

  /// Copies host memory to the device. On return `from` has been read; the copy itself comes before
  /// what is put into `stream` later. \throws cuda_error
  void upload(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
    auto* const target = static_cast<std::byte*>(to);
    const auto* const source = static_cast<const std::byte*>(from);
    share_out(bytes, [&](lane& mine, cursor& next) {
      unsigned turn = 0;
      for (piece p = next.take(); p.bytes > 0; p = next.take(), turn ^= 1) {
        // 1. What was last sent from this chunk has left it.
        mine[turn].used.synchronize();
        // 2. Pack, while the other chunk and those of the other threads are sent.
        std::memcpy(mine[turn].memory.data(), source + p.begin, p.bytes);
        // 3. Send.
        check(cudaMemcpyAsync(target + p.begin, mine[turn].memory.data(), p.bytes,
                              cudaMemcpyHostToDevice, stream),
              "sending a chunk to the device");
        mine[turn].used.record(stream);
      }
    });
  }

  /// Copies device memory to the host, behind what is in `stream` already. Waits for it.
  /// \throws cuda_error
  void download(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
    // Before the chunks are taken: other copies need not wait for this stream's work.
    check(cudaStreamSynchronize(stream), "waiting for what a copy follows");
    auto* const target = static_cast<std::byte*>(to);
    const auto* const source = static_cast<const std::byte*>(from);
    share_out(bytes, [&](lane& mine, cursor& next) {
      std::array<piece, 2> sent{};  // to the chunks, and not unpacked yet
      const auto unpack = [&](unsigned turn) {
        mine[turn].used.synchronize();
        const piece p = std::exchange(sent[turn], {});
        if (p.bytes > 0) std::memcpy(target + p.begin, mine[turn].memory.data(), p.bytes);
      };
      unsigned turn = 0;
      for (piece p = next.take(); p.bytes > 0; p = next.take(), turn ^= 1) {
        // 1. Unpack this chunk, while the other one is filled.
        unpack(turn);
        // 2. Have it filled again.
        check(cudaMemcpyAsync(mine[turn].memory.data(), source + p.begin, p.bytes,
                              cudaMemcpyDeviceToHost, stream),
              "sending a chunk to the host");
        mine[turn].used.record(stream);
        sent[turn] = p;
      }
      unpack(turn);
      unpack(turn ^ 1);
    });
  }

 private:
  struct chunk {
    explicit chunk(std::size_t bytes) : memory(bytes) {}
    void wait_quietly() const noexcept {
      try {
        used.synchronize();
      } catch (const cuda_error&) {  // a broken device sends nothing any more
      }
    }

    pinned_buffer<std::byte> memory;
    host_event used = host_event::without_time();  ///< behind the last copy from or to the memory
  };
  using lane = std::array<chunk, 2>;  // of one thread

  struct piece {
    std::size_t begin = 0;
    std::size_t bytes = 0;
  };

  /// Where in the array the next piece begins, whoever takes it.
  class cursor {
   public:
    cursor(std::size_t bytes, std::size_t piece_bytes) : bytes_(bytes), piece_bytes_(piece_bytes) {}
    /// Empty at the end.
    [[nodiscard]] piece take() {
      const std::size_t begin = begin_.fetch_add(piece_bytes_);
      if (begin >= bytes_) return {};
      return {begin, std::min(piece_bytes_, bytes_ - begin)};
    }
    void to_end() { begin_ = bytes_; }

   private:
    const std::size_t bytes_, piece_bytes_;
    std::atomic<std::size_t> begin_ = 0;
  };

  /// Calls work(lane, cursor) in as many threads as there are pieces for, and waits for them.
  template <class Work>
  void share_out(std::size_t bytes, const Work& work) {
    if (bytes == 0) return;
    const std::lock_guard alone(mutex_);
    const std::size_t pieces = (bytes - 1) / shape_.chunk_bytes + 1;
    const std::size_t workers = std::min<std::size_t>(pieces, shape_.threads);
    while (lanes_.size() < workers) {
      lanes_.push_back({chunk(shape_.chunk_bytes), chunk(shape_.chunk_bytes)});
    }
    int device = 0;
    check(cudaGetDevice(&device), "asking for the current device");

    cursor next(bytes, shape_.chunk_bytes);
    std::vector<std::exception_ptr> errors(workers);
    const auto run = [&](std::size_t worker) {
      try {
        make_current(device);
        work(lanes_[worker], next);
      } catch (...) {
        errors[worker] = std::current_exception();
        next.to_end();
      }
    };
    std::vector<std::thread> helpers;
    helpers.reserve(workers);
    try {
      for (std::size_t worker = 1; worker < workers; ++worker) helpers.emplace_back(run, worker);
    } catch (const std::system_error&) {  // no more threads: those that there are do all pieces
    }
    run(0);
    for (std::thread& helper : helpers) helper.join();
    for (const std::exception_ptr& error : errors) {
      if (error) std::rethrow_exception(error);
    }
  }

  /// A thread of the host begins with the first device.
  static void make_current([[maybe_unused]] int device) {
#if RAMIFY_ON_CUDA
    check(cudaSetDevice(device), "choosing the device");
#endif
  }

  const staging_shape shape_;
  std::mutex mutex_;  // of all that follows
  std::vector<lane> lanes_;
};

/// From this size on, pageable memory is staged: smaller copies are over before the threads that
/// would share them have begun. Beside an H200 8 MiB to be sorted take as long either way, and at 16
/// MiB staging is 1.3 times as fast.
inline constexpr std::size_t staged_from_bytes = std::size_t{8} << 20;

#if RAMIFY_ON_CUDA

/// The chunks of the current device, for no more threads than there are cores: 32 MiB of pinned memory
/// at most. They stay until the program ends: by then the driver may be gone, which is why nobody
/// frees them.
inline staging& staging_of_device() {
  static std::mutex mutex;
  static auto& of_device = *new std::map<int, staging>;
  int device = 0;
  check(cudaGetDevice(&device), "asking for the current device");
  staging_shape shape;
  shape.threads = std::clamp(std::thread::hardware_concurrency(), 1u, shape.threads);
  const std::lock_guard lock(mutex);
  return of_device.try_emplace(device, shape).first->second;
}

/// Whether a copy of this host memory, or other memory, is to be staged.
inline bool is_to_be_staged(const void* pointer, std::size_t bytes) {
  if (bytes < staged_from_bytes) return false;
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, pointer), "looking at a pointer");
  return attributes.type == cudaMemoryTypeUnregistered;
}

#endif

/// Copies `bytes` bytes of any memory to device memory; they must not overlap. What is put into
/// `stream` later comes after it. On return pageable memory has been read; of other memory the copy
/// may be under way. Pageable memory of staged_from_bytes or more is staged. On the CPU executor, a
/// plain copy. \throws cuda_error
inline void copy_to_device(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  if (bytes == 0) return;
#if RAMIFY_ON_CUDA
  if (is_to_be_staged(from, bytes)) {
    staging_of_device().upload(to, from, bytes, stream);
    return;
  }
#endif
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "copying to the device");
}

/// The same in the other direction, behind what is in `stream` already. On return pageable memory has
/// been written if it was staged; for others, and to be sure, wait for the stream. \throws cuda_error
inline void copy_to_host(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  if (bytes == 0) return;
#if RAMIFY_ON_CUDA
  if (is_to_be_staged(to, bytes)) {
    staging_of_device().download(to, from, bytes, stream);
    return;
  }
#endif
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "copying from the device");
}

}  // namespace ramify::inline RAMIFY_BUILD
