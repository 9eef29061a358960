// SPDX-License-Identifier: BSD-3-Clause
// The executor without threads, without memory, with a full stack, and with endless recursion. In
// each case a launch must run to its end or report an error. A crash and a hang fail the test.
// Also what the environment selects: the depth, the memory, and a trace of the process.
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dlfcn.h>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <iostream>
#include <map>
#include <new>
#include <ramify/cpu/executor.hpp>
#include <ramify/cpu/grid_log.hpp>
#include <ramify/runtime/buffer.cuh>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/shared.cuh>
#include <ramify/runtime/stream.cuh>
#include <string>
#include <tuple>

using namespace ramify;

// ---- the faults: pthread_create() and operator new of this program can fail ----

namespace {

std::atomic<bool> no_threads{false};
std::atomic<long> allocations_left{-1};  // the allocation after so many ones fails; -1: none fails

bool allocation_fails() {
  return allocations_left.load() >= 0 && allocations_left.fetch_sub(1) == 0;
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (allocation_fails()) return nullptr;
  return std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
}

}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*start)(void*), void* argument) {
  if (no_threads) return EAGAIN;
  using function = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static auto* const real = reinterpret_cast<function*>(dlsym(RTLD_NEXT, "pthread_create"));
  return real(thread, attributes, start, argument);
}

void* operator new(std::size_t bytes) {
  if (void* const memory = allocate(bytes, alignof(std::max_align_t))) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  return allocate(bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t bytes, std::align_val_t alignment,
                   const std::nothrow_t& /*tag*/) noexcept {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*bytes*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept { std::free(memory); }

// ---- kernels ----

// A tree of grids: two children without an order, one in a named stream and one tail launch.
__global__ void visit(int levels, unsigned* visited, unsigned* refused) {
  __syncthreads();
  if (threadIdx.x != 0) return;
  atomicAdd(visited, 1u);
  if (levels == 0) return;
  const auto child = [&](cudaStream_t stream) {
    if (!launch(visit, {2, 32}, stream, levels - 1, visited, refused)) atomicAdd(refused, 1u);
  };
  child(fire_and_forget());
  child(null_stream());
  child(tail_launch());
  cudaStream_t named = nullptr;
  if (cudaStreamCreateWithFlags(&named, cudaStreamNonBlocking) != cudaSuccess) return;
  child(named);
  static_cast<void>(cudaStreamDestroy(named));
}

__global__ void nothing() {}

__global__ void allocates(int** numbers) {
  *numbers = static_cast<int*>(device_malloc(100 * sizeof(int)));
  for (int i = 0; i < 100; ++i) (*numbers)[i] = 1;
}
__global__ void adds_and_frees(int* numbers, int* sum) {
  for (int i = 0; i < 100; ++i) *sum += numbers[i];
  device_free(numbers);
}

__global__ void launches_itself(unsigned* grids) {
  ++*grids;
  if (!launch(launches_itself, {1, 1}, tail_launch(), grids)) *grids = 0;
}

__global__ void uses_much_stack(char* out, std::size_t last) {
  volatile char local[250'000];
  for (std::size_t i = 0; i <= last; ++i) local[i] = char(i);
  *out = local[last];
}

namespace {

constexpr const char* schedules[] = {"parallel", "parallel:4", "eager", "late", "random:1"};
constexpr unsigned grids = 1 + 8 + 64 + 512;  // two blocks per grid, four children per block
constexpr unsigned blocks = 2 * grids;

enum class outcome { complete, reported, wrong };

/// Runs a tree of grids and prints the error if the executor reports one.
outcome run_tree() {
  unsigned visited = 0;
  unsigned refused = 0;
  try {
    const auto status = launch(visit, {2, 32}, nullptr, 3, &visited, &refused);
    if (status && visited == blocks && refused == 0) return outcome::complete;
    std::cerr << "status " << status.code() << ", " << visited << " blocks, " << refused
              << " failed launches\n";
    return outcome::wrong;
  } catch (const std::bad_alloc&) {
    return outcome::reported;
  }
}

/// Runs `body` in a process of its own and returns its wait status. A hang ends with SIGALRM.
int status_of_process(const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork() failed");
  if (child == 0) {
    alarm(120);
    _exit(body() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

bool expect_good(const std::string& what, const std::function<bool()>& body) {
  const int status = status_of_process(body);
  if (status == 0) return true;
  std::cerr << what << ": "
            << (WIFSIGNALED(status) ? "ended by signal " + std::to_string(WTERMSIG(status))
                                    : "wrong result")
            << '\n';
  return false;
}

/// No thread can be created. Each schedule then runs all blocks on the calling thread.
bool test_threads() {
  bool good = true;
  for (const std::string schedule : schedules) {
    good &= expect_good("no threads, " + schedule, [&] {
      const cpu::scoped_executor_config config(cpu::parse_executor_config(schedule));
      no_threads = true;
      const outcome without = run_tree();
      no_threads = false;
      return without == outcome::complete && run_tree() == outcome::complete;
    });
    // Some threads can be created. The run continues with them.
    good &= expect_good("few threads, " + schedule, [&] {
      const cpu::scoped_executor_config config(cpu::parse_executor_config(schedule));
      const bool began = bool(launch(nothing, {1, 1}, nullptr));
      no_threads = true;
      return began && run_tree() == outcome::complete;
    });
  }
  return good;
}

/// Each allocation of a run fails once. The executor must report it and run the next launch.
bool test_allocations() {
  bool good = true;
  for (const std::string schedule : schedules) {
    good &= expect_good("an allocation fails, " + schedule, [&] {
      const cpu::scoped_executor_config config(cpu::parse_executor_config(schedule));
      int reported = 0;
      // Each of the first 200 allocations fails once, then every 97th one.
      for (long failing = 0; failing < 20'000; failing += failing < 200 ? 1 : 97) {
        allocations_left = failing;
        const outcome result = run_tree();
        const bool failed = allocations_left < 0;
        allocations_left = -1;
        if (result == outcome::wrong) return false;
        if (result == outcome::reported) ++reported;
        if (!failed) break;
      }
      return reported > 100 && run_tree() == outcome::complete;
    });
  }
  return good;
}

std::size_t address_space() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// Runs trees of grids in processes that may map only a few more megabytes.
bool test_address_space() {
  bool good = true;
  int reported = 0;
  for (const std::string schedule : schedules) {
    for (std::size_t kilobytes = 0; kilobytes < 64 << 10; kilobytes += 64 + kilobytes / 4) {
      const std::string what = std::to_string(kilobytes) + " KiB, " + schedule;
      const int status = status_of_process([&] {
        const cpu::scoped_executor_config config(cpu::parse_executor_config(schedule));
        const rlim_t bytes = address_space() + kilobytes * 1024;
        const rlimit limit{bytes, bytes};
        setrlimit(RLIMIT_AS, &limit);
        const outcome result = run_tree();
        _exit(result == outcome::complete ? 0 : result == outcome::reported ? 2 : 1);
        return false;
      });
      if (WIFEXITED(status) && WEXITSTATUS(status) == 2) {
        ++reported;
      } else if (status != 0) {
        std::cerr << what << ": status " << status << '\n';
        good = false;
      }
    }
  }
  return good && reported > 0;
}

/// Runs `body` in a process of its own, which must end by SIGSEGV with a message that has all
/// `parts`.
bool expect_fault(const std::function<bool()>& body, std::initializer_list<const char*> parts) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  const int status = status_of_process([&] {
    dup2(ends[1], STDERR_FILENO);
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    return body();
  });
  close(ends[1]);
  std::string message(4096, '\0');
  const auto size = read(ends[0], message.data(), message.size());
  message.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  close(ends[0]);
  std::cout << message;
  bool good = WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
  for (const char* part : parts) {
    if (message.find(part) == std::string::npos) {
      std::cerr << "the message does not contain '" << part << "'\n";
      good = false;
    }
  }
  return good;
}

/// Checks that the message of a stack overflow names the kernel, the thread and the size.
bool test_stack() {
  const auto overflow = [] {
    char out = 0;
    static_cast<void>(bool(launch(uses_much_stack, {1, 1}, nullptr, &out, std::size_t{249'999})));
    return true;
  };
  return expect_fault(overflow, {"stack overflow", "uses_much_stack(char*, unsigned long)",
                                 "block (0,0,0), thread (0,0,0)", "131072 bytes", "stack_bytes"});
}

/// The host must not access the memory that a kernel allocates. A later kernel may. No access is
/// possible after a reset of the device, or after launches of which an allocation failed, as that
/// for the log of grids.
bool test_heap() {
  const auto run = [](bool host_reads) {
    int* numbers = nullptr;
    int sum = 0;
    bool good = bool(launch(allocates, {1, 1}, nullptr, &numbers)) && numbers != nullptr;
    if (host_reads) sum = numbers[0];
    good = good && bool(launch(adds_and_frees, {1, 1}, nullptr, numbers, &sum)) && sum == 100;
    // A copy by the host is an error, also after the memory was freed.
    return good &&
           cudaMemcpy(&sum, numbers, sizeof sum, cudaMemcpyDefault) == cudaErrorInvalidValue;
  };
  const char* const message = "the host accesses memory that malloc() in a kernel returned";
  bool good = true;
  for (const std::string schedule : schedules) {
    const cpu::scoped_executor_config config(cpu::parse_executor_config(schedule));
    good &= expect_good("memory of kernels, " + schedule, [&] { return run(false); });
    good &= expect_fault([&] { return run(true); }, {message});
  }
  for (const bool reset : {true, false}) {
    const auto read = [&] {
      int* numbers = nullptr;
      if (!launch(allocates, {1, 1}, nullptr, &numbers)) return false;
      for (long failing = -1; failing < (reset ? 0 : 10); ++failing) {
        const cpu::grid_log log;
        allocations_left = failing;
        static_cast<void>(run_tree());
        allocations_left = -1;
      }
      return (!reset || cudaDeviceReset() == cudaSuccess) && *numbers == 1;
    };
    good &= expect_fault(read, {message});
  }
  return good;
}

/// RAMIFY_CPU_MAX_DEPTH, which the test sets to 50, ends a recursion without an end.
bool test_depth() {
  unsigned grids = 0;
  try {
    static_cast<void>(bool(launch(launches_itself, {1, 1}, nullptr, &grids)));
  } catch (const cpu::rule_violation& error) {
    std::cout << error.what() << '\n';
    return error.broken() == cpu::rule::endless_recursion && grids == 51 &&
           std::string(error.what()).find("RAMIFY_CPU_MAX_DEPTH) is 50") != std::string::npos;
  }
  return false;
}

/// RAMIFY_CPU_MEMORY, which the test sets to device, selects the memory that kernels may access.
bool test_memory() {
  const float host = 1;
  try {
    check_device_access(&host, "keys");
  } catch (const std::invalid_argument& error) {
    std::cout << error.what() << '\n';
    if (std::string(error.what()).find("keys is ordinary host memory") != 0) return false;
    auto config = cpu::current_executor_config();
    config.refuse_host_memory = false;
    const cpu::scoped_executor_config any(config);
    check_device_access(&host, "keys");
    return true;
  }
  return false;
}

/// Returns the content of a file that a process writes whose RAMIFY_CPU_TRACE names it: the process
/// launches a chain of three grids, and ends by `end`. Removes the file.
std::string trace_of_process(const std::string& file, const std::function<void()>& end) {
  const int status = status_of_process([&] {
    setenv("RAMIFY_CPU_TRACE", file.c_str(), 1);
    unsigned grids = 0;
    try {
      const cpu::scoped_executor_config late({.order = cpu::schedule::late, .max_depth = 2});
      static_cast<void>(bool(launch(launches_itself, {1, 1}, nullptr, &grids)));
    } catch (const cpu::rule_violation&) {  // the fourth grid exceeds the depth
      end();
    } catch (const std::invalid_argument& error) {
      _exit(std::string(error.what()).find("RAMIFY_CPU_TRACE: trace file") == 0 ? 7 : 1);
    }
    return false;
  });
  std::ifstream in(file);
  const std::string content{std::istreambuf_iterator<char>(in), {}};
  std::remove(file.c_str());
  return std::to_string(WEXITSTATUS(status)) + ' ' + content;
}

/// RAMIFY_CPU_TRACE names a file for the launch tree of the process.
bool test_trace() {
  const std::string file = "executor_faults." + std::to_string(getpid()) + ".dot";
  bool good = true;
  const auto expect = [&](bool holds, const std::string& what, const std::string& content) {
    if (!holds) std::cerr << what << ": " << content << '\n';
    good = good && holds;
  };
  for (const auto& [name, end, status] :
       {std::tuple{"exit", +[] { std::exit(0); }, 0},
        std::tuple{"quick_exit", +[] { std::quick_exit(3); }, 3}}) {
    const std::string content = trace_of_process(file, end);
    expect(content.starts_with(std::to_string(status) + " // 3 grids, ") &&
               content.find("launches_itself") != std::string::npos,
           name, content);
  }
  expect(trace_of_process("trace.txt", [] {}) == "7 ", "a bad extension", "no message");
  expect(trace_of_process("no_such_folder/" + file, [] { std::exit(0); }) == "0 ",
         "a folder that does not exist", "another status");
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, bool (*)()> tests{
      {"threads", test_threads}, {"allocations", test_allocations},
      {"stack", test_stack},     {"address_space", test_address_space},
      {"heap", test_heap},       {"depth", test_depth},
      {"memory", test_memory},   {"trace", test_trace}};
  return argc > 1 && tests.at(argv[1])() ? 0 : 1;
}
