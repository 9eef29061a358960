// SPDX-License-Identifier: BSD-3-Clause
#include <ramify/cpu/cuda_builtins.hpp>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "block.hpp"
#include "device.hpp"
#include "handles.hpp"

namespace ramify::cpu::inline RAMIFY_ABI {

using namespace builtins;

cudaError_t submit(const launch_request& request, cudaStream_t stream,
                   std::initializer_list<launch_argument> arguments) {
  block* here = block::current();
  device& d = device::instance();
  if (here == nullptr) return d.launch_from_host(request, arguments, stream);

  here->last_error() = cudaSuccess;
  here->check_arguments(arguments);
  stream_state* const target = reserved(stream) ? nullptr : &resolve(*here, stream);
  const launch_stream kind = stream == cudaStreamTailLaunch      ? launch_stream::tail
                             : stream == cudaStreamFireAndForget ? launch_stream::fire_and_forget
                             : stream == nullptr                 ? launch_stream::null
                                                                 : launch_stream::named;
  if (is_memory_weak()) publish_weak_writes();  // the child sees all writes before its launch
  const cudaError_t error = d.launch_from_block(*here, request, arguments, target, kind);
  if (error == cudaSuccess) here->scheduling_point();
  return error;
}

void check_arguments(std::initializer_list<launch_argument> arguments) {
  block::current()->check_arguments(arguments);
}

void allow_shared(const void* kernel, std::size_t bytes) {
  device::instance().allow_shared(kernel, bytes);
}

std::uint64_t device_time() {
  if (device::instance().order() == schedule::parallel) {
    return static_cast<std::uint64_t>(
        std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
  }
  static std::atomic<std::uint64_t> steps = 0;
  return ++steps;
}

unsigned lane_index() { return block::current()->linear_thread() % 32; }

void* heap_allocate(std::size_t bytes) { return device::instance().heap_allocate(bytes); }
void heap_free(void* memory) { static_cast<void>(device::instance().heap_free(memory)); }

void report_ignored_failure(cudaError_t error, const void* kernel, site s) {
  const std::string what = "did not read the status of the launch of " + kernel_name(kernel) +
                           " at line " + std::to_string(s.line()) + ", which failed with " +
                           cudaGetErrorName(error);
  if (block* here = block::current()) here->violate(rule::ignored_launch_failure, what);
  throw rule_violation(rule::ignored_launch_failure, s.function_name(), "host", what);
}

}  // namespace ramify::cpu::inline RAMIFY_ABI

namespace ramify::cpu::builtins::inline RAMIFY_ABI {

// Each thread is a fiber, so no other lane is active with it.
unsigned __activemask() { return 1u << lane_index(); }

long long clock64() { return static_cast<long long>(device_time()); }

void __nanosleep(unsigned) { std::this_thread::yield(); }

}  // namespace ramify::cpu::builtins::inline RAMIFY_ABI
