// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The translator prints it with the line of the #include.
ramify_refused "bfloat16"
