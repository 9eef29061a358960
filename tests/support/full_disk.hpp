// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// full_disk: makes writes fail in the middle of a file.

#include <sys/resource.h>

#include <boost/test/unit_test.hpp>
#include <csignal>

namespace tests {

/// Limits the size of the files that this process writes to `bytes`, for a scope.
class full_disk {
 public:
  explicit full_disk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    BOOST_REQUIRE(::getrlimit(RLIMIT_FSIZE, &before_) == 0);
    const rlimit limit{bytes, before_.rlim_max};
    BOOST_REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  }
  ~full_disk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  full_disk(const full_disk&) = delete;
  full_disk& operator=(const full_disk&) = delete;

 private:
  void (*handler_)(int);
  rlimit before_{};
};

}  // namespace tests
