#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the site and checks its pages. Status 77 means that packages are missing and cannot be
# downloaded.
#   site_test.sh ROOT WORK
set -euo pipefail
root=$1 work=$2
command -v doxygen >/dev/null || { echo "needs doxygen"; exit 77; }
# The tools stay in the folder, so that only the first run downloads them.
mkdir -p "$work"
"$root/docs/build.sh" --tools "$work/tools" --output "$work/html"
python3 "$(dirname "$0")/pages_test.py" "$work/html"
