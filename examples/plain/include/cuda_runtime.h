// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// plain.hpp has what the header of this name in CUDA declares.
