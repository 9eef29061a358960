// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ramify/cpu/cooperative_groups.hpp>
