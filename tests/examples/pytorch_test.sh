#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds and runs the extension of PyTorch in examples/pytorch against the libraries of a build tree.
#   pytorch_test.sh ROOT BUILD WORK PYTHON
set -euo pipefail
root=$1 build=$2 work=$3 python=$4
"$python" -c 'import torch' 2>/dev/null || { echo "skipped: PyTorch is not installed"; exit 77; }
# What an installation has: headers, libraries, and the module of pkg-config.
rm -rf "$work"
mkdir -p "$work/include/ramify" "$work/lib/pkgconfig"
cp -rs "$root/device_runtime/ramify/." "$root/algorithms/ramify/." "$work/include/ramify"
ln -s "$build"/algorithms/libramify_facade_quicksort.* "$build"/device_runtime/libramify_runtime.* \
  "$work/lib"
cp "$build/ramify-quicksort.pc" "$work/lib/pkgconfig"
export PKG_CONFIG_PATH=$work/lib/pkgconfig
# A compiler that links libstdc++ statically, as some do. PyTorch has the shared one.
printf '#!/bin/sh\nexec %s "$@" -static-libstdc++\n' "${CXX:-g++}" >"$work/static_g++"
chmod +x "$work/static_g++"
output=$(CXX=$work/static_g++ MAX_JOBS=1 "$python" -u -X faulthandler "$root/examples/pytorch/sort_in_torch.py" "$work/extension" 2>&1) || {
  status=$?
  echo "$output"
  exit $status
}
echo "$output"
grep -qx 'on the CPU executor: as torch.sort()' <<<"$output"
if "$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())'; then
  grep -qx "on the GPU, in PyTorch's current stream: as torch.sort()" <<<"$output"
fi
