#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the command line of the example program spatial: spatial_cli.sh <program> <work folder>
. "$(dirname "$0")/cli_checks.sh"

file_is() { # file, lines
  printf '%s\n' "${@:2}" >expected
  cmp -s "$1" expected || fail "$1: $(cat "$1")"
}

# Tables of known points: a header line, blanks, Windows line ends, no newline at the end.
printf 'x,y\n0,0\n 3 ,0\r\n0,4\n10,1e1' >i
cp i i.before
expect 0 - --input i --nearest 2 --output o --within 4 --counts c --statistics s --backend cpu --verify
file_is o query,rank,neighbor,distance 0,1,1,3 0,2,2,4 1,1,0,3 1,2,2,5 2,1,0,4 2,2,1,5 \
  3,1,2,11.661903789690601 3,2,1,12.206555615733702
file_is c query,count 0,2 1,1 2,1 3,0
# The mean distance is (3 + 3 + 4 + 11.66...) / 4; of four uniform points in 100 it is 2.5.
file_is s statistic,value mean,5.41547594742265 minimum,3 quantile_1,3 quantile_5,3 quantile_25,3 \
  quantile_50,3.5 quantile_75,5.91547594742265 quantile_95,10.512618221237009 \
  quantile_99,11.432046675999882 maximum,11.661903789690601 clark_evans,2.16619037896906
for line in 'points: 4' 'dimensions: 2' 'backend: cpu (requested)' 'verified: 4 queries' \
  'nearest neighbors: 2 of each of 4 queries' 'points within 4: 1 on average, 0 to 2' \
  'nearest distance, clark evans: 2.16619'; do
  output_has "$line"
done
cmp -s i i.before || fail "the input was changed"
# More neighbors than points: the table ends with the last one.
expect 0 - --input i --nearest 9 --output o --backend cpu --verify
[ "$(wc -l <o)" = 13 ] || fail "not three neighbors of each point: $(cat o)"

# Queries at other places, and points in three dimensions. A query may be at a point.
printf '1,0,0\n0,1,0\n0,0,2\n' >i
printf 'x,y,z\n0,0,2\n5,0,0\n' >q
"$program" --input i --queries q --nearest 1 --output - --within 2.3 --counts c --backend cpu --verify \
  >out 2>err || fail "--output - ended with status $?"
[ "$(tr '\n' ' ' <out)" = 'query,rank,neighbor,distance 0,1,2,0 1,1,0,4 ' ] || fail "neighbors: $(cat out)"
grep -q '^points within 2.3: 1.5 on average' err || fail "no report on stderr"
file_is c query,count 0,3 1,0
# The squares of the distances overflow, or are less than any number.
for exponent in 200 -200 300 -300; do
  printf '0,0\n4e%d,0\n9e%d,0\n0,3e%d\n' $exponent $exponent $exponent >i
  expect 0 - --input i --nearest 1 --output o --within 3.5e$exponent --counts c --cluster 4.5e$exponent --labels l \
    --statistics s --backend cpu --verify
  cut -d, -f 1-3 o >o.ids
  file_is o.ids query,rank,neighbor 0,1,3 1,1,0 2,1,1 3,1,0
  [ "$(sed -n 3p o)" = "1,1,0,4e$(printf '%+d' $exponent)" ] || fail "another distance: $(cat o)"
  file_is c query,count 0,1 1,0 2,0 3,1
  file_is l point,cluster 0,0 1,0 2,2 3,0
  # (3 + 4 + 5 + 3) / 4; of four uniform points in 9 * 3 it is sqrt(27 / 4) / 2.
  awk -F, -v e=$exponent '$1 == "mean" { m = $2 / 10 ^ e } $1 == "clark_evans" { c = $2 }
    END { exit !(m > 3.7499 && m < 3.7501 && c > 2.88674 && c < 2.88676) }' s || fail "statistics: $(cat s)"
done
# Places far from the points, and coordinates whose difference overflows.
printf '0,0\n1,0\n' >i
printf '1e300,0\n-1e-300,0\n' >q
expect 0 - --input i --queries q --nearest 1 --output o --within 9e299 --counts c --backend cpu --verify
file_is o query,rank,neighbor,distance 0,1,0,1e+300 1,1,0,1e-300
file_is c query,count 0,0 1,2
printf -- '-1.7e308,0\n1.7e308,0\n1.5e308,0\n' >i
expect 0 - --input i --nearest 1 --output o --backend cpu --verify
cut -d, -f 1-3 o >o.ids
file_is o.ids query,rank,neighbor 0,1,2 1,1,2 2,1,1
# A periodic box: neighbors across its faces, and a place outside of it.
printf '0.125,0.5\n0.875,0.5\n0.5,0.75\n' >i
expect 0 - --input i --nearest 1 --output o --within 0.25 --counts c --cluster 0.25 --labels l --period 1 \
  --statistics s --backend cpu --verify
file_is o query,rank,neighbor,distance 0,1,1,0.25 1,1,0,0.25 2,1,0,0.45069390943299864
file_is c query,count 0,1 1,1 2,0
file_is l point,cluster 0,0 1,0 2,2
# The mean is (0.25 + 0.25 + 0.4507) / 3; of three uniform points in the box it is 0.5 / sqrt(3).
awk -F, '$1 == "clark_evans" { exit !($2 > 1.09776 && $2 < 1.09778) }' s || fail "statistics: $(cat s)"
printf -- '-3,8.5\n' >q
for period in 1 1,1 1,0; do
  expect 0 - --input i --queries q --nearest 1 --output o --within 0.25 --counts c --period $period --backend cpu --verify
  if [ $period = 1,0 ]; then
    file_is o query,rank,neighbor,distance 0,1,2,7.766112283504533
    file_is c query,count 0,0
  else
    file_is o query,rank,neighbor,distance 0,1,0,0.125
    file_is c query,count 0,2
  fi
done
expect 0 - --generate clusters --n 1500 --dimensions 3 --nearest 5 --within 0.3 --period 4,3,0 --backend cpu --verify
printf '1,0,0\n0,1,0\n0,0,2\n' >i
: >q
expect 0 - --input i --queries q --nearest 1 --output o --within 1 --backend cpu
file_is o query,rank,neighbor,distance

# The neighbors of 90 points equal those of a search in awk.
for dimensions in 2 3; do
  awk -v d=$dimensions 'BEGIN { srand(7); for (i = 0; i < 90; ++i) {
    line = rand(); for (k = 1; k < d; ++k) line = line "," rand(); print line } }' >i
  awk -F, -v d=$dimensions '{ for (k = 1; k <= d; ++k) x[NR, k] = $k } END {
    for (i = 1; i <= NR; ++i) for (rank = 1; rank <= 4; ++rank) {
      least = 9; for (j = 1; j <= NR; ++j) if (j != i && used[i, j] == 0) {
        sum = 0; for (k = 1; k <= d; ++k) sum += (x[i, k] - x[j, k]) ^ 2
        if (sum < least) { least = sum; best = j } }
      used[i, best] = 1; print i - 1 "," rank "," best - 1 } }' i >expected
  expect 0 - --input i --nearest 4 --output o --backend cpu --leaf-size 3
  tail -n +2 o | cut -d, -f 1-3 | cmp -s - expected || fail "other neighbors in $dimensions dimensions"
done

# Clusters: friends of friends, and DBSCAN with a border point and noise.
printf '9,9\n0,0\n1,0\n2,0\n1,1\n9,8\n' >i
expect 0 - --input i --cluster 1 --labels l --backend cpu
file_is l point,cluster 0,0 1,1 2,1 3,1 4,1 5,0
output_has 'clusters: 2 at distances of at most 1, 6 core points, 0 points of noise'
expect 0 - --input i --cluster 1 --min-points 4 --labels l --backend cpu --report json
file_is l point,cluster 0,-1 1,2 2,2 3,2 4,2 5,-1
for line in '"clusters": 1' '"core_points": 1' '"noise": 2' '"min_points": 4'; do output_has "$line"; done

# Every kind, dimension and route, compared with brute force.
for kind in uniform clusters curve; do
  for dimensions in 2 3; do
    for route in device flat; do
      expect 0 - --generate $kind --n 1500 --dimensions $dimensions --nearest 5 --within 0.05 \
        --backend cpu --route $route --leaf-size 4 --block-points 64 --verify
      output_has 'verified: 200 queries'
    done
  done
done
# The index of Clark and Evans is about 1 for uniform points, and less for clusters.
index() { sed -n 's/^clark_evans,//p' s; }
expect 0 - --generate uniform --n 3000 --statistics s
awk -v i="$(index)" 'BEGIN { exit !(i > 0.95 && i < 1.05) }' || fail "uniform points have the index $(index)"
expect 0 - --generate uniform --n 3000 --dimensions 3 --statistics s
awk -v i="$(index)" 'BEGIN { exit !(i > 0.95 && i < 1.1) }' || fail "uniform points in 3D have the index $(index)"
expect 0 - --generate clusters --n 3000 --statistics s --report json
awk -v i="$(index)" 'BEGIN { exit !(i < 0.6) }' || fail "clusters have the index $(index)"
for line in '"points": 3000' '"dimensions": 2' '"quantile_50": ' '"queries": 3000'; do output_has "$line"; done
# Equal points: the box has no area.
printf '1,1\n1,1\n' >i
expect 0 - --input i --statistics s --tree t.svg --leaf-size 1
grep -qx 'clark_evans,' s || fail "equal points have the index $(index)"
output_has 'clark evans: not defined, because the box around the points has no area'
expect 0 - --input i --statistics s --report json
output_has '"clark_evans": null'
grep -q '<path' t.svg && fail "equal points have a divided cell"

# The picture: four corners and a point that share two cells. Leaves of one point.
printf '0,0\n8,0\n0,8\n8,8\n1,1\n' >i
expect 0 - --input i --tree t.svg --leaf-size 1 --image-size 80
grep -c '<circle' t.svg | grep -qx 5 || fail "not five points"
[ "$(grep -o '<path d="[^z]*' t.svg | tr '\n' ';')" = '<path d="M0 60h20v20h-20;<path d="M0 0h80v80h-80;' ] ||
  fail "other cells: $(grep '<path' t.svg)"
grep -q '<circle cx="80" cy="0"' t.svg || fail "no point in the upper right corner"
expect 0 - --input i --tree t.PNG --leaf-size 1 --image-size 80
[ "$(od -An -tu1 -j 16 -N 8 t.PNG | tr -s ' ')" = ' 0 0 0 96 0 0 0 96' ] || fail "another size of the picture"

# Columns by name and by number, and the format .xyz: two points at a distance of 5.
nearest_is_5() { # arguments...
  expect 0 - "$@" --nearest 1 --output o --backend cpu
  file_is o query,rank,neighbor,distance 0,1,1,5 1,1,0,5
}
printf 'star;Y;X\nVega;4;3\nDeneb;0;0\n' >j
nearest_is_5 --input j
output_has 'columns: X,Y'
nearest_is_5 --input j --columns y,x
printf '9 0 3 4\n9 0 0 0\n' >j
nearest_is_5 --input j --columns 3,4
output_has 'columns: 3,4'
printf '2\n\nH 3 4 0\nO 0 0 0\n' >j
nearest_is_5 --input j --report json
output_has '"columns": "2,3,4 (.xyz)"'
rm -f o
expect 2 '--columns requires --input' --generate uniform --columns x,y
expect 2 "'x' is neither two or three names of columns" --input j --columns x

# Each failure prints one line and leaves no output.
rm -f o
expect_trace --generate uniform --n 5000 --route device --backend cpu
expect_trace --generate uniform --n 5000 --route flat --backend cpu
refuses_bad_launch_options --generate uniform --n 5
expect 2 'give --input or --generate'
expect 2 'none of uniform, clusters, curve' --generate bush
expect 2 '--input excludes --generate' --generate uniform --input i
expect 2 '--n requires --generate' --input i --n 4
expect 2 "--dimensions: '4' is too large; the maximum is 3" --generate uniform --dimensions 4
expect 2 "'0' is not a whole number of at least 1" --input i --nearest 0
expect 2 '--output requires --nearest' --input i --output o
expect 2 '--counts requires --within' --input i --counts o
expect 2 "--within: '-1' is not a number in" --input i --within -1
expect 2 '--labels requires --cluster' --input i --labels o
expect 2 '--min-points requires --cluster' --input i --min-points 2
expect 2 "'0' is not a whole number of at least 1" --input i --cluster 1 --min-points 0
expect 2 "--cluster: '-1' is not a number in" --input i --cluster -1
expect 2 '--period is for --nearest, --within, --cluster and --statistics' --input i --period 1
expect 2 "--period: '-1' is not a number in" --input i --nearest 1 --period -1
expect 2 '--period has 3 numbers; the points have 2 dimensions' --input i --nearest 1 --period 9,9,9
expect 2 '--period is 7, but the points have coordinates x from 0 to 8' --input i --nearest 1 --output o --period 7,9
expect 2 '--queries is for --nearest and --within' --input i --queries q
expect 2 '--verify is for --nearest and --within' --input i --verify
expect 2 "'t.pdf' must end in .svg or .png" --input i --tree t.pdf
expect 2 '--tree draws two dimensions; --dimensions is 3' --generate uniform --dimensions 3 --tree p.png
expect 2 '--leaf-size is 5000; it must be in [1, 1024]' --input i --leaf-size 5000
refuses() { # <message> <content of the file> [arguments...]
  printf "$2" >bad
  expect 3 "$1" --input bad --nearest 1 --output o "${@:3}"
}
refuses "line 1: '1,2,3,4' is neither two numbers x,y nor three numbers x,y,z; --columns chooses columns" '1,2,3,4\n'
refuses "line 2: '1,2,3' has 3 columns; the lines before it have 2" '1,2\n1,2,3\n'
refuses "line 3: '1,2' has 2 columns; the lines before it have 3" 'x,y,z\n1,2,3\n1,2\n'
refuses 'bad: the first line states 2 points, but the file has 1' '2\n\nH 1 2 3\n'
refuses "line 2: '9007199254740993,1' has a x of '9007199254740993', which a double would round" '1,2\n9007199254740993,1\n'
refuses "line 1: 'a,b' is a header line without the columns x and y" 'a,b\n1,2\n'
refuses "line 1: '1,2' has 2 columns; --columns names column '3'" '1,2\n' --columns 1,3
refuses "line 2: '1,x' has a y of 'x', which is not a finite number" '1,2\n1,x\n'
refuses "has a x of 'inf', which is not a finite number" 'inf,2\n'
refuses "line 2: 'x,y' has a x of 'x', which is not a finite number" '1,2\nx,y\n'
refuses 'bad: the number of points is 0' 'x,y\n'
refuses 'the number of points is 1; --statistics needs two or more' '1,2\n' --statistics s2
printf '1,2,3\n' >bad
expect 3 'bad: the places have 3 dimensions, and the points 2' --input i --queries bad --nearest 1 --output o
expect 2 '--tree draws two dimensions; the points have three' --input bad --tree p.png
expect 3 'cannot read nothing' --input nothing
OMPI_COMM_WORLD_SIZE=2 expect 2 'several processes, but this program runs as one' --generate uniform --n 10
OMPI_COMM_WORLD_SIZE=1 expect 0 - --version
echo "all as expected"
