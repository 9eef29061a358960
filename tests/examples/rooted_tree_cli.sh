#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the command line of the example program rooted_tree: rooted_tree_cli.sh <program> <work folder>
. "$(dirname "$0")/cli_checks.sh"

# 0 - 1 - 3, 0 - 2, and 4 alone; Windows line ends, no newline at the end.
printf -- '-1\n0\n 0\r\n1\n-1' >i
cp i i.before
expect 0 - --input i --output o --backend cpu --verify
printf '%s\n' node,parent,level,size,preorder,postorder \
  0,-1,0,4,0,3 1,0,1,2,1,1 2,0,1,1,3,2 3,1,2,1,2,0 4,-1,0,1,4,4 >expected
cmp -s o expected || fail "table: $(cat o)"
cmp -s i i.before || fail "the input was changed"
for line in 'nodes: 5' 'roots: 2' 'leaves: 3' 'height: 2' 'mean level: 0.8' \
  'widest level: 0 (2 nodes)' 'largest degree: 2 (node 0)' 'largest proper subtree: 2 (node 1)' \
  '  level 1: 2 ###' 'verified: equal to a serial traversal' 'backend: cpu (requested)'; do
  output_has "$line"
done
printf '1 3\n0\t1\n0  2\n' >e
expect 0 - --input e --format edges --output o --backend cpu --single-root
printf '%s\n' node,parent,level,size,preorder,postorder \
  0,-1,0,4,0,3 1,0,1,2,1,1 2,0,1,1,3,2 3,1,2,1,2,0 >expected
cmp -s o expected || fail "table of edges: $(cat o)"
: >i
expect 0 - --input i --output o --backend cpu --verify
[ "$(wc -l <o)" -eq 1 ] || fail "an empty file gave $(cat o)"
output_has 'nodes: 0'

# Every kind, route and limit.
for kind in random path star caterpillar complete forest; do
  for route in device flat automatic; do
    expect 0 - --generate $kind --n 20000 --backend cpu --route $route --verify --shuffle
    expect 0 - --generate $kind --n 20000 --backend cpu --route $route --verify \
      --pending-launches 16
  done
done
expect 0 - --generate path --n 100000 --backend cpu --route device --output o
output_has 'height: 99999'
[ "$(tail -n 1 o)" = "99999,99998,99999,1,99999,0" ] || fail "path: $(tail -n 1 o)"
grep -Eq '^grids launched by kernels: [1-9]' out || fail "no child grids in $(cat out)"
expect 0 - --generate star --n 1000 --seed 3 --report json --verify
for line in '"leaves": 999,' '"largest_degree": 999,' '"verified": true' '"backend_reason": "'; do
  output_has "$line"
done
expect 0 - --generate random --n 1 --backend cpu --single-root
expect 0 - --help

# Nodes numbered from 1, roots with the parent 0 or their own number: 1 - 2 - 3 and 4 alone.
for own in '0\n1\n2\n0\n' '1\n1\n2\n4\n'; do
  printf "$own" >j
  expect 0 - --input j --first-node 1 --own-parents --output o --backend cpu --verify
  printf '%s\n' node,parent,level,size,preorder,postorder 1,-1,0,3,0,2 2,1,1,2,1,1 3,2,2,1,2,0 4,-1,0,1,3,3 |
    cmp -s - o || fail "numbered from 1: $(cat o)"
  output_has 'first node: 1'
  output_has 'largest proper subtree: 2 (node 2)'
done
rm -f o
expect 2 '--first-node requires --input' --generate path --n 5 --first-node 1
expect 2 "--first-node: '2' is too large; the maximum is 1" --input j --first-node 2

# Each failure prints one line and leaves no output.
rm -f o
expect_trace --generate random --n 20000 --backend cpu --route device --verify
expect_trace --generate random --n 20000 --backend cpu --route flat
expect 2 'give --input or --generate'
refuses_bad_launch_options --generate path --n 5
expect 2 "none of random, path" --generate bush --n 3
expect 2 '--n' --generate path
expect 2 "'-5' is not a whole number" --generate path --n -5
expect 2 'the maximum is 2147483646' --generate path --n 3000000000 --output o
expect 2 "format 'csv' is neither parents nor edges" --input i --format csv
expect 2 'which is never changed' --input i --output ./i
cp i i.dot
expect 2 '--trace is the input file' --input i.dot --trace ./i.dot
cmp -s i i.dot || fail "the input was changed"
expect 3 'No such file' --input nowhere --output o
expect 3 'is a directory' --input . --output o
bad() { # content of the file, expected message, arguments...
  printf -- "$1" >j
  shift
  expect 3 "$1" --input j --output o --backend cpu "${@:2}"
}
bad '-1\n0\nthree\n' "line 3: 'three' is neither a node nor -1"
bad '-1\n\n0 1\n' "line 3: '0 1' is neither a node nor -1"
bad 'parent\n-1\n' "line 1: 'parent' is neither a node nor -1; a header line must be removed"
bad '-1\n99999999999\n' "line 2"
bad '-1\n\n0\n3\n' "line 4: '3' names node 3, but the file has 3 nodes, numbered from 0; --first-node 1 numbers them from 1"
bad '-1\n0\n4\n' "line 3: '4' names node 4, but the file has 3 nodes, numbered from 0"
bad '-1\n-2\n' "line 2: '-2' is neither a node nor -1"
bad '-1\n2\n1\n' "node 1 never reaches a root: its ancestors form a cycle"
bad '0\n3\n2\n' "node 1 never reaches a root: its ancestors form a cycle, with nodes numbered from 0" --first-node 1
bad '0\n0\n' "line 1: '0' makes node 0 its own parent; --own-parents accepts this for a root, whose parent is -1"
bad '1 1\n' "line 1: '1 1' makes node 1 its own parent" --format edges
bad '-1\n0\n-1\n' "node 2 is a second root, and --single-root is set" --single-root
bad '0 1\n0 2\n1 2\n' "line 3: '1 2' gives node 2 a second parent; it has 0" --format edges
bad '0 1\n2\n' "line 2: '2' is not a parent and a child" --format edges
bad '0 1\n-1 2\n' "line 2: '-1 2' is not a parent and a child" --format edges
bad '0 1 2\n' "line 1: '0 1 2' is not a parent and a child" --format edges
bad '0 2147483647\n' "line 1: '0 2147483647' is not a parent and a child" --format edges
bad '0 1\n1 0\n' "node 0 never reaches a root" --format edges
# A short list of edges does not take the memory of a large forest, unless --nodes says so.
bad '0 999999999\n' "line 1: '0 999999999' names node 999999999, but a file of 1 edge must number" \
  --format edges
bad '0 1\n0 1048577\n' 'up to 1048576 at most, unless --nodes states' --format edges
printf '0 1\n0 1048576\n' >j
expect 0 - --input j --format edges --backend cpu
output_has 'nodes: 1048577'
printf '0 1048577\n' >j
expect 0 - --input j --format edges --nodes 1048580 --backend cpu
output_has 'nodes: 1048580'
printf '0 200000\n' >j
rm -f o
expect 3 "line 1: '0 200000' names node 200000, but --nodes is 200000" --input j --format edges \
  --nodes 200000 --output o
expect 2 '--nodes is for --format edges' --input j --format parents --nodes 5
expect 2 '--nodes is 3000000000; the maximum is 2147483646' --input j --format edges \
  --nodes 3000000000
mkfifo pipe
expect 5 'pipe: it is not a regular file' --generate path --n 5 --output pipe
expect 5 'cannot write nowhere/o' --generate path --n 5 --output nowhere/o
if ! "$program" --generate path --n 5 --backend cuda >out 2>err; then
  expect 4 'the cuda backend cannot run' --generate path --n 5 --backend cuda --output o
fi
echo "all as expected"
