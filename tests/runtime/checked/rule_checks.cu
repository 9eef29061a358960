// SPDX-License-Identifier: BSD-3-Clause
// Kernels that follow or break one rule of dynamic parallelism. For a GPU the program is compiled
// with -DRAMIFY_CHECK=1. The file <case>.txt contains the expected output.
//
//   rule_checks <case>
#include <functional>
#include <iostream>
#include <map>
#include <new>
#include <ramify/runtime/check.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/stream.cuh>
#include <string>

#include "device_vectors.cuh"

using namespace ramify;

static_assert(rules_are_checked);

struct wrapped_pointer {
  long tag;
  int* target;
};
struct padded {
  int* target;
  char tag;
};

__global__ void write_through(int* target) { atomicAdd(target, 1); }
__global__ void write_through_wrapped(wrapped_pointer w) { atomicAdd(w.target, 1); }
__global__ void write_through_padded(padded p) { atomicAdd(p.target, 1); }
__global__ void nothing() {}
__global__ void take_numbers(const float*, double, unsigned long long, void (*)(), cudaStream_t) {}

// Passes all kinds of arguments that are allowed. Each child adds 1 to *target.
__global__ void passes_what_is_allowed(int* target) {
  const device_stream mine;
  const device_event recorded;
  bool good = bool(launch(write_through, {1, 1}, mine.get(), target));
  good = good && recorded.record(mine) == cudaSuccess;
  good = good && mine.wait(recorded.get()) == cudaSuccess;
  good = good && launch(write_through, {1, 1}, null_stream(), target);
  good = good &&
         launch(write_through_wrapped, {1, 1}, fire_and_forget(), wrapped_pointer{~0l, target});
  good = good && launch(write_through_padded, {1, 1}, tail_launch(), padded{target, 'a'});
  good = good && launch(take_numbers, {1, 1}, fire_and_forget(), nullptr, -1.0, ~0ull, nullptr,
                        fire_and_forget());
  const auto fails = launch(nothing, {1, 2000}, fire_and_forget());
  if (!good || fails.code() != cudaErrorInvalidConfiguration) atomicAdd(target, 100);
}

// nvcc refuses to compile the address of a local variable as an argument where it recognizes it.
__device__ __noinline__ int* hidden(int* pointer) { return pointer; }

// The last thread of the last block breaks the rule.
__global__ void passes_local(int*) {
  int mine = 0;
  if (blockIdx.x != 1 || threadIdx.x != 31) return;
  if (!launch(write_through, {1, 1}, fire_and_forget(), hidden(&mine))) mine = -1;
}
__global__ void passes_shared(int*) {
  __shared__ int mine;
  if (blockIdx.x != 1 || threadIdx.x != 31) return;
  if (!launch(write_through, {1, 1}, fire_and_forget(), &mine)) mine = -1;
}
__global__ void passes_shared_in_struct(int*) {
  __shared__ int mine;
  if (blockIdx.x != 1 || threadIdx.x != 31) return;
  const wrapped_pointer w{7, &mine};
  if (!launch(write_through_wrapped, {1, 1}, fire_and_forget(), w)) mine = -1;
}

__global__ void launches_into(cudaStream_t stream) {
  if (auto s = launch(nothing, {1, 1}, stream); !s) return;
}
__global__ void passes_its_stream(int*) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  const device_stream mine;
  if (auto s = launch(launches_into, {1, 1}, fire_and_forget(), mine.get()); !s) return;
}
__global__ void waits_for(cudaEvent_t event) {
  const device_stream mine;
  static_cast<void>(mine.wait(event));
}
__global__ void passes_its_event(int*) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  const device_event mine;
  if (auto s = launch(waits_for, {1, 1}, fire_and_forget(), mine.get()); !s) return;
}

// A stream and an event in memory that parent and child share.
__device__ alignas(device_stream) unsigned char stream_memory[sizeof(device_stream)];
__device__ alignas(device_event) unsigned char event_memory[sizeof(device_event)];

__global__ void uses_stream_of_parent() {
  const auto& stream = *reinterpret_cast<device_stream*>(stream_memory);
  if (auto s = launch(nothing, {1, 1}, stream.get()); !s) return;
}
__global__ void leaves_its_stream(int*) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  new (stream_memory) device_stream;
  if (auto s = launch(uses_stream_of_parent, {1, 1}, fire_and_forget()); !s) return;
}
__global__ void uses_event_of_parent() {
  const device_stream mine;
  static_cast<void>(reinterpret_cast<device_event*>(event_memory)->record(mine));
}
__global__ void leaves_its_event(int*) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  new (event_memory) device_event;
  if (auto s = launch(uses_event_of_parent, {1, 1}, fire_and_forget()); !s) return;
}

__global__ void ignores_failure(int*) {
  if (blockIdx.x != 1 || threadIdx.x != 31) return;
  static_cast<void>(launch(nothing, {1, 2000}, fire_and_forget()));
}

namespace {

using case_function = std::function<void(int*)>;

case_function grid_of(void (*kernel)(int*), dim3 blocks = 2, dim3 threads = 32) {
  return [=](int* target) {
    check(launch(kernel, {blocks, threads}, nullptr, target).code(), "launching");
  };
}

const std::map<std::string, case_function> cases{
    {"allowed", grid_of(passes_what_is_allowed, 1, 1)},
    {"local", grid_of(passes_local)},
    {"shared", grid_of(passes_shared)},
    {"shared_in_struct", grid_of(passes_shared_in_struct)},
    {"passed_stream", grid_of(passes_its_stream)},
    {"passed_event", grid_of(passes_its_event)},
    {"stream_of_parent", grid_of(leaves_its_stream)},
    {"event_of_parent", grid_of(leaves_its_event)},
    {"ignored", grid_of(ignores_failure)},
    {"ignored_by_host",
     [](int*) {
       static_cast<void>(launch(nothing, {1, 2000}, null_stream()));
     }},
};

/// Returns whether the CUDA calls of the host work again after the grids of a case.
bool host_works() {
  const auto memory = tests::zeros<int>(1);
  check(launch(write_through, {1, 1}, nullptr, memory.data()).code(), "launching");
  check_rules();
  return tests::download(memory)[0] == 1;
}

}  // namespace

int main(int count, char** arguments) {
  const auto chosen = count == 2 ? cases.find(arguments[1]) : cases.end();
  if (chosen == cases.end()) {
    std::cerr << "usage: rule_checks <case>\n";
    return 2;
  }
#if RAMIFY_ON_CUDA
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::cout << "skipped: there is no CUDA device\n";
    return 77;
  }
#endif
  try {
    const auto memory = tests::zeros<int>(1);
    chosen->second(memory.data());
    check_rules();
    std::cout << "children that ran: " << tests::download(memory)[0] << '\n';
  } catch (const std::logic_error& broken_rule) {
    std::cout << broken_rule.what() << '\n';
  }
  std::cout << (host_works() ? "the host's calls work\n" : "the host's calls do not work\n");
}
