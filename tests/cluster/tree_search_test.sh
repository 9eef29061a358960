#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the example program tree_search as several processes: tree_search_test.sh <program> <work folder>
# The counts must be those of one process without mpirun.
set -euo pipefail
source "$(dirname "$0")/cluster_checks.sh"

# The counts of one process, and one report.
tree="--type binomial --root-branches 2000 --branches 8 --probability 0.12 --seed 42"
"$program" "${common[@]}" $tree >one
for n in 2 5; do
  ranks $n 0 $tree
  same_lines 'nodes: |leaves: |depth: ' one $tree
  lines out "ranks: $n"
done
ranks 3 0 --tree small --verify --route flat --report json
lines out '"nodes": 1732,' '"leaves": 1050,' '"ranks": 3,' '"verified": true' '"exchanges": ' \
  '"moved_nodes": ' '"comparisons": ' '"imbalance": '
# The ranks share a tree that is large enough.
ranks 2 0 $tree --report json
! grep -q '"moved_nodes": 0,' out || fail "no node moved"

# Options that several processes do not have are refused by name, once.
refused 2 '--strategy is task_per_node; it must be work_sharing' 3 --tree small --strategy task_per_node
refused 2 '--flat-loop is graph; it must be automatic or host' 2 --tree small --flat-loop graph
refused 2 "tree 'none' is none of" 2 --tree none
