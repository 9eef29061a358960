#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Passes if nvcc rejects a source file with a given message.
#
#   compile_error.sh <nvcc, or empty> <text of the message> <arguments of nvcc...>
set -euo pipefail
nvcc=${1:-nvcc} text=$2
shift 2
command -v "$nvcc" >/dev/null || nvcc=${CUDA_PATH:-/usr/local/cuda}/bin/nvcc
command -v "$nvcc" >/dev/null || { echo "skipped: there is no nvcc"; exit 77; }
if output=$("$nvcc" -std=c++20 -arch=sm_90 -rdc=true -c -o /dev/null "$@" 2>&1); then
  echo "nvcc compiled it: $*"
  exit 1
fi
grep -qF -- "$text" <<<"$output" || { echo "no '$text' in: $output"; exit 1; }
