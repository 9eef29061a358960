// SPDX-License-Identifier: BSD-3-Clause
#include "spatial_on.cuh"
