// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// The version of Ramify. CMake reads it from here.

#define RAMIFY_VERSION_MAJOR 0
#define RAMIFY_VERSION_MINOR 1
#define RAMIFY_VERSION_PATCH 0

/// The version as one number, for comparisons: 10203 is 1.2.3.
#define RAMIFY_VERSION \
  (RAMIFY_VERSION_MAJOR * 10000 + RAMIFY_VERSION_MINOR * 100 + RAMIFY_VERSION_PATCH)

// The name v0_1 or v0_1_<name>, of this major and minor version.
#define RAMIFY_VERSIONED_NAME(prefix, major, minor, name) prefix##major##_##minor##name
#define RAMIFY_EXPAND_VERSION(major, minor, name) RAMIFY_VERSIONED_NAME(v, major, minor, name)

/// The inline namespace of all declarations that all builds share; build.hpp has the others.
///
/// It has the version, so one program can link code that was compiled with the headers of two minor
/// versions. An object of one version is another type than that of the other one, so a call that
/// would mix them does not compile or does not link.
#define RAMIFY_ABI RAMIFY_EXPAND_VERSION(RAMIFY_VERSION_MAJOR, RAMIFY_VERSION_MINOR, )

/// An inline namespace with the version: RAMIFY_VERSIONED(on_cpu) is v0_1_on_cpu.
#define RAMIFY_VERSIONED(name) \
  RAMIFY_EXPAND_VERSION(RAMIFY_VERSION_MAJOR, RAMIFY_VERSION_MINOR, _##name)
