// SPDX-License-Identifier: BSD-3-Clause
// Tests when the notice is needed that the driver compiles all kernels, and how a program gets it.
#include <iostream>
#include <ramify/runtime/notice.hpp>
#include <string>

namespace {

using ramify::detail::runtime::compilation_notice;
using ramify::detail::runtime::has_machine_code;
using ramify::detail::runtime::is_compiled_by_driver;
using ramify::detail::runtime::notify;

static_assert(has_machine_code("90", 9, 0));
static_assert(has_machine_code("75,80,86", 8, 6));
static_assert(has_machine_code("75,80", 8, 9));
static_assert(!has_machine_code("75,86", 8, 0));
static_assert(!has_machine_code("75,80,86,89,90", 10, 0));
static_assert(has_machine_code("90,100", 10, 3));
static_assert(!has_machine_code("90,100", 11, 0));
static_assert(has_machine_code("90a", 9, 0) && !has_machine_code("100a", 10, 3));
static_assert(has_machine_code("100f", 10, 3) && !has_machine_code("103f", 10, 0));
static_assert(!has_machine_code("", 7, 5));

// The driver compiles PTX for newer devices only.
static_assert(is_compiled_by_driver("90", 75, 8, 0));
static_assert(!is_compiled_by_driver("90", 75, 9, 0));
static_assert(!is_compiled_by_driver("90", 0, 8, 0));
static_assert(!is_compiled_by_driver("75", 120, 11, 0));
static_assert(!is_compiled_by_driver("unknown", 75, 8, 0));

std::string received;

}  // namespace

int main() {
  const auto receive = [](std::string_view notice) { received = notice; };
  notify("lost");  // there is no handler yet
  if (ramify::set_notice_handler(receive) != nullptr) return 1;
  notify(compilation_notice("Example GPU", 11, 0));
  if (ramify::set_notice_handler(nullptr) != +receive) return 1;
  notify("lost");
  std::cout << received << '\n';
  return received.find("Example GPU (compute capability 11.0)") != std::string::npos &&
                 received.find("CMAKE_CUDA_ARCHITECTURES=110-real") != std::string::npos
             ? 0
             : 1;
}
