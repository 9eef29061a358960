// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Copies between pageable host memory and the device at the speed of the link between them.
///
/// The copy engine reads and writes only pinned memory. The driver copies pageable memory to pinned
/// memory on one core, several times slower than the link. Here several host threads do it. Each
/// thread has two pinned chunks. It copies a piece of the array into one chunk while the other
/// chunk is sent.
///
///     thread 0   pack a | pack c      | pack e      | ...
///     thread 1   pack b | pack d      | pack f      | ...
///     link              | send a, b   | send c, d   | ...
///
/// A copy to the host does the same in the reverse direction.
///
///     copy_to_device(keys_on_device, keys.data(), bytes, stream);
///     sort(keys_on_device, stream);                              // after the copy
///     copy_to_host(keys.data(), keys_on_device, bytes, stream);  // waits

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <future>
#include <mutex>
#include <new>
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

/// The chunk size and the number of threads of staged copies.
struct staging_shape {
  /// The size of a chunk in bytes. Small chunks fit in a core's caches and shorten the start and
  /// the end of a copy. In large ones the transfer takes longer than the driver call.
  std::size_t chunk_bytes = std::size_t{2} << 20;
  /// The maximum number of host threads of a copy, including the calling one. With an H200, 1, 2, 4
  /// and 8 threads copy 11, 20, 36 and 50 GB/s in each direction; PCIe 5 carries 55.
  unsigned threads = 8;
};

/// The pinned chunks of one device, two for each host thread.
///
/// A chunk is allocated at its first use and kept, at most 2 * threads * chunk_bytes in total. One
/// copy runs at a time; a copy that another thread of the program requests waits for it.
class staging {
 public:
  /// \throws std::invalid_argument naming the field
  explicit staging(const staging_shape& shape = {}) : shape_(shape) {
    if (shape.chunk_bytes == 0) throw std::invalid_argument("staging_shape.chunk_bytes is 0");
    if (shape.threads == 0) throw std::invalid_argument("staging_shape.threads is 0");
  }
  ~staging() {
    if (!detail::context_exists(context_)) return;
    for (const chunk_pair& pair : chunks_) {
      for (const chunk& c : pair) {
        try {
          c.used.synchronize();
        } catch (...) {  // a failed device does not access the chunk any more
        }
      }
    }
  }
  staging(const staging&) = delete;
  staging& operator=(const staging&) = delete;

  /// Copies host memory to the device. On return, `from` has been read. The copy completes before
  /// later work in `stream` begins. \throws cuda_error
  void upload(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
    auto* const target = static_cast<std::byte*>(to);
    const auto* const source = static_cast<const std::byte*>(from);
    // The handle of the per-thread default stream names another stream in each thread. What other
    // threads send there is not ordered with the stream of the calling thread, so it sends alone.
    const unsigned threads = is_per_thread(stream) ? 1 : shape_.threads;
    for_all_pieces(bytes, threads, [&](chunk_pair& chunks, cursor& next) {
      unsigned current = 0;
      for (piece p = next.take(); p.bytes > 0; p = next.take(), current ^= 1) {
        // 1. Wait until the previous piece in this chunk has been sent.
        chunks[current].used.synchronize();
        // 2. Pack, while the other chunk and those of the other threads are sent.
        std::memcpy(chunks[current].memory.data(), source + p.begin, p.bytes);
        // 3. Send.
        check(cudaMemcpyAsync(target + p.begin, chunks[current].memory.data(), p.bytes,
                              cudaMemcpyHostToDevice, stream),
              "sending a chunk to the device");
        chunks[current].used.record(stream);
      }
    });
  }

  /// Copies device memory to the host after the work that is in `stream`. Waits for both.
  /// \throws cuda_error
  void download(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
    // Before the lock is taken, so that other copies do not wait for the work of this stream.
    check(cudaStreamSynchronize(stream), "waiting for the work before a copy");
    auto* const target = static_cast<std::byte*>(to);
    const auto* const source = static_cast<const std::byte*>(from);
    // The work is complete, and each thread waits for its own copies. They may be in any stream.
    for_all_pieces(bytes, shape_.threads, [&](chunk_pair& chunks, cursor& next) {
      std::array<piece, 2> sent{};  // the pieces in the chunks that are not unpacked yet
      const auto unpack = [&](unsigned which) {
        chunks[which].used.synchronize();
        const piece p = std::exchange(sent[which], {});
        if (p.bytes > 0) std::memcpy(target + p.begin, chunks[which].memory.data(), p.bytes);
      };
      unsigned current = 0;
      for (piece p = next.take(); p.bytes > 0; p = next.take(), current ^= 1) {
        // 1. Unpack this chunk, while the other one is filled.
        unpack(current);
        // 2. Fill it again.
        check(cudaMemcpyAsync(chunks[current].memory.data(), source + p.begin, p.bytes,
                              cudaMemcpyDeviceToHost, stream),
              "sending a chunk to the host");
        chunks[current].used.record(stream);
        sent[current] = p;
      }
      unpack(current);
      unpack(current ^ 1);
    });
  }

 private:
  struct chunk {
    explicit chunk(std::size_t bytes) : memory(bytes) {}

    pinned_buffer<std::byte> memory;
    /// Recorded after the last copy from or to `memory`.
    host_event used = host_event::without_time();
  };
  using chunk_pair = std::array<chunk, 2>;  // of one thread

  struct piece {
    std::size_t begin = 0;
    std::size_t bytes = 0;
  };

  /// Distributes the pieces of an array to the threads.
  class cursor {
   public:
    cursor(std::size_t bytes, std::size_t piece_bytes) : bytes_(bytes), piece_bytes_(piece_bytes) {}
    /// Returns the next piece, or an empty one at the end of the array.
    [[nodiscard]] piece take() {
      const std::size_t begin = begin_.fetch_add(piece_bytes_);
      if (begin >= bytes_) return {};
      return {begin, std::min(piece_bytes_, bytes_ - begin)};
    }
    void skip_to_end() { begin_ = bytes_; }

   private:
    const std::size_t bytes_, piece_bytes_;
    std::atomic<std::size_t> begin_ = 0;
  };

  /// Returns whether `stream` is the per-thread default stream.
  [[nodiscard]] static bool is_per_thread([[maybe_unused]] cudaStream_t stream) {
#if RAMIFY_ON_CUDA
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM  // of nvcc -default-stream per-thread
    if (stream == nullptr) return true;
#endif
    return stream == cudaStreamPerThread;
#else
    return false;
#endif
  }

  /// Calls work(chunks, cursor) in at most `threads` threads, at most one for each piece, and waits
  /// for them. Throws the exception of the first thread that has one.
  template <class Work>
  void for_all_pieces(std::size_t bytes, unsigned threads, const Work& work) {
    if (bytes == 0) return;
    const std::lock_guard lock(mutex_);
    detail::require_context(context_, "staging");
    const std::size_t pieces = (bytes - 1) / shape_.chunk_bytes + 1;
    const std::size_t workers = std::min<std::size_t>(pieces, threads);
    while (chunks_.size() < workers) {
      chunks_.push_back({chunk(shape_.chunk_bytes), chunk(shape_.chunk_bytes)});
    }
    const int device = current_device();
    cursor next(bytes, shape_.chunk_bytes);
    const auto run = [&](std::size_t worker) {
      try {
        const device_scope here(device);  // a new thread starts with device 0
        work(chunks_[worker], next);
      } catch (...) {
        next.skip_to_end();
        throw;
      }
    };
    std::vector<std::future<void>> others;  // the destructor waits for the threads
    try {
      for (std::size_t worker = 1; worker < workers; ++worker) {
        others.push_back(std::async(std::launch::async, run, worker));
      }
    } catch (const std::system_error&) {  // the threads that could be created copy all pieces
    } catch (const std::bad_alloc&) {     // also without memory for another thread
    }
    run(0);
    for (std::future<void>& other : others) other.get();
  }

  const staging_shape shape_;
  const detail::context_id context_ = detail::current_context();
  std::mutex mutex_;  // guards chunks_
  std::vector<chunk_pair> chunks_;
};

/// The smallest copy of pageable memory that is staged. A smaller one would end before the threads
/// have started. With an H200, a sort of 8 MiB takes equally long with and without staging; at 16
/// MiB staging is 1.3 times as fast.
inline constexpr std::size_t min_staged_bytes = std::size_t{8} << 20;

#if RAMIFY_ON_CUDA

/// Returns the chunks of the current device, for at most one thread per core: at most 32 MiB of
/// pinned memory. They are not freed, because at the end of the program the driver may be unloaded
/// already, and cudaDeviceReset() frees them.
inline staging& staging_of_device() {
  static std::mutex mutex;
  static auto& of_context = *new std::map<detail::context_id, staging>;
  staging_shape shape;
  shape.threads = std::clamp(std::thread::hardware_concurrency(), 1u, shape.threads);
  const detail::context_id context = detail::current_context();
  const std::lock_guard lock(mutex);
  return of_context.try_emplace(context, shape).first->second;
}

/// Returns whether a copy from or to `pointer` is staged: the memory is pageable and large enough.
inline bool needs_staging(const void* pointer, std::size_t bytes) {
  if (bytes < min_staged_bytes) return false;
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, pointer), "querying the attributes of a pointer");
  return attributes.type == cudaMemoryTypeUnregistered;
}

#endif

/// Copies `bytes` bytes from any memory to device memory. The ranges must not overlap.
///
/// The copy completes before later work in `stream` begins. On return, pageable memory has been
/// read; a copy of other memory may be in progress. Pageable memory of min_staged_bytes or more is
/// staged. On the CPU executor it is a plain copy. \throws cuda_error
inline void copy_to_device(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  if (bytes == 0) return;
#if RAMIFY_ON_CUDA
  if (needs_staging(from, bytes)) {
    staging_of_device().upload(to, from, bytes, stream);
    return;
  }
#endif
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "copying to the device");
}

/// Copies `bytes` bytes from device memory to any memory, after the work that is in `stream`. The
/// ranges must not overlap.
///
/// On return, staged memory has been written. The caller must synchronize `stream` before it reads
/// any other memory. \throws cuda_error
inline void copy_to_host(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  if (bytes == 0) return;
#if RAMIFY_ON_CUDA
  if (needs_staging(to, bytes)) {
    staging_of_device().download(to, from, bytes, stream);
    return;
  }
#endif
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "copying from the device");
}

}  // namespace ramify::inline RAMIFY_BUILD
