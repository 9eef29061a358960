#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the example program tree_search as several processes: tree_search_test.sh <program> <work folder>
# The counts must be those of one process without mpirun.
set -euo pipefail
program=$1
work=$2
start_ranks=$(cd "$(dirname "$0")" && pwd)/mpirun.sh
rm -rf "$work"
mkdir -p "$work"
cd "$work"
fail() { echo "FAILED: $*"; cat out err; exit 1; }

# ranks <number> <expected status> <arguments...>
ranks() {
  local n=$1 wanted=$2 status=0
  shift 2
  "$start_ranks" "$n" "$program" --backend cpu "$@" >out 2>err || status=$?
  [ $status -eq "$wanted" ] || fail "$n ranks: $* ended with status $status instead of $wanted"
}
# line <text>: the output has one line that begins with the text.
line() { [ "$(grep -c "^ *$1" out)" -eq 1 ] || fail "not one line $1"; }

# The counts of one process, and one report.
tree="--type binomial --root-branches 2000 --branches 8 --probability 0.12 --seed 42"
"$program" --backend cpu $tree >one
for n in 2 5; do
  ranks $n 0 $tree
  for name in nodes leaves depth; do
    [ "$(grep "^$name: " out)" = "$(grep "^$name: " one)" ] || fail "$n ranks: $name"
  done
  line "ranks: $n"
done
ranks 3 0 --tree small --verify --route flat --report json
for text in '"nodes": 1732,' '"leaves": 1050,' '"ranks": 3,' '"verified": true' '"exchanges": ' \
            '"moved_nodes": ' '"comparisons": ' '"imbalance": '; do
  line "$text"
done
# The ranks share a tree that is large enough.
ranks 2 0 $tree --report json
! grep -q '"moved_nodes": 0,' out || fail "no node moved"

# Options that several processes do not have are refused by name, once.
ranks 3 2 --tree small --strategy task_per_node
[ "$(grep -c -e '--strategy is task_per_node; it must be work_sharing' err)" -eq 1 ] || fail "the message of --strategy"
ranks 2 2 --tree small --flat-loop graph
[ "$(grep -c -e '--flat-loop is graph; it must be automatic or host' err)" -eq 1 ] || fail "the message of --flat-loop"
ranks 2 2 --tree none
[ "$(grep -c "tree 'none' is none of" err)" -eq 1 ] || fail "the message of --tree"
