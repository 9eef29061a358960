#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Applies the one-line change that a lesson's head comment proposes, and writes the changed lesson.
#
#   change.sh <sed script> <lesson> <changed lesson>
set -euo pipefail
sed -f "$1" "$2" >"$3"
lines=$(diff "$2" "$3" | grep -c '^>' || true)
if [ "$lines" != 1 ]; then
  echo "$1 changes $lines lines of $2; it must change one" >&2
  rm -f "$3"
  exit 1
fi
