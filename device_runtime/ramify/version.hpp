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
