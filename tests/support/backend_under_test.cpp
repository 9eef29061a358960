// SPDX-License-Identifier: BSD-3-Clause
#include "backend_under_test.hpp"

#include <cstdlib>
#include <ramify/launch_costs.hpp>
#include <ramify/runtime/environment.hpp>
#include <ramify/runtime/error.hpp>

namespace tests {

ramify::backend backend_under_test() {
  const char* wanted = std::getenv("RAMIFY_TEST_BACKEND");
  return wanted == nullptr ? ramify::backend::cpu : ramify::parse_backend(wanted);
}

std::string why_backend_cannot_run() {
  try {
    if (backend_under_test() == ramify::backend::cuda) (void)ramify::gpu_and_driver();
    return {};
  } catch (const ramify::unavailable& e) {
    return e.what();
  }
}

boost::test_tools::assertion_result on_the_executor(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(backend_under_test() == ramify::backend::cpu);
  result.message() << "the test needs the CPU executor";
  return result;
}

boost::test_tools::assertion_result on_a_gpu(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(backend_under_test() == ramify::backend::cuda);
  result.message() << "the test needs a GPU";
  return result;
}

boost::test_tools::assertion_result not_under_thread_sanitizer(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(RAMIFY_THREAD_SANITIZER == 0);
  result.message() << "the test is slow under ThreadSanitizer, which finds nothing in it";
  return result;
}

}  // namespace tests
