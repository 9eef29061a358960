// SPDX-License-Identifier: BSD-3-Clause
#include "tree_search_on.cuh"
