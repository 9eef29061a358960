// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Streams and events, in kernels and on the host, as scoped objects.
///
/// | stream              | belongs to  | its grids                                                |
/// |---------------------|-------------|----------------------------------------------------------|
/// | null_stream()       | the block   | run one after another                                    |
/// | fire_and_forget()   | the grid    | may run at once, in any order                            |
/// | tail_launch()       | the grid    | run one after another after the grid and all its other   |
/// |                     |             | children are complete: the only join with CDP2           |
/// | device_stream       | the grid    | run one after another, independent of all other streams  |
///
/// A device stream or event is valid only in the grid that created it and must not be passed to a
/// child. On a GPU, with -DRAMIFY_CHECK=1, device_stream and device_event check that the running
/// grid created them. The CPU executor checks each use of a stream or event.

#include <ramify/runtime/check.cuh>
#include <ramify/runtime/device_context.cuh>
#include <ramify/runtime/report.hpp>
#include <ramify/runtime/rule_checks.cuh>
#include <stdexcept>
#include <string>

namespace ramify::inline RAMIFY_BUILD {

/// Returns the NULL stream: the block's own in a kernel, the default stream on the host.
__host__ __device__ inline cudaStream_t null_stream() { return nullptr; }
/// Returns the fire-and-forget stream of the running grid.
__device__ inline cudaStream_t fire_and_forget() { return cudaStreamFireAndForget; }
/// Returns the tail-launch stream of the running grid.
__device__ inline cudaStream_t tail_launch() { return cudaStreamTailLaunch; }

/// A non-blocking stream that a kernel creates, or the fire-and-forget stream of the grid, as
/// `child_streams` selects.
///
/// One thread constructs it; all threads of the grid may launch into it. The destructor destroys
/// the handle, and the work in the stream continues. If the device runtime cannot create a stream,
/// get() returns the block's NULL stream, where launches are correct but slower. In a build without
/// -rdc=true it creates no stream.
class device_stream {
 public:
  /// Creates a stream of this kind for launches of the calling block.
  __device__ explicit device_stream([[maybe_unused]] child_streams kind = child_streams::named) {
#if RAMIFY_DEVICE_LAUNCH
    if (kind == child_streams::fire_and_forget) {
      stream_ = cudaStreamFireAndForget;
    } else {
      made_ = cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking) == cudaSuccess;
      if (!made_) stream_ = nullptr;
    }
#endif
  }
  __device__ ~device_stream() noexcept(RAMIFY_ON_CUDA) {  // the rule checker throws
#if RAMIFY_DEVICE_LAUNCH
    // A destructor cannot report an error.
    if (made_) static_cast<void>(cudaStreamDestroy(stream_));
#endif
  }
  device_stream(const device_stream&) = delete;
  device_stream& operator=(const device_stream&) = delete;

  /// Returns the handle, for launch().
  __device__ cudaStream_t get(const char* function = __builtin_FUNCTION()) const {
    return is_ours(function) ? stream_ : nullptr;
  }
  /// Makes later work in this stream wait for the work before the last record of `event`.
  [[nodiscard]] __device__ cudaError_t wait(cudaEvent_t event,
                                            const char* function = __builtin_FUNCTION()) const {
    return is_ours(function) ? cudaStreamWaitEvent(stream_, event, 0) : cudaErrorNotPermitted;
  }
  /// Returns whether `function`, which runs now, may use the stream; see check_rules().
  __device__ bool is_ours(const char* function) const {
    return !made_ || creator_.is_running(detail::broken_rule::uses_foreign_stream, function);
  }

 private:
  [[no_unique_address]] detail::handle_creator creator_;
  cudaStream_t stream_ = nullptr;
  bool made_ = false;
};

/// An event that a kernel creates to order device streams. It has no time.
class device_event {
 public:
  __device__ device_event() {
    if (cudaEventCreateWithFlags(&event_, cudaEventDisableTiming) != cudaSuccess) event_ = nullptr;
  }
  __device__ ~device_event() noexcept(RAMIFY_ON_CUDA) {
    if (event_ != nullptr) static_cast<void>(cudaEventDestroy(event_));
  }
  device_event(const device_event&) = delete;
  device_event& operator=(const device_event&) = delete;

  /// True if the device runtime could create the event.
  __device__ explicit operator bool() const { return event_ != nullptr; }
  /// Returns the handle, for device_stream::wait(); null if the event was not created.
  __device__ cudaEvent_t get(const char* function = __builtin_FUNCTION()) const {
    return is_ours(function) ? event_ : nullptr;
  }
  /// Records the event after the current work in `stream`.
  [[nodiscard]] __device__ cudaError_t record(const device_stream& stream,
                                              const char* function = __builtin_FUNCTION()) const {
    if (!is_ours(function) || !stream.is_ours(function)) return cudaErrorNotPermitted;
    return cudaEventRecord(event_, stream.get(function));
  }

 private:
  __device__ bool is_ours(const char* function) const {
    return creator_.is_running(detail::broken_rule::uses_foreign_event, function);
  }

  [[no_unique_address]] detail::handle_creator creator_;
  cudaEvent_t event_ = nullptr;
};

/// An owning, move-only non-blocking stream of the host. The destructor does not wait for the work
/// in the stream. A moved-from stream is empty and may only be assigned or destroyed.
class host_stream {
 public:
  /// Creates a stream on the current device. \throws cuda_error
  host_stream() {
    stream_.get_deleter() = {detail::current_context()};
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
    stream_.reset(stream);
  }

  /// Creates a stream of the highest priority: the blocks of its grids begin before those of a grid
  /// in another stream that has blocks to begin, too. \throws cuda_error
  [[nodiscard]] static host_stream of_highest_priority() {
    host_stream made(nullptr);
#if RAMIFY_ON_CUDA
    int lowest = 0;
    int highest = 0;
    check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "reading the priorities of streams");
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, highest),
          "creating a stream");
    made.stream_.reset(stream);
#else
    made = host_stream();  // the executor has no priorities
#endif
    return made;
  }

  [[nodiscard]] cudaStream_t get() const { return stream_.get(); }  ///< Returns the stream.
  /// Waits for all work in the stream. \throws cuda_error
  void synchronize() const { check(cudaStreamSynchronize(get()), "waiting for a stream"); }

 private:
  explicit host_stream(std::nullptr_t) { stream_.get_deleter() = {detail::current_context()}; }

  detail::unique_handle<cudaStream_t, cudaStreamDestroy> stream_;
};

/// Returns whether `stream` is being captured into a graph. \throws cuda_error
[[nodiscard]] inline bool is_being_captured([[maybe_unused]] cudaStream_t stream) {
#if RAMIFY_ON_CUDA
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream, &status), "querying whether a stream is being captured");
  return status != cudaStreamCaptureStatusNone;
#else
  return false;
#endif
}

/// An owning, move-only event of the host, with a time. A moved-from event is empty and may only be
/// assigned or destroyed.
class host_event {
 public:
  /// Creates an event with a time. \throws cuda_error
  host_event() : host_event(cudaEventDefault) {}
  /// Creates an event without a time, which is cheaper to record. \throws cuda_error
  [[nodiscard]] static host_event without_time() { return host_event(cudaEventDisableTiming); }

  /// Records the event after the current work in `stream`. \throws cuda_error
  void record(cudaStream_t stream = nullptr) {
    check(cudaEventRecord(event_.get(), stream), "recording an event");
  }
  /// Waits for the work before the last record; returns at once if there was no record.
  /// \throws cuda_error
  void synchronize() const { check(cudaEventSynchronize(event_.get()), "waiting for an event"); }
  /// Makes later work in `stream` wait for the work before the last record, if there was one.
  /// \throws cuda_error
  void block(cudaStream_t stream) const {
    check(cudaStreamWaitEvent(stream, event_.get(), 0), "letting a stream wait for an event");
  }
  /// Returns the milliseconds between the last records of `earlier` and of this event. Waits for
  /// both.
  /// \throws cuda_error if either event was not recorded or has no time
  [[nodiscard]] double milliseconds_since(const host_event& earlier) const {
    earlier.synchronize();
    synchronize();
    float ms = 0;
    check(cudaEventElapsedTime(&ms, earlier.event_.get(), event_.get()),
          "reading the time between two events");
    return ms;
  }

 private:
  explicit host_event(unsigned flags) {
    event_.get_deleter() = {detail::current_context()};
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, flags), "creating an event");
    event_.reset(event);
  }

  detail::unique_handle<cudaEvent_t, cudaEventDestroy> event_;
};

}  // namespace ramify::inline RAMIFY_BUILD

namespace ramify::detail::runtime::inline RAMIFY_BUILD {

/// Checks that `stream` is not being captured. `algorithm` begins the message, if it is not null.
/// \throws std::logic_error if it is; cuda_error
inline void require_not_captured(cudaStream_t stream, const char* algorithm = nullptr) {
  if (!is_being_captured(stream)) return;
  throw std::logic_error(
      (algorithm == nullptr ? std::string() : std::string(algorithm) + ": ") +
      "the stream is being captured: end the capture and launch the graph before get()");
}

}  // namespace ramify::detail::runtime::inline RAMIFY_BUILD
