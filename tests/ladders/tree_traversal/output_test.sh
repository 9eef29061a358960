#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# output_test.sh <program ladder_tree_traversal> <work folder>
# Tests the text, the table, the traces, and the messages for bad options.
. "$(dirname "$0")/../output_checks.sh"

# 1. Text: each rung, in order, with a correct result and a time.
timeout 60 "$program" --n 1000 >text
[ "$(grep -c '^[1-9] .*: ' text)" = 9 ] || fail "there are not nine rungs"
[ "$(grep -c 'the result is right' text)" = 9 ] || fail "a rung of the text has no result"
[ "$(grep -c ' ms (median of ' text)" = 10 ] || fail "a rung, or the baseline, has no time"

# 2. Table: each rung and the baseline. Its sizes are those of the trees.
timeout 60 "$program" --n 300 --large 1000 --table >table
[ "$(grep -c '^| [1-9] ' table)" = 9 ] || fail "the table has not nine rungs"
grep -q '^| baseline |' table || fail "the table has no baseline"
nodes=$(sed -n '1s/^\([0-9,]*\) nodes, .*/\1/p' text)
grep -q "^| rung .* $nodes nodes: grids |" table || fail "the table has no tree of $nodes nodes"

# 3. Traces contain all grids. Under a reproducible schedule the rungs launch the same tree in each
# run.
export RAMIFY_CPU_SCHEDULE=late
for rung in 1 2 3 4 5 6 7 8 9; do
  for time in first second; do
    timeout 60 "$program" --n 300 --rung $rung --trace $time.dot >text
  done
  cmp first.dot second.dot || fail "rung $rung does not launch the same tree in each run"
  timeout 60 "$program" --n 300 --rung $rung >report
  grids=$(sed -n 's/.*grids launched: \([0-9,]*\) by the host, \([0-9,]*\) by kernels.*/\1 \2/p' report |
    tr -d ,)
  count=$((${grids/ / + }))
  noun=grids
  [ $count -ne 1 ] || noun=grid
  grep -q " $count $noun in " text || fail "rung $rung: not $grids grids: $(cat text)"
done

# 4. Bad options.
refused --rung 10
refused --n 0
refused --trace tree.dot
