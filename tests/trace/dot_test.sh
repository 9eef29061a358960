#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# dot_test.sh <program trace_samples> <work folder>: Graphviz draws what was written for it, without a
# word. Skipped, with exit status 77, where there is no Graphviz.
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
  [ -e "$name.dot" ] || continue # too large to be drawn like that
  dot -Tsvg -o "$name.svg" "$name.dot" 2>complaints || fail "$name.dot cannot be read: $(cat complaints)"
  [ ! -s complaints ] || fail "$name.dot: $(cat complaints)"
  nodes=$(grep -c 'class="node"' "$name.svg" || true)
  # Folded or not, no more nodes than grids, the host, a lost parent, and two for a kind in the legend.
  [ "$nodes" -le $((grids + 12)) ] || fail "$name.svg has $nodes nodes for $grids grids"
  drawn=$((drawn + 1))
done <counts
[ "$drawn" -ge 6 ] || fail "only $drawn traces"
[ "$(grep -c 'class="node"' one_of_each.svg)" -eq 16 ] || fail "one_of_each.svg lacks something"
grep -q '14 more' flat.svg || fail "flat.svg: of two kernels with 30 grids each nothing is folded"
