// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Streams and events, in kernels and on the host, as scoped objects.
///
/// | stream              | of         | its grids                                                |
/// |---------------------|------------|----------------------------------------------------------|
/// | null_stream()       | a block    | run one after another                                    |
/// | fire_and_forget()   | a grid     | run at once, in no order                                 |
/// | tail_launch()       | a grid     | run one after another once the grid and all its other    |
/// |                     |            | children are complete: the only way to wait for children |
/// | device_stream       | its maker  | run one after another, beside all other streams          |
///
/// A device stream or event means nothing outside the grid that made it: hand none to a child.

#include <ramify/runtime/check.cuh>
#include <ramify/runtime/report.hpp>
#include <utility>

namespace ramify::inline RAMIFY_BUILD {

__host__ __device__ inline cudaStream_t null_stream() { return nullptr; }
__device__ inline cudaStream_t fire_and_forget() { return cudaStreamFireAndForget; }
__device__ inline cudaStream_t tail_launch() { return cudaStreamTailLaunch; }

/// A named non-blocking stream, made and used in a kernel.
///
/// Made by one thread, for launches of any thread of its grid. At the end of the scope the handle
/// goes and the work in the stream goes on. If the device runtime has no stream to give, it is the
/// block's NULL stream, in which launches are still right, if slower. In a build without -rdc=true
/// there are no device streams, and nothing could be launched into one.
class device_stream {
 public:
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
    // The stream is only given back here; there is nothing to do about an error.
    if (made_) static_cast<void>(cudaStreamDestroy(stream_));
#endif
  }
  device_stream(const device_stream&) = delete;
  device_stream& operator=(const device_stream&) = delete;

  __device__ cudaStream_t get() const { return stream_; }
  /// What follows in this stream waits for the work before the event's last record.
  [[nodiscard]] __device__ cudaError_t wait(cudaEvent_t event) const {
    return cudaStreamWaitEvent(stream_, event, 0);
  }

 private:
  cudaStream_t stream_ = nullptr;
  bool made_ = false;
};

/// An event between device streams, made and used in a kernel. It orders; it has no time.
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

  __device__ explicit operator bool() const { return event_ != nullptr; }
  __device__ cudaEvent_t get() const { return event_; }
  /// Marks what has been put into `stream` so far.
  [[nodiscard]] __device__ cudaError_t record(const device_stream& stream) const {
    return cudaEventRecord(event_, stream.get());
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// A non-blocking stream of the host. Moved-from, it is empty and may only be assigned or
/// destroyed.
class host_stream {
 public:
  host_stream() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
  }
  ~host_stream() {
    if (stream_ != nullptr) static_cast<void>(cudaStreamDestroy(stream_));
  }
  host_stream(host_stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  host_stream& operator=(host_stream other) noexcept {
    std::swap(stream_, other.stream_);
    return *this;
  }

  [[nodiscard]] cudaStream_t get() const { return stream_; }
  /// Waits for all work in the stream.
  void synchronize() const { check(cudaStreamSynchronize(stream_), "waiting for a stream"); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Whether what is put into `stream` goes into a graph that is being captured. \throws cuda_error
[[nodiscard]] inline bool is_being_captured([[maybe_unused]] cudaStream_t stream) {
#if RAMIFY_ON_CUDA
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream, &status), "asking whether a stream is being captured");
  return status != cudaStreamCaptureStatusNone;
#else
  return false;
#endif
}

/// While it lives, this thread may do what a capture forbids, with what concerns no captured
/// stream, such as allocating memory that the process keeps.
class [[nodiscard]] relaxed_capture_scope {
 public:
#if RAMIFY_ON_CUDA
  relaxed_capture_scope() { exchange(); }
  ~relaxed_capture_scope() { exchange(); }
  relaxed_capture_scope(const relaxed_capture_scope&) = delete;
  relaxed_capture_scope& operator=(const relaxed_capture_scope&) = delete;

 private:
  void exchange() { static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
#else
  relaxed_capture_scope() {}
#endif
};

/// An event of the host: a mark in a stream, with a time. Moved-from as host_stream.
class host_event {
 public:
  host_event() : host_event(cudaEventDefault) {}
  /// One that only orders, which costs its stream less.
  [[nodiscard]] static host_event without_time() { return host_event(cudaEventDisableTiming); }
  ~host_event() {
    if (event_ != nullptr) static_cast<void>(cudaEventDestroy(event_));
  }
  host_event(host_event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  host_event& operator=(host_event other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }

  void record(cudaStream_t stream = nullptr) {
    check(cudaEventRecord(event_, stream), "recording an event");
  }
  /// Waits for the work before the last record.
  /// None if there was no record.
  void synchronize() const { check(cudaEventSynchronize(event_), "waiting for an event"); }
  /// Between the last records of `earlier` and this one, for both of which it waits.
  /// \throws cuda_error if either was not recorded or has no time
  [[nodiscard]] double milliseconds_since(const host_event& earlier) const {
    earlier.synchronize();
    synchronize();
    float ms = 0;
    check(cudaEventElapsedTime(&ms, earlier.event_, event_), "reading a time");
    return ms;
  }

 private:
  explicit host_event(unsigned flags) {
    check(cudaEventCreateWithFlags(&event_, flags), "making an event");
  }

  cudaEvent_t event_ = nullptr;
};

}  // namespace ramify::inline RAMIFY_BUILD
