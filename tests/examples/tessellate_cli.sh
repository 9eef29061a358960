#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the command line of the example program tessellate: tessellate_cli.sh <program> <work folder>
. "$(dirname "$0")/cli_checks.sh"
says() { grep -Eq -- "$1" out || fail "no '$1' in $(cat out)"; }
polylines() { grep -o '<polyline points="[^"]*' "$1" | cut -d'"' -f2; }

# ---- curves ----
# A straight line, and a parabola with y = 6 t (1 - t), x = 3 t: its bound is 1.5, and a quarter of
# that for each half. The farthest points are in the middle of the second and third of four parts,
# 0.09375 above chords with slope 1/2, so the distance is 0.0839. A comment, an empty line, tabs,
# commas, Windows line ends.
printf '# two curves\n0 0 1 1 2 2 3 3\n\n 0,0\t1 2  2 , 2 3.0 0e1\r\n' >i
cp i i.before
for route in automatic device flat; do
  expect 0 - --input i --flatness 0.1 --output c.svg --compare --backend cpu --route $route
  polylines c.svg >lines
  printf '%s\n' '0,0 3,3' '0,0 0.75,1.125 1.5,1.5 2.25,1.125 3,0' | cmp -s - lines || fail "polylines: $(cat lines)"
  for line in 'curves: 2' 'flatness: 0.1' 'backend: cpu (requested)' 'pieces: 5' 'points: 7' \
    'pieces that may be too far: 0' 'largest measured distance: 0.0835'; do
    output_has "$line"
  done
done
cmp -s i i.before || fail "the input was changed"
grep -q 'viewBox="-0.06 -3.06 3.12 3.12"' c.svg || fail "other box: $(head -n 1 c.svg)"
# At the depth limit the result is too far; no file is written, but the report.
expect 1 'the largest measured distance is 0.264906, more than the flatness 0.1; pieces that were not divided further: 2' \
  --input i --flatness 0.1 --max-depth 1 --output o.svg --compare --backend cpu
[ ! -e o.svg ] || fail "a bad result was written"
output_has 'pieces that may be too far: 2'
# The points of one curve, at the same place, have a picture without extent.
printf '5 5 5 5 5 5 5 5\n' | "$program" --input - --output - --compare --backend cpu >out 2>err || fail "$(cat err)"
[ "$(polylines out)" = '5,5 5,5' ] || fail "polyline of a point: $(cat out)"
grep -q 'viewBox="4.98 -5.02 0.04 0.04"' out || fail "box of a point: $(cat out)"
grep -q '^largest measured distance: 0$' err || fail "no report on stderr"
# A closed curve: y = 30 t (1 - t), x = y (1 - 2 t), in eight parts.
printf '0 0  10 10  -10 10  0 0\n' >i
expect 0 - --input i --flatness 0.25 --output c.svg --compare --backend cpu
polylines c.svg >lines
echo '0,0 2.4609375,3.28125 2.8125,5.625 1.7578125,7.03125 0,7.5 -1.7578125,7.03125 -2.8125,5.625 -2.4609375,3.28125 0,0' |
  cmp -s - lines || fail "closed curve: $(cat lines)"
output_has 'points: 9'
# Each curve decides: 50 curves of different sizes.
expect 0 - --generate curves --n 50 --seed 3 --flatness 1e-3 --output c.svg --compare --report json --backend cpu
says '"largest_distance": 0.000[0-9]'
polylines c.svg | awk '{ if (least == 0 || NF < least) least = NF; if (NF > most) most = NF }
  END { exit !(NR == 50 && most >= 4 * least) }' || fail "not 50 polylines of different lengths"

# ---- patches ----
# Reads a PLY file by awk and od alone. Prints the numbers of vertices and triangles, and of edges
# that occur once, twice in opposite directions, and otherwise. Writes the file "vertices".
read_ply() { # file
  local header vertices triangles
  header=$(grep -abo -m 1 end_header "$1" | cut -d: -f1)
  header=$((header + 11))
  head -c $header "$1" >header
  printf '%s\n' ply 'format binary_little_endian 1.0' 'property double x' 'property double y' 'property double z' \
    'property list uchar int vertex_indices' >expected
  grep -av '^element\|^end_header' header | cmp -s - expected || fail "header: $(cat header)"
  vertices=$(sed -n 's/^element vertex //p' header)
  triangles=$(sed -n 's/^element face //p' header)
  [ "$(wc -c <"$1")" -eq $((header + 24 * vertices + 13 * triangles)) ] || fail "another size than $vertices vertices"
  od -An -v -tf8 -w24 -j $header -N $((24 * vertices)) "$1" >vertices
  od -An -v -tu1 -w13 -j $((header + 24 * vertices)) "$1" |
    awk -v vertices="$vertices" -v triangles="$triangles" '
      function index_at(i) { return $i + 256 * ($(i + 1) + 256 * ($(i + 2) + 256 * $(i + 3))) }
      { if ($1 != 3) bad = 1
        for (k = 0; k < 3; ++k) corner[k] = index_at(2 + 4 * k)
        for (k = 0; k < 3; ++k) {
          a = corner[k]; b = corner[(k + 1) % 3]
          if (a >= vertices || a == b) bad = 1
          used[a] = 1
          ++uses[a " " b] } }
      END {
        for (v in used) ++found
        for (e in uses) { split(e, ends, " "); other = uses[ends[2] " " ends[1]] + 0
          if (uses[e] == 1 && other == 0) ++once
          else if (uses[e] == 1 && other == 1) ++half
          else ++otherwise }
        if (bad || NR != triangles || found != vertices) print "malformed"
        else print vertices, triangles, once + 0, half / 2, otherwise + 0 }'
}

# The teapot is open along six lines. Its mesh is the same on all routes.
for route in device flat; do
  for strategy in work_sharing task_per_node; do
    expect 0 - --teapot --flatness 0.1 --output t.ply --compare --backend cpu --route $route --strategy $strategy
    [ ! -e first.ply ] || cmp -s t.ply first.ply || fail "another mesh on the route $route with $strategy"
    mv t.ply first.ply
  done
done
for line in 'patches: 32' 'edges that do not occur twice: 0' 'edges between patches of different orientations: 0'; do
  output_has "$line"
done
read -r vertices triangles border inner wrong <<<"$(read_ply first.ply)"
[ "$wrong" -eq 0 ] || fail "$wrong edges occur more than twice"
output_has "points: $vertices"
output_has "pieces: $triangles"
output_has "border edges: $border"
output_has "edges: $((border + inner))"
[ "$border" -ge 32 ] && [ $((3 * triangles)) -eq $((border + 2 * inner)) ] || fail "$border border edges"
awk '{ for (k = 1; k <= 3; ++k) { if (NR == 1 || $k < low[k]) low[k] = $k; if (NR == 1 || $k > high[k]) high[k] = $k } }
  END { exit !(low[1] == -3 && high[1] > 3.4 && high[1] < 3.525 && low[2] == -2 && high[2] == 2 && low[3] == 0 &&
    high[3] == 3.15) }' vertices ||
  fail "the teapot has another size"

# A flat patch is two triangles; its orientation is that of u and v.
patch() { # x of the first point, sign of the direction along v, bend
  awk -v x="$1" -v sign="$2" -v bend="$3" 'BEGIN { for (i = 0; i < 4; ++i) for (j = 0; j < 4; ++j)
    printf "%s %s %s ", x + i, sign * j, bend * i * (3 - i) * j; print "" }'
}
patch 0 1 0 >i
expect 0 - --input i --output f.ply --flatness 1e-9 --compare --backend cpu
[ "$(read_ply f.ply)" = '4 2 4 1 0' ] || fail "flat patch: $(read_ply f.ply)"
[ "$(tr -s ' \n' ' ' <vertices)" = ' 0 0 0 0 3 0 3 0 0 3 3 0 ' ] || fail "vertices: $(cat vertices)"
[ "$(tail -c 26 f.ply | od -An -tu1 -v -w26 | tr -s ' ')" = ' 3 0 0 0 0 2 0 0 0 3 0 0 0 3 0 0 0 0 3 0 0 0 1 0 0 0' ] ||
  fail "triangles: $(tail -c 26 f.ply | od -An -tu1)"
# A neighbor of the opposite orientation, and a third patch at the same border, are no cracks: the
# edges of the first border occur twice in one direction, those of the second one three times.
{ patch 0 1 0.3; patch 0 -1 0.3; } >i
expect 0 - --input i --output f.ply --compare --flatness 0.05 --backend cpu
says '^edges between patches of different orientations: [1-9]'
{ patch 0 1 0.3; patch 3 1 0.1; patch 3 1 0.2; } >i
expect 0 - --input i --compare --flatness 0.05 --backend cpu
# The same patch twice: its inner edges occur four times.
{ patch 0 1 0.3; patch 0 1 0.3; } >i
expect 1 'edges do not occur exactly twice' --input i --compare --output o.ply --flatness 0.05 --backend cpu
[ ! -e o.ply ] || fail "a mesh with cracks was written"
# A point and a line have no area and no triangles. Beside a surface they are no cracks.
{ patch 0 0 0; awk 'BEGIN { for (i = 0; i < 16; ++i) printf "1 2 3 "; print "" }'; } >i
expect 0 - --input i --compare --flatness 0.05 --backend cpu --report json
says '"pieces": 0,'
says '"patches_without_area": 2,'
says '"largest_distance": 0.0,'
patch 0 1 0 >>i
expect 0 - --input i --compare --output f.ply --flatness 0.05 --backend cpu
output_has 'patches without area, which are not measured: 2'
output_has 'pieces: 2'
# A closed tube that is within the flatness of a line has triangles.
awk 'BEGIN { split("0 1 -1 0", y); split("0 1 1 0", z)
  for (i = 1; i <= 4; ++i) for (j = 0; j < 4; ++j) printf "%s %s %s ", j, y[i], z[i]; print "" }' >i
expect 0 - --input i --compare --flatness 3 --backend cpu
# Neighbors of different heights in a terrain.
expect 0 - --generate patches --n 7 --flatness 0.01 --output g.ply --compare --report json --backend cpu
says '"kind": "patches"'
says '"shapes": 7,'
says '"wrong_edges": 0,'
read -r vertices triangles border inner wrong <<<"$(read_ply g.ply)"
[ "$wrong" -eq 0 ] && grep -q "\"border_edges\": $border," out || fail "edges of the terrain: $border, $wrong"
[ $((vertices - border - inner + triangles)) -eq 1 ] || fail "the terrain is not one disk"
"$program" --teapot --output - --flatness 0.5 --backend cpu >s.ply 2>err || fail "$(cat err)"
[[ $(read_ply s.ply) == [1-9]* ]] || fail "no mesh on standard output"
grep -q '^patches: 32$' err || fail "no report on stderr"

expect_trace --generate curves --n 20 --route device --backend cpu
expect_trace --teapot --flatness 0.3 --route flat --backend cpu
grep -q write_triangles t.json || fail "no kernel in the trace"

# ---- errors ----
refuses_bad_launch_options --teapot
expect 2 'give --teapot, --input or --generate'
expect 2 "kind 'spheres' is neither curves nor patches" --generate spheres
expect 2 'excludes' --generate curves --teapot
expect 2 'excludes' --generate curves --input i
expect 2 '--n requires --generate' --teapot --n 4
expect 2 '--seed requires --generate' --input i --seed 4
expect 2 "--n: '0' is not a whole number" --generate curves --n 0
expect 2 "--flatness: '0' is not a number in [1e-100, 1e+100]" --teapot --flatness 0
expect 2 "--max-depth: '32' is too large; the maximum is 31" --teapot --max-depth 32
expect 2 "strategy 'heap' is neither" --teapot --strategy heap
expect 2 "'p.png' must end in .svg (curves) or .ply (patches), or be -" --teapot --output p.png
expect 2 "--output: patches are written to a file that ends in .ply, not to 'c.svg'" --teapot --output c.svg
expect 2 "--output: curves are written to a file that ends in .svg, not to 'c.ply'" --generate curves --output c.ply
expect 1 'tasks did not fit; raise --capacity, which is 100' --teapot --strategy task_per_node --capacity 100 \
  --output o.ply --backend cpu
[ ! -e o.ply ] || fail "an incomplete mesh was written"
refuses() { # <message> <content of the file>
  printf "$2" >bad
  expect 3 "$1" --input bad --output o.svg --backend cpu
}
nan_line=$(patch 0 1 0 | awk '{ $30 = "nan"; print }')
refuses "bad, line 2: '1 2 3 4 5 6 7' is neither a curve of 8 numbers nor a patch of 48, but has 7" '#\n1 2 3 4 5 6 7\n'
refuses "line 1: '0 0 1 1 2 2 3 x' has a number 8 of 'x', which is not a finite number" '0 0 1 1 2 2 3 x\n'
refuses "has a number 30 of 'nan', which is not a finite number" "$nan_line\n"
refuses "has a number 3 of '-2e100', which is more than 1e100 in magnitude" '0 0 -2e100 1 2 2 3 0\n'
refuses 'has 48 numbers, but the file begins with curves' "0 0 1 1 2 2 3 0\n$nan_line\n"
refuses 'has 8 numbers, but the file begins with patches' "$(patch 0 1 0)\n0 0 1 1 2 2 3 0\n"
refuses 'bad: the number of curves and patches is 0' '# none\n\n'
expect 3 'cannot read nothing' --input nothing
if ! "$program" --backend cuda --teapot >out 2>err; then
  expect 4 'the cuda backend cannot run' --backend cuda --teapot
fi
echo "all as expected"
