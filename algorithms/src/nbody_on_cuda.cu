// SPDX-License-Identifier: BSD-3-Clause
#include "nbody_on.cuh"
