#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Fails if the headlines of benchmarks/README.md differ from the tables that they are taken from.
#   headlines_test.sh ROOT
set -euo pipefail
cd "$1/benchmarks"
printed=$(sed -n '/^<!-- headlines -->$/,/^<!-- end headlines -->$/p' README.md | sed '1d; $d')
taken=$(./headlines.sh)
[ "$printed" = "${taken%$'\n'}" ] || {
  diff <(echo "$printed") <(echo "$taken") || true
  echo "run: benchmarks/headlines.sh | benchmarks/put_table.sh benchmarks/README.md headlines"
  exit 1
}
