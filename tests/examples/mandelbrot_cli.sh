#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the command line of the example program mandelbrot: mandelbrot_cli.sh <program> <work folder>
. "$(dirname "$0")/cli_checks.sh"
says() { grep -Eq -- "$1" out || fail "no '$1' in $(cat out)"; }
# Prints the bytes of a small image's rows. Each row begins with a filter byte.
filtered() {
  local at
  at=$(grep -abo IDAT "$1" | head -n 1 | cut -d: -f1)
  # gzip decodes the data if its own header replaces the two bytes of zlib's.
  { printf '\x1f\x8b\x08\0\0\0\0\0\0\0'; tail -c +$((at + 7)) "$1"; } | gzip -dc 2>/dev/null ||
    true
}
pixels() { filtered "$1" | od -An -tx1 -v | tr -d ' \n'; }
# Prints each row as hexadecimal bytes, without PNG's filters.
rows_of() { # file, width
  filtered "$1" | od -An -tu1 -v -w1 | awk -v bytes=$((3 * $2)) '
    function apart(a, b) { return a < b ? b - a : a - b }
    {
      i = (NR - 1) % (bytes + 1)
      if (i == 0) { filter = $1; next }
      left = i > 3 ? row[i - 3] : 0
      up = above[i] + 0
      corner = i > 3 ? above[i - 3] + 0 : 0
      sum = left + up - corner
      nearest = apart(sum, up) <= apart(sum, corner) ? up : corner
      if (apart(sum, left) <= apart(sum, nearest)) nearest = left
      split(0 " " left " " up " " int((left + up) / 2) " " nearest, predicted)
      row[i] = ($1 + predicted[filter + 1]) % 256
      printf "%02x%s", row[i], i == bytes ? "\n" : ""
      if (i == bytes) for (k in row) above[k] = row[k]
    }'
}

small='--width 150 --height 130 --max-iterations 200 --backend cpu'
for route in automatic device flat; do
  expect 0 - $small --route $route --compare --pending-launches 64
  says '^backend: cpu \(requested\)$'
  says '^image: 150 x 130$'
  says '^divided rectangles: [1-9]'
  says '^pixels that differ from the exhaustive image: 0 of 19500$'
  says '^speedup: [0-9]'
done
expect 0 - $small --method exhaustive --report json
says '"iterated_pixels": 19500,'
says '"filled_pixels": 0,'
says '"julia": null,'
expect 0 - $small --julia -0.8,+0.156 --zoom 0.9 --tile 4096 --granularity per_task --threshold 100 \
  --coarsening 2 --route flat --flat-loop host --compare --report json
says '"differing_pixels": 0,'
says '"route": "flat",'
says '"zoom": 0.9,'
tr -d ' \n' <out | grep -q '"center":\[0.0,0.0\],"zoom":0.9,"julia":\[-0.8,0.156\],' || fail "wrong view"
expect_trace $small --route device
expect_trace $small --route flat

# The colors of an image of one pixel: in the set; outside, where one dwell has the middle color.
one='--width 1 --height 1 --backend cpu --quiet --image p.png'
expect 0 - $one --center -0.1,0
[ "$(pixels p.png)" = 00000000 ] || fail "a point of the set is not black"
for palette in fire:dc4614 ocean:148caa gray:8c8c8c; do
  expect 0 - $one --center 2,-1.5 --palette ${palette%:*}
  [ "$(pixels p.png)" = "00${palette#*:}" ] || fail "wrong color of $palette: $(pixels p.png)"
done
# The labels are beside the set, which stays as it is.
size_of() { od -An -tu1 -j16 -N8 "$1" | awk '{ print $3 * 256 + $4, $7 * 256 + $8 }'; }
expect 0 - --width 60 --height 40 --backend cpu --quiet --image p.png
[ "$(size_of p.png)" = '60 40' ] || fail "wrong size: $(size_of p.png)"
rows_of p.png 60 >rows
expect 0 - --width 60 --height 40 --backend cpu --quiet --labels --image p.png
read -r width height < <(size_of p.png)
[ "$width" -gt 60 ] && [ "$height" -gt 40 ] || fail "no labels: $width x $height"
# Three white rows are at the bottom.
rows_of p.png "$width" | tail -n 43 | sed -n 1,40p >labeled
cut -c 1-$((6 * 60)) labeled | diff -q rows - || fail "the set beside the labels is another one"
[ "$(sort -u rows | wc -l)" -gt 9 ] || fail "the rows of the set are alike"
right_of_set() { cut -c $((1 + 6 * 60))- | fold -w 6; }
head -n 1 labeled | right_of_set | grep -x ffffe6 >right || fail "the scale does not end with the last color"
tail -n 1 labeled | right_of_set | grep -x 0a021e >right || fail "the scale does not begin with the first color"
# Four pixels are lines only.
expect 0 - --width 2 --height 2 --backend cpu --image-of-rectangles p.png
grep -q '^iterated pixels: 4$' out || fail "not all pixels are iterated"
[ -s p.png ] || fail "no picture"
rm p.png
# All points are in the main cardioid, and would be iterated for hours.
expect 0 - --width 100 --height 100 --center -0.1,0 --zoom 10 --skip-bulbs --max-iterations 1000000000 --backend cpu

refuses_bad_launch_options
expect 2 "--width: '0' is not a whole number of at least 1" --width 0
expect 2 "--height: '65537' is too large; the maximum is 65536" --height 65537
expect 2 "'nan' is not a number" --center nan,0
expect 2 '--center' --center 1
expect 2 '--center' --center 1,2,3
expect 2 "'2e6' is not a number in" --julia 0,2e6
expect 2 "--zoom: '0' is not a number" --zoom 0
expect 2 '--zoom is 1e+15; with this center and size, neighboring pixels' --zoom 1e15
expect 2 "--max-iterations: '0' is not a whole number" --max-iterations 0
expect 2 '--tile is 7; it must be 0 or in [8, 65536]' --tile 7
expect 2 '--coarsening is 5000; it must be in [1, 4096]' --coarsening 5000
expect 2 "method 'fast' is neither mariani_silver nor exhaustive" --method fast
expect 2 "palette 'red' is none of fire, ocean, gray" --palette red --image p.png
expect 2 '--palette requires --image' --palette gray
expect 2 '--labels requires --image' --labels
expect 2 '--labels is for images of at most 16384 pixels a side' --width 16385 --height 1 --labels --image p.png
expect 2 '--compare and --image-of-rectangles are for the method mariani_silver' --method exhaustive --compare
expect 2 'pixels, and a PNG file at most 1431655765' --width 65536 --height 65536 --image p.png
expect 2 "'p.jpg' must end in .png" --image p.jpg
expect 2 '--image and --image-of-rectangles name the same file' --image p.png --image-of-rectangles p.png
if ! "$program" --backend cuda --width 9 --height 9 >out 2>err; then
  expect 4 'the cuda backend cannot run' --backend cuda --width 9 --height 9
fi
echo "all as expected"
