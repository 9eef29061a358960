// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// facade_call: the stream, copies and times of a call of the facade.

#include <chrono>
#include <cstddef>
#include <ramify/runtime/environment.hpp>
#include <ramify/runtime/report.hpp>
#include <ramify/runtime/run_setup.cuh>
#include <ramify/runtime/staging.cuh>
#include <ramify/runtime/stream.cuh>

#include "facade/kernel_build.hpp"

namespace ramify::detail::facade::inline RAMIFY_BUILD {

/// The build of the kernels in this translation unit.
inline constexpr facade::build this_build = !RAMIFY_ON_CUDA ? facade::build::cpu
                                            : RAMIFY_TRACE  ? facade::build::cuda_traced
                                                            : facade::build::cuda;

/// One call of the facade: first its copies in, then its work, then its copies out.
class facade_call {
 public:
  /// A call in the stream of the environment.
  /// \throws std::invalid_argument if it is a stream of another backend
  explicit facade_call(const environment& env) : stream_(stream_of(env)) { begun_.record(stream_); }

  [[nodiscard]] cudaStream_t stream() const { return stream_; }

  /// Copies `bytes` bytes of the caller's memory to the device, in stream order.
  void copy_in(void* to, const void* from, std::size_t bytes) {
    copy_to_device(to, from, bytes, stream_);
    arrived_.record(stream_);
    has_copied_in_ = true;
  }
  /// Marks the end of the work: only copies out may follow.
  void begin_copies_out() {
    if (!is_copying_out_) worked_.record(stream_);
    is_copying_out_ = true;
  }
  /// Copies `bytes` bytes of device memory to the caller's memory, in stream order.
  void copy_out(void* to, const void* from, std::size_t bytes) {
    begin_copies_out();
    copy_to_host(to, from, bytes, stream_);
  }

  /// Waits for the stream and returns the times of the call. \throws cuda_error
  [[nodiscard]] run_times finish() {
    ended_.record(stream_);
    check(cudaStreamSynchronize(stream_), "waiting for the results");
    run_times times;
    if (has_copied_in_) times.copy_in_ms = arrived_.milliseconds_since(begun_);
    if (is_copying_out_) times.copy_out_ms = ended_.milliseconds_since(worked_);
    times.work_ms =
        (is_copying_out_ ? worked_ : ended_).milliseconds_since(has_copied_in_ ? arrived_ : begun_);
    const std::chrono::duration<double, std::milli> total =
        std::chrono::steady_clock::now() - host_begin_;
    times.total_ms = total.count();
    return times;
  }
  /// Copies `outputs` (on_device) to the caller's arrays, and waits for the stream. Returns
  /// `report` with the times of the call. \throws cuda_error
  template <class Report, class... Outputs>
  [[nodiscard]] Report finish(Report report, const Outputs&... outputs) {
    (outputs.copy_back(), ...);
    static_cast<run_times&>(report) = finish();
    return report;
  }

 private:
  std::chrono::steady_clock::time_point host_begin_ = std::chrono::steady_clock::now();
  cudaStream_t stream_;
  host_event begun_, arrived_, worked_, ended_;
  bool has_copied_in_ = false;
  bool is_copying_out_ = false;
};

}  // namespace ramify::detail::facade::inline RAMIFY_BUILD
