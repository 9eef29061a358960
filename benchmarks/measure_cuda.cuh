// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// Times of work on a GPU, by the device's events or by the host's clock, and vectors to and from it.

#include <chrono>
#include <ramify/runtime/buffer.cuh>
#include <vector>

#include "measure.hpp"

namespace benchmark {

/// A mark in the NULL stream, with a time.
class event {
 public:
  event() { ramify::check(cudaEventCreate(&event_), "making an event"); }
  ~event() { static_cast<void>(cudaEventDestroy(event_)); }
  event(const event&) = delete;
  event& operator=(const event&) = delete;
  void record() { ramify::check(cudaEventRecord(event_), "recording an event"); }
  [[nodiscard]] double milliseconds_since(const event& begin) const {
    float ms = 0;
    ramify::check(cudaEventSynchronize(event_), "waiting for an event");
    ramify::check(cudaEventElapsedTime(&ms, begin.event_, event_), "reading a time");
    return ms;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// The median of some calls by the host's clock, until the device is done; the first two warm up.
template <class Call>
timing host_time_of(int repeats, Call call) {
  std::vector<double> times;
  for (int i = -2; i < repeats; ++i) {
    ramify::check(cudaDeviceSynchronize(), "waiting for the device");
    const auto begin = std::chrono::steady_clock::now();
    call();
    ramify::check(cudaDeviceSynchronize(), "waiting for the device");
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    if (i >= 0) times.push_back(took.count());
  }
  return summarize(times);
}

template <class T>
ramify::device_buffer<T> upload(const std::vector<T>& host) {
  ramify::device_buffer<T> buffer(host.size(), nullptr);
  ramify::check(
      cudaMemcpy(buffer.data(), host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice),
      "uploading");
  return buffer;
}

template <class T>
std::vector<T> download(const T* data, std::size_t n) {
  std::vector<T> host(n);
  ramify::check(cudaMemcpy(host.data(), data, n * sizeof(T), cudaMemcpyDeviceToHost),
                "downloading");
  return host;
}

}  // namespace benchmark
