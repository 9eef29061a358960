// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The inline namespace of test helpers that depend on the compiler. It differs from RAMIFY_BUILD,
/// because a namespace tests::on_cpu would collide with the function tests::on_cpu().

#include <ramify/runtime/build.hpp>

#if RAMIFY_ON_CUDA
#define TESTS_BUILD by_nvcc
#else
#define TESTS_BUILD by_cpp
#endif
