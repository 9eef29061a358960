#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Fails if Doxygen warns about a public header.
#   doxygen_test.sh ROOT OUTPUT
set -euo pipefail
command -v doxygen >/dev/null || { echo "needs doxygen"; exit 77; }
root=$1 output=$2
mkdir -p "$output"
cat >"$output/Doxyfile" <<END
PROJECT_NAME = Ramify
OUTPUT_DIRECTORY = $output
INPUT = $root/algorithms/ramify $root/device_runtime/ramify/runtime $root/device_runtime/ramify/cpu \\
  $root/device_runtime/ramify/cluster
FILE_PATTERNS = *.hpp *.cuh
EXTENSION_MAPPING = cuh=C++
RECURSIVE = YES
STRIP_FROM_PATH = $root/algorithms $root/device_runtime
EXTRACT_ALL = NO
WARN_IF_UNDOCUMENTED = NO
WARN_NO_PARAMDOC = NO
WARN_IF_INCOMPLETE_DOC = NO
MARKDOWN_SUPPORT = YES
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
QUIET = YES
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
PREDEFINED = RAMIFY_BUILD=on_cuda RAMIFY_ON_CUDA=1 RAMIFY_DEVICE_LAUNCH=1 RAMIFY_TRACE=0 \\
  __host__= __device__= __global__= __shared__= "__launch_bounds__(...)=" "__maxnreg__(...)=" \\
  "__align__(x)="
EXCLUDE_SYMBOLS = ramify::detail::*
END
doxygen "$output/Doxyfile" >"$output/log" 2>&1 || { cat "$output/log"; exit 1; }
if [ -s "$output/log" ]; then
  cat "$output/log"
  exit 1
fi
