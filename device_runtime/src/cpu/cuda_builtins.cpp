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

namespace ramify::cpu {

using namespace builtins;

cudaError_t submit(launch_request request, cudaStream_t stream,
                   std::span<const std::span<const std::byte>> arguments) {
  block* here = block::current();
  device& d = device::instance();
  if (here == nullptr) return d.launch_from_host(std::move(request), stream);

  here->last_error() = cudaSuccess;
  here->check_arguments(arguments);
  stream_state* const target = reserved(stream) ? nullptr : &resolve(*here, stream);
  const cudaError_t error =
      d.launch_from_block(*here, std::move(request), target, stream == cudaStreamTailLaunch);
  if (error == cudaSuccess) here->scheduling_point();
  return error;
}

void allow_shared(const void* kernel, std::size_t bytes) {
  device::instance().allow_shared(kernel, bytes);
}

void wait_for_team(unsigned threads, site s) { block::current()->team_barrier(threads, s); }

std::uint64_t device_time() {
  if (device::instance().order() == schedule::parallel) {
    return static_cast<std::uint64_t>(
        std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
  }
  static std::atomic<std::uint64_t> steps = 0;
  return ++steps;
}

std::byte* dynamic_shared_memory() { return block::current()->dynamic_shared(); }

const warp_values& warp_exchange(unsigned mask, std::uint64_t value, const char* builtin, site s) {
  return block::current()->exchange(mask, value, builtin, s);
}

unsigned lane_index() { return block::current()->linear_thread() % 32; }

void* heap_allocate(std::size_t bytes) { return device::instance().heap_allocate(bytes); }
void heap_free(void* memory) { device::instance().heap_free(memory); }

void report_ignored_failure(cudaError_t error, const void* kernel, site s) {
  const std::string what = "did not read the status of the launch of " + kernel_name(kernel) +
                           " at line " + std::to_string(s.line()) + ", which failed with " +
                           cudaGetErrorName(error);
  if (block* here = block::current()) here->violate(rule::ignored_launch_failure, what);
  throw rule_violation(rule::ignored_launch_failure, s.function_name(), "host", what);
}

namespace builtins {

// ---- barriers and votes ----

void __syncthreads(site s) { static_cast<void>(block::current()->barrier(s)); }

int __syncthreads_count(int predicate, site s) { return block::current()->barrier(s, predicate); }

int __syncthreads_and(int predicate, site s) {
  return block::current()->barrier(s, predicate == 0 ? 1 : 0) == 0 ? 1 : 0;
}

int __syncthreads_or(int predicate, site s) {
  return block::current()->barrier(s, predicate) != 0 ? 1 : 0;
}

void __syncwarp(unsigned mask, site s) {
  static_cast<void>(warp_exchange(mask, 0, "__syncwarp", s));
}

namespace {

unsigned ballot(unsigned mask, int predicate, const char* builtin, site s) {
  return warp_exchange(mask, predicate != 0 ? 1 : 0, builtin, s).not_zero;
}

}  // namespace

unsigned __ballot_sync(unsigned mask, int predicate, site s) {
  return ballot(mask, predicate, "__ballot_sync", s);
}

int __any_sync(unsigned mask, int predicate, site s) {
  return ballot(mask, predicate, "__any_sync", s) != 0 ? 1 : 0;
}

int __all_sync(unsigned mask, int predicate, site s) {
  return ballot(mask, predicate == 0 ? 1 : 0, "__all_sync", s) == 0 ? 1 : 0;
}

// ---- time ----

unsigned __activemask() { return 1u << lane_index(); }

long long clock64() { return static_cast<long long>(device_time()); }

void __nanosleep(unsigned) { std::this_thread::yield(); }

}  // namespace builtins
}  // namespace ramify::cpu
