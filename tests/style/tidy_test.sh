#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Fails if clang-tidy 16 finds something in the sources of the CPU executor, of the facade, and of
# the functions that write traces. The file .clang-tidy lists the checks.
#   tidy_test.sh ROOT BUILD JOBS      BUILD contains compile_commands.json
set -euo pipefail
cd "$1"
tidy=$(command -v clang-tidy-16) || { echo "needs clang-tidy-16"; exit 77; }
[ -f "$2/compile_commands.json" ] || { echo "needs compile_commands.json"; exit 77; }
find device_runtime/src algorithms/src -name '*.cpp' | sort |
  xargs -P "$3" -n 2 "$tidy" -p "$2" --quiet --warnings-as-errors='*' \
    --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-unused-command-line-argument
