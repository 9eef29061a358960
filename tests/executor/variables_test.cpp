// SPDX-License-Identifier: BSD-3-Clause
// Global variables that point to local memory during a launch.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <ramify/cpu/executor.hpp>
#include <ramify/cpu/sanitizers.hpp>
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/stream.cuh>
#include <string>

#include "schedules.hpp"

#if !RAMIFY_ADDRESS_SANITIZER && !RAMIFY_THREAD_SANITIZER  // they are not searched there

using namespace ramify;
namespace data = boost::unit_test::data;

__device__ int* Pi;  // as the mangled name of a type, this is `int*`

namespace variable_kernels {

__device__ int* box;
static __device__ int* hidden_box;  // has no name at run time

__global__ void write_through_box() { *box = 1; }
__global__ void passes_local() {
  int mine = 0;
  box = &mine;
  if (auto s = launch(write_through_box, {1, 1}, fire_and_forget()); !s) mine = -1;
  box = nullptr;
}
__global__ void passes_local_in_hidden_box() {
  int mine = 0;
  hidden_box = &mine;
  if (auto s = launch(write_through_box, {1, 1}, tail_launch()); !s) mine = -1;
}
__global__ void passes_local_in_pi() {
  int mine = 0;
  Pi = &mine;
  if (auto s = launch(write_through_box, {1, 1}, tail_launch()); !s) mine = -1;
}
__global__ void passes_global(int* target) {
  int mine = 0;
  box = &mine;
  box = target;  // no longer
  if (auto s = launch(write_through_box, {1, 1}, fire_and_forget()); !s) *target = mine;
}

}  // namespace variable_kernels

namespace {

/// Returns the message of the violation that a launch of the kernel causes.
std::string violation_of(void (*kernel)()) {
  try {
    static_cast<void>(bool(launch(kernel, {1, 1}, nullptr)));
    return "no violation";
  } catch (const cpu::rule_violation& v) {
    BOOST_TEST((v.broken() == cpu::rule::local_pointer));
    return v.what();
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(variables)

BOOST_DATA_TEST_CASE(no_variable_points_to_local_memory_during_a_launch,
                     data::make(tests::main_schedules), s) {
  const cpu::scoped_executor_config config(cpu::parse_executor_config(s));
  const std::string named = violation_of(variable_kernels::passes_local);
  BOOST_TEST(named ==
             "local pointer passed to a child: kernel variable_kernels::passes_local(), block "
             "(0,0,0), thread (0,0,0): passes its child a pointer to local memory in the variable "
             "'variable_kernels::box'");
  variable_kernels::box = nullptr;
  const std::string hidden = violation_of(variable_kernels::passes_local_in_hidden_box);
  BOOST_TEST(hidden.find("local memory in a global variable") != std::string::npos, hidden);
  variable_kernels::hidden_box = nullptr;
  const std::string unmangled = violation_of(variable_kernels::passes_local_in_pi);
  BOOST_TEST(unmangled.ends_with("in the variable 'Pi'"), unmangled);
  Pi = nullptr;
  int target = 0;
  BOOST_TEST(bool(launch(variable_kernels::passes_global, {1, 1}, nullptr, &target)));
  BOOST_TEST(target == 1);
}

BOOST_AUTO_TEST_SUITE_END()
#endif
