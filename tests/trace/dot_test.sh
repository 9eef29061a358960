#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# dot_test.sh <program trace_samples> <work folder>: Graphviz draws the written trees without a
# message. Without Graphviz the test is skipped, with exit status 77.
set -euo pipefail
if ! command -v dot >/dev/null; then
  echo "SKIPPED: needs Graphviz: apt-get install graphviz"
  exit 77
fi
rm -rf "$2"
mkdir -p "$2"
"$1" "$2" >"$2/counts"
cd "$2"

fail() {
  echo "$1"
  exit 1
}

drawn=0
while read -r name grids; do
  [ -e "$name.dot" ] || continue # the trace is too large for Graphviz
  dot -Tsvg -o "$name.svg" "$name.dot" 2>messages ||
    fail "$name.dot cannot be read: $(cat messages)"
  [ ! -s messages ] || fail "$name.dot: $(cat messages)"
  nodes=$(grep -c 'class="node"' "$name.svg" || true)
  # At most one node for each grid, the host, a lost parent, and two for each kind in the legend.
  [ "$nodes" -le $((grids + 12)) ] || fail "$name.svg has $nodes nodes for $grids grids"
  drawn=$((drawn + 1))
done <counts
[ "$drawn" -ge 6 ] || fail "only $drawn traces"
[ "$(grep -c 'class="node"' one_of_each.svg)" -eq 16 ] || fail "one_of_each.svg must have 16 nodes"
grep -q '14 more' flat.svg || fail "flat.svg: two kernels with 30 grids each must be folded"
