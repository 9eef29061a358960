// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The errors that reach the host as exceptions. A bad argument is a std::invalid_argument naming
/// the field and its range; it is thrown before anything is touched.

#include <stdexcept>
#include <string>
#include <utility>

namespace ramify {

/// A CUDA call failed.
class cuda_error : public std::runtime_error {
 public:
  cuda_error(int code, const std::string& what) : std::runtime_error(what), code_(code) {}
  [[nodiscard]] int code() const { return code_; }

 private:
  int code_;
};

/// A launch from the device failed. It is the first one of its run; nothing says that it was alone.
class device_launch_error : public cuda_error {
 public:
  device_launch_error(int code, std::string kernel, unsigned depth, const std::string& what)
      : cuda_error(code, what), kernel_(std::move(kernel)), depth_(depth) {}

  /// The kernel that launched.
  [[nodiscard]] const std::string& kernel() const { return kernel_; }
  /// How deep in the launch tree it ran; a grid that the host launched has depth 0.
  [[nodiscard]] unsigned depth() const { return depth_; }

 private:
  std::string kernel_;
  unsigned depth_;
};

/// The machine, or the way the program was built, cannot do what was asked for.
class unavailable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace ramify
