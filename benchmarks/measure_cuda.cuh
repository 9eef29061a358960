// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The GPU, times of work on it by the host's clock, and vectors to and from it.

#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <ramify/runtime/buffer.cuh>
#include <sstream>
#include <string>
#include <vector>

#include "measure.hpp"

namespace benchmark {

/// What nvidia-smi tells about the current device for a list of its properties; "unknown" for each
/// that cannot be had.
inline std::vector<std::string> ask_nvidia_smi(const std::vector<std::string>& properties) {
  std::vector<std::string> answers(properties.size(), "unknown");
  int device = 0;
  std::array<char, 32> bus{};
  ramify::check(cudaGetDevice(&device), "asking for the current device");
  ramify::check(cudaDeviceGetPCIBusId(bus.data(), bus.size(), device), "asking for its bus");
  std::string command = std::string("nvidia-smi --format=csv,noheader,nounits --id=") + bus.data();
  for (const std::string& p : properties) {
    command += (&p == &properties.front() ? " --query-gpu=" : ",") + p;
  }
  const auto close = [](FILE* pipe) { static_cast<void>(pclose(pipe)); };
  const std::unique_ptr<FILE, decltype(close)> pipe(popen((command + " 2>&1").c_str(), "r"), close);
  std::array<char, 512> line{};
  if (pipe == nullptr || std::fgets(line.data(), line.size(), pipe.get()) == nullptr) {
    return answers;
  }
  std::vector<std::string> words;
  std::istringstream text(line.data());
  for (std::string word; std::getline(text >> std::ws, word, ',');) words.push_back(word);
  if (words.size() != properties.size()) return answers;  // a complaint
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i].erase(words[i].find_last_not_of(" \r\n") + 1);
    if (!words[i].empty() && words[i].front() != '[') answers[i] = words[i];  // "[N/A]"
  }
  return answers;
}

/// The current device, its driver and its clocks. Makes a context, which wakes the clocks up.
inline facts this_gpu() {
  int device = 0;
  int runtime = 0;
  cudaDeviceProp properties{};
  ramify::check(cudaFree(nullptr), "waking the device up");
  ramify::check(cudaGetDevice(&device), "asking for the current device");
  ramify::check(cudaGetDeviceProperties(&properties, device), "asking for the device");
  ramify::check(cudaRuntimeGetVersion(&runtime), "asking for the runtime");
  const auto told = ask_nvidia_smi(
      {"driver_version", "clocks.sm", "clocks.max.sm", "clocks.mem", "clocks.max.mem"});
  return {
      {"GPU", properties.name},
      {"SMs", properties.multiProcessorCount},
      {"driver", told[0]},
      {"CUDA runtime", std::to_string(runtime / 1000) + "." + std::to_string(runtime % 1000 / 10)},
      {"SM clock, MHz", told[1]},
      {"SM clock at most, MHz", told[2]},
      {"memory clock, MHz", told[3]},
      {"memory clock at most, MHz", told[4]}};
}

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
