#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# output_test.sh <program ladder_graph> <work folder>
# Tests the inputs, the text, the tables, and the traces.
. "$(dirname "$0")/../output_checks.sh"

# 1. Text: each rung, in order, with a correct result and a time. --input chooses the graph.
timeout 60 "$program" --n 300 --input grid >text
grep -q '^grid, 289 vertices, ' text || fail "--input grid is not a grid: $(head -n 1 text)"
[ "$(grep -c '^[1-9] .*: ' text)" = 9 ] || fail "there are not nine rungs"
[ "$(grep -c 'the result is right' text)" = 9 ] || fail "a rung of the text has no result"
[ "$(grep -c ' ms (median of ' text)" = 10 ] || fail "a rung, or the baseline, has no time"
timeout 60 "$program" --n 300 --rung 8 >text
grep -q '^kronecker, 256 vertices, ' text || fail "the default is no Kronecker graph: $(head -n 1 text)"

# 2. A table for each graph, or for the chosen one.
timeout 60 "$program" --n 100 --large 300 --table >tables
[ "$(grep '^Input: ' tables | tr '\n' ' ')" = "Input: kronecker Input: grid " ] || fail "not both graphs"
[ "$(grep -c '^| [1-9] ' tables)" = 18 ] || fail "the tables have not nine rungs each"
[ "$(grep -c '^| baseline |' tables)" = 2 ] || fail "a table has no baseline"
grep -q ' 289 vertices: grids |' tables || fail "--large is not the second size"
timeout 60 "$program" --n 100 --large 300 --table --input grid >tables
[ "$(grep '^Input: ' tables)" = "Input: grid" ] || fail "--input does not choose the table"

# 3. Traces contain all grids: of rung 4, child grids.
RAMIFY_CPU_SCHEDULE=late timeout 60 "$program" --n 512 --rung 4 --trace four.dot >text
grep -q 'visit_vertex' four.dot || fail "the trace has no child grid"
timeout 60 "$program" --n 512 --rung 4 >report
grids=$(sed -n 's/.*grids launched: \([0-9,]*\) by the host, \([0-9,]*\) by kernels.*/\1 \2/p' report |
  tr -d ,)
grep -q " $((${grids/ / + })) grids in " text || fail "not $grids grids: $(cat text)"

# 4. Bad options.
refused --input star
grep -q 'must be one of: kronecker, grid' message || fail "the message does not name the graphs"
refused --input
refused --check --input grid
refused --rung 10
