// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The exceptions of Ramify. For a bad argument, a function throws std::invalid_argument before it
/// changes anything. The message names the field and its range.

#include <ramify/version.hpp>
#include <stdexcept>
#include <string>
#include <utility>

namespace ramify::inline RAMIFY_ABI {

/// A CUDA call failed.
class cuda_error : public std::runtime_error {
 public:
  /// Makes the error of a cudaError_t.
  cuda_error(int code, const std::string& what) : std::runtime_error(what), code_(code) {}
  /// Returns the cudaError_t as a number.
  [[nodiscard]] int code() const { return code_; }

 private:
  int code_;
};

/// A launch from the device failed. This is the first failure of the run; there may be others.
class device_launch_error : public cuda_error {
 public:
  /// Makes the error of the first failed launch of a run.
  device_launch_error(int code, std::string kernel, unsigned depth, const std::string& what)
      : cuda_error(code, what), kernel_(std::move(kernel)), depth_(depth) {}

  /// Returns the name of the launching kernel. In an error of a call from a kernel it may be the
  /// kernel that could not be launched; what() distinguishes them.
  [[nodiscard]] const std::string& kernel() const { return kernel_; }
  /// Returns the depth of the launching grid in the launch tree. A grid that the host launched has
  /// depth 0.
  [[nodiscard]] unsigned depth() const { return depth_; }

 private:
  std::string kernel_;
  unsigned depth_;
};

/// The machine, or the build of the program, does not support the request.
class unavailable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file cannot be read or is malformed. The message names the file, and the line if there is one.
class bad_input : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace ramify::inline RAMIFY_ABI
