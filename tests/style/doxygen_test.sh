#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Fails if Doxygen warns about a public header.
#   doxygen_test.sh ROOT OUTPUT
set -euo pipefail
command -v doxygen >/dev/null || { echo "needs doxygen"; exit 77; }
root=$1 output=$2
mkdir -p "$output"
ROOT=$root OUTPUT=$output doxygen "$root/docs/site/Doxyfile" >"$output/log" 2>&1 || { cat "$output/log"; exit 1; }
if [ -s "$output/log" ]; then
  cat "$output/log"
  exit 1
fi
