#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the command line of the example program graph: graph_cli.sh <program> <work folder>
. "$(dirname "$0")/cli_checks.sh"

table_is() { # lines of the table in o
  printf '%s\n' "$@" >expected
  cmp -s o expected || fail "table: $(cat o)"
}

# A list of edges: comments, empty lines, other separators, Windows line ends, no newline at the
# end.
printf '# edges\n0 1\n0\t2\r\n\n1, 3, 2.5\n%% more\n5 5' >i
cp i i.before
expect 0 - --input i --undirected --source 0 --output o --backend cpu --verify
table_is vertex,level,parent 0,0,-1 1,1,0 2,1,0 3,2,1 4,-1,-1 5,-1,-1
for line in 'vertices: 6' 'edges: 7' 'format: list of edges' 'numbering: from 0' 'reached vertices: 4' 'largest level: 2' 'verified: 1 run' \
  'backend: cpu (requested)' 'traversed edges per second: '; do
  output_has "$line"
done
expect 0 - --input i --algorithm components --output o --backend cpu --verify
table_is vertex,component 0,0 1,0 2,0 3,0 4,4 5,5
expect 0 - --input i --vertices 8 --algorithm components --output o --backend cpu
[ "$(tail -n 1 o)" = 7,7 ] || fail "the last vertex is $(tail -n 1 o)"
expect 0 - --input i --algorithm sssp --source 0 --output o --backend cpu --verify
table_is vertex,distance,parent 0,0,-1 1,1,0 2,1,0 3,3.5,1 4,inf,-1 5,inf,-1
cmp -s i i.before || fail "the input was changed"

# The same file compressed, also in two members.
gzip -c i >i.gz
expect 0 - --input i.gz --undirected --source 0 --output o --backend cpu
[ "$(sed -n 5p o)" = 3,2,1 ] || fail "compressed: $(cat o)"
{ head -n 3 i | gzip; tail -n +4 i | gzip; } >two.gz
expect 0 - --input two.gz --undirected --source 0 --output o --backend cpu
[ "$(sed -n 5p o)" = 3,2,1 ] || fail "two members: $(cat o)"

# Matrix Market: a directed graph, and an undirected one.
printf '%%%%MatrixMarket matrix coordinate pattern general\n%% c\n3 3 3\n1 2\n2 3\n3 1\n' >d.mtx
expect 0 - --input d.mtx --source 1 --output o --backend cpu --verify
table_is vertex,level,parent 0,2,2 1,0,-1 2,1,1
expect 0 - --input d.mtx --algorithm pagerank --tolerance 1e-12 --output o --backend cpu --verify
grep -q '^2,0.3333333333' o || fail "ranks: $(cat o)"
printf '%%%%MatrixMarket MATRIX Coordinate real symmetric\n3 3 2\n1 2 1.5\n3 2 0.5\n' >s.mtx
expect 0 - --input s.mtx --algorithm sssp --source 2 --output o --backend cpu --verify
table_is vertex,distance,parent 0,2,1 1,0.5,2 2,0,-1

# A matrix after an empty line is a matrix: 3 vertices, 2 undirected edges.
matrix='%%%%MatrixMarket matrix coordinate'
printf "\n$matrix pattern symmetric\n3 3 2\n2 1\n3 2\n" >e.mtx
expect 0 - --input e.mtx --algorithm components --backend cpu --verify
for line in 'vertices: 3' 'edges: 4' 'components: 1' 'numbering: from 1 in the file, from 0 in' \
  'format: Matrix Market coordinate pattern symmetric'; do
  output_has "$line"
done

# Self-loops, at a vertex with other edges and at one without, and a repeated edge. A self-loop of
# an undirected graph is stored once. Edges and ranks are those of SciPy and networkx.
loops='1 1\n2 1\n3 2\n3 2\n3 3\n4 4\n'
printf "$matrix pattern symmetric\n4 4 6\n$loops" >loops.mtx
printf "$loops" >loops
ranks_are() { # edges, ranks
  output_has "edges: $1"
  awk -F, -v expected="$2" 'BEGIN { split(expected, e, " ") }
    NR > 1 { d = $2 - e[NR - 1]; if (d < -1e-9 || d > 1e-9) exit 1 }' o || fail "ranks: $(cat o)"
}
rank="--algorithm pagerank --tolerance 1e-13 --iterations 1000 --output o --backend cpu --verify"
expect 0 - --input loops.mtx $rank
ranks_are 9 '0.201697417 0.2769741697 0.2713284133 0.25'
expect 0 - --input loops --undirected --first-vertex 1 $rank
ranks_are 9 '0.201697417 0.2769741697 0.2713284133 0.25'
output_has 'numbering: from 1 in the file, from 0 in options and output'
printf '0 0 {}\n0 1 {}\n1 2 {}\n1 2 {}\n2 2 {}\n3 3 {}\n' >i
expect 0 - --input i $rank
ranks_are 6 '0.0652173913 0.0652173913 0.6195652174 0.25'
sed 's/symmetric/general/' loops.mtx >i
expect 0 - --input i $rank
ranks_are 6 '0.6305232558 0.0671511628 0.0523255814 0.25'

# Lengths: the type holds the sums, and values that are not needed are not read.
printf '0 1 16777216\n1 2 1\n' >i
expect 0 - --input i --algorithm sssp --source 0 --output o --backend cpu --verify
table_is vertex,distance,parent 0,0,-1 1,16777216,0 2,16777217,1
output_has 'lengths: 64-bit integers'
output_has 'largest relative rounding: 0.0'
expect 0 - --input i --algorithm sssp --source 0 --output o --backend cpu --verify --type double
[ "$(tail -n 1 o)" = 2,16777217,1 ] || fail "double: $(cat o)"
expect 0 - --input i --algorithm sssp --source 0 --output o --backend cpu --verify --type float
[ "$(tail -n 1 o)" = 2,16777216,1 ] || fail "float: $(cat o)"
output_has 'largest relative rounding: 5.96'
printf '0 1 18446744073709551600\n1 2 13\n3 1 1\n' >i
expect 0 - --input i --algorithm sssp --source 0 --output o --backend cpu --verify
table_is vertex,distance,parent 0,0,-1 1,18446744073709551600,0 2,18446744073709551613,1 3,inf,-1
printf '0 1 18446744073709551600\n1 2 14\n' >i
rm -f o
expect 2 'graph: the distance of vertex 2 is too large for a 64-bit integer' --input i --algorithm sssp \
  --source 0 --backend cpu --output o
printf '0 1 0.1\n1 2 0.2\n' >i
expect 0 - --input i --algorithm sssp --source 0 --output o --backend cpu --verify
[ "$(tail -n 1 o)" = 2,0.30000000000000004,1 ] || fail "decimals: $(cat o)"
output_has 'lengths: double'
printf "$matrix real general\n2 2 1\n1 2 -5\n" >i
for algorithm in bfs components pagerank; do
  expect 0 - --input i --algorithm $algorithm --backend cpu --verify
done
rm -f o
expect 3 'has a length that is not at least 0' --input i --algorithm sssp --source 0
# No type rounds the width of a bucket to 0, which would be the automatic one.
expect 0 - --algorithm sssp --generate grid --side 5 --type float --delta 1e-46 --backend cpu --verify
output_has 'delta: 9.99999991097579e-38'
for type in float double integer; do
  expect 0 - --algorithm sssp --generate grid --side 20 --type $type --backend cpu --verify
done

# Other formats, found by their first lines or named.
printf 'c roads\np sp 3 2\na 1 2 5\na 2 3 6\n' >i
expect 0 - --input i --algorithm sssp --source 0 --output o --backend cpu --verify
table_is vertex,distance,parent 0,0,-1 1,5,0 2,11,1
output_has 'format: DIMACS shortest paths'
printf '%% sym unweighted\n1 2\n3 2\n' >i
expect 0 - --input i --source 0 --output o --backend cpu --verify
table_is vertex,level,parent 0,0,-1 1,1,0 2,2,1
output_has 'format: KONECT sym unweighted'
rm -f o
printf '4 4\n2 3\n1 4\n1 4\n2 3\n' >i
expect 3 'give --format metis or --format edges' --input i --source 0
expect 0 - --input i --format metis --algorithm components --backend cpu --verify
output_has 'edges: 8'
expect 0 - --input i --format edges --algorithm components --backend cpu --verify
output_has 'edges: 5'
printf '1 2\n2 3\n' >i
expect 0 - --input i --algorithm components --backend cpu
output_has 'numbering: from 0, but no edge names vertex 0; --first-vertex 1 numbers them from 1'

# Every algorithm, kind and route.
for algorithm in bfs sssp components pagerank; do
  for kind in 'kronecker --scale 8' 'uniform --scale 7 --edge-factor 2' 'grid --side 20'; do
    for route in device flat; do
      expect 0 - --algorithm $algorithm --generate $kind --backend cpu --route $route --verify
    done
  done
done
for strategy in thread warp block child_grid aggregated balanced; do
  expect 0 - --generate kronecker --scale 8 --backend cpu --route device --strategy $strategy \
    --heavy-degree 20 --searches 3 --verify
  output_has 'verified: 3 runs'
done
expect 0 - --generate kronecker --scale 8 --direction top_down --pending-launches 16 --backend cpu
output_has 'bottom up levels: 0'
expect 0 - --generate kronecker --scale 8 --searches 4 --report json --verify
for line in '"runs": 4,' '"harmonic_mean": ' '"verified": true' '"backend_reason": "'; do
  output_has "$line"
done
# Numbers are decimal, also with leading zeros, and may have units.
for source in 010,10 1k,1000 1e1,10; do
  expect 0 - --generate grid --side 40 --holes 0 --backend cpu --source ${source%,*} --output o
  grep -q "^${source#*,},0,-1$" o || fail "--source $source: $(head -n 3 o)"
done
expect 0 - --help

# Each failure prints one line and leaves no output.
rm -f o
expect_trace --generate kronecker --scale 7 --backend cpu --route device --strategy aggregated
expect 2 'give --input or --generate'
refuses_bad_launch_options --generate grid --side 5
expect 2 'none of kronecker, uniform, grid' --generate bush
expect 2 'none of bfs, sssp, components, pagerank' --generate grid --algorithm dfs
expect 2 'none of thread, warp' --generate grid --strategy all
expect 2 '--source and --searches are for bfs and sssp' --generate grid --algorithm pagerank --source 1
expect 2 'graph: --source is 900; it must be in [0, 400)' --generate grid --side 20 --source 900 --output o
expect 2 "'-1' is not a whole number" --generate grid --source -1
expect 2 "'0x10' is not a whole number" --generate grid --source 0x10
expect 2 "'-1' is not a number in [1e-30, 1e+30]" --generate grid --alpha -1
expect 2 "'0x10' is not a number in" --generate grid --beta 0x10
expect 2 "'inf' is not a number in [0, 1e+30]" --generate grid --algorithm sssp --delta inf
expect 2 '--type is for sssp' --generate grid --type double
expect 2 "'2' is" --input i --first-vertex 2
expect 2 'none of automatic, edges, matrix_market' --input i --format graphml
expect 2 '--damping is 1' --generate grid --algorithm pagerank --damping 1
expect 2 'no vertex has an edge' --generate grid --holes 100 --side 5
refuses() { # <message> <content of the file> [arguments...]
  printf "$2" >bad
  expect 3 "$1" --input bad --source 0 --output o "${@:3}"
}
refuses "line 2: '1 x' is not two vertices and an optional length" '0 1\n1 x\n'
refuses "line 1: '0 1 2 3' is not two vertices" '0 1 2 3\n'
refuses 'names vertex 7; it must be in [0, 5)' '0 1\n7 1\n' --vertices 5
refuses "line 1: '-1 1' is not two vertices" '\x2d1 1\n'
refuses 'names vertex 2000000000, but a file of 1 edge must name vertices below' '0 2000000000\n'
refuses 'has a length that is not at least 0' '0 1 -2\n' --algorithm sssp
refuses 'has a length that is not at least 0' '0 1 nan\n' --algorithm sssp
refuses "has a length of 'far', which is not a number" '0 1 far\n' --algorithm sssp
header='%%%%MatrixMarket matrix'
refuses 'is not a graph' "$header array pattern general\n2 2\n"
refuses 'is not a graph' "$header vector real general\n2 2\n"
refuses 'has complex values' "$header coordinate complex general\n2 2 0\n" --algorithm sssp
refuses 'has complex values' "$header coordinate complex hermitian\n2 2 0\n" --algorithm sssp
refuses 'resembles the banner' '%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n'
refuses 'a header line must be removed' 'source,target,weight\n0,1,2\n'
refuses 'or the numbers of vertices and edges' '3 2\n0 1\n1 2\n'
refuses 'is not the size of a square matrix' "$header coordinate real general\n2 3 0\n"
refuses 'is not a number of rows' "$header coordinate real general\n2 2\n"
refuses 'unless --vertices states their number' "$header coordinate pattern general\n2147483647 2147483647 0\n"
refuses 'states another number of vertices than --vertices, 3' "$header coordinate pattern general\n2 2 0\n" --vertices 3
refuses 'is too large for float' '0 1 1e39\n' --algorithm sssp --type float
refuses 'is not a whole number, as --type integer demands' '0 1 .5\n' --algorithm sssp --type integer
refuses 'has no line with the matrix' "$header coordinate real general\n"
refuses 'has 1 entry; its size states 2' "$header coordinate pattern general\n2 2 2\n1 2\n"
refuses 'names vertex 0; it must be in [1, 3)' "$header coordinate pattern general\n2 2 1\n0 2\n"
refuses 'names vertex 3; it must be in [1, 3)' "$header coordinate pattern general\n2 2 1\n1 3\n"
refuses 'is not an entry of the matrix' "$header coordinate real general\n2 2 1\n1 2\n"
expect 3 'cannot read nothing' --input nothing
head -c 30 i.gz >bad
expect 3 'is not a complete gzip file: it ends early' --input bad --source 0 --output o
{ head -c 25 i.gz; printf 'xxxxxxxxxxxxxxxx'; tail -c 10 i.gz; } >bad
expect 3 'is not a complete gzip file' --input bad --source 0 --output o
