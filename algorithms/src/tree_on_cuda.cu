// SPDX-License-Identifier: BSD-3-Clause
#include "tree_on.cuh"
