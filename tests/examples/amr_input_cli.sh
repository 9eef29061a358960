#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the parameter file of the example program amr: amr_input_cli.sh <program> <work folder>
page=$(realpath "$(dirname "$0")/../../examples/README.md")
. "$(dirname "$0")/cli_checks.sh"

# value <name>: prints the value of a name in the report
value() { sed -n "s|^$1: ||p" out; }

# A shock runs into a bubble, with keys of all sections, comments, quotes and both spellings of lists.
cat >bubble.inputs <<'EOF'
# A shock of Mach 2 runs into a light bubble.
dim = 2
stop_time = 0.02
geometry.prob_lo = 0 -0.5     # the spelling of AMReX
geometry.prob_hi = [2, 0.5]   # that of TOML

[geometry]
lo_bc = inflow reflecting
hi_bc = outflow reflecting

[amr]
n_cell = 32 16
max_level = 1
derive_plot_vars = mach vorticity
regrid_int = 2
refine_above = 0.05
subcycling_mode = None
do_reflux = 1

[hydro]
gamma = 1.4
cfl = 0.4
limiter = "van-leer"
keep_positive = 1

[region.air]
density = 1
pressure = 1

[region.shocked]
plane_point = 0.2 0
plane_normal = 1 0
density = 2.6667
velocity = 1.4790 0
pressure = 4.5

[region.bubble]
sphere_center = 0.6 0
sphere_radius = 0.25
density = 0.138
pressure = 1

[output]
folder = "bubble"
frames = 1
field = density
history_int = 5
EOF
expect 0 - --input bubble.inputs --backend cpu --quiet --report b.json
[ "$(value problem)" = 'regions in 2D, precision double' ] || fail "$(cat out)"
[ "$(value time)" = 0.02 ] || fail "$(cat out)"
[ -s bubble/regions_0001.vtu ] && [ -s bubble/regions_0001.png ] || fail "$(ls bubble)"
for setting in '"blocks": [' '"max-level": 1' '"regrid-every": 2' '"limiter": "van-leer"' '"keep-positive": true' '"inflow"' \
  '"coarsen-below": 0.0125' '"shape": "half-space"' '"vorticity"' '"radius": 0.25' '"frames": 1'; do
  grep -qF "$setting" b.json || fail "no $setting in $(cat b.json)"
done
# The mass of the initial state: air, shocked gas and bubble.
mass=$(sed -n 2p bubble/history.csv | cut -d, -f5)
awk -v m="$mass" 'BEGIN { pi = atan2(0, -1); e = 1.8 + 0.2 * 2.6667 - (1 - 0.138) * pi * 0.0625
  exit !((m / e - 1) ^ 2 < 1e-7) }' || fail "mass $mass"

# The example of the page runs.
sed -n '/^### Own problems/,/^| key/p' "$page" | sed -n '/^```$/,/^```$/p' | grep -v '^```' >page.inputs
grep -q '^\[region.bubble\]$' page.inputs || fail "no example in $page"
expect 0 - --input page.inputs --max-level 0 --frames 0 --t-end 0.01 --backend cpu --quiet --output-dir page
[ "$(value problem)" = 'regions in 2D, precision double' ] || fail "$(cat out)"

# The command line has precedence, and a checkpoint contains the problem.
expect 0 - --input bubble.inputs --backend cpu --quiet --t-end 0.01 --output-dir half --checkpoint c
[ "$(value time)" = 0.01 ] || fail "$(cat out)"
expect 0 - --restart c --backend cpu --quiet --t-end 0.02 --output-dir half --report r.json
[ "$(value time)" = 0.02 ] || fail "$(cat out)"
own_problem() { sed -n '/"prob-lo"/,/"max-level"/p' "$1"; }
[ "$(own_problem b.json | wc -l)" -gt 50 ] && [ "$(own_problem b.json)" = "$(own_problem r.json)" ] ||
  fail "the checkpoint has another problem: $(own_problem r.json)"
expect 0 - --restart c --input bubble.inputs --backend cpu --quiet --t-end 0.011 --output-dir half
sed 's/0.138/0.2/' bubble.inputs >other.inputs
expect 2 '--input has other regions than c' --restart c --input other.inputs --backend cpu --t-end 0.02
sed 's/gamma = 1.4/gamma = 1.5/' bubble.inputs >other.inputs
expect 3 'other.inputs, line 21: hydro.gamma is 1.5, but c has 1.4' --restart c --input other.inputs \
  --backend cpu --t-end 0.02

# Boxes that stay refined: of 8 x 8 roots, one is refined to level 2 and the eight around it to level 1.
printf '%s\n' 'problem = noh' 'amr.n_cell = 128' 'amr.max_level = 2' 'amr.balance = corner' 'amr.refine_above = 1e9' \
  'amr.n_error_buf = 2' '[amr.wall]' 'in_box_lo = 0.5 0.5' 'in_box_hi = 0.625 0.625' \
  '[amr.hall]' 'in_box_lo = 0.5 0.5' 'in_box_hi = 0.6 0.6' 'max_level = 1' '[output]' 'frames = 0' >boxes.inputs
leaves='55 of level 0, 32 of level 1, 16 of level 2'
expect 0 - --input boxes.inputs --backend cpu --quiet --t-end 0.001 --output-dir x --report x.json --checkpoint d
[ "$(value leaves)" = "$leaves" ] || fail "$(cat out)"
grep -qF '"buffer-cells": 2' x.json || fail "$(cat x.json)"
expect 0 - --restart d --input boxes.inputs --backend cpu --quiet --t-end 0.002 --output-dir x --report y.json
[ "$(value leaves)" = "$leaves" ] || fail "$(cat out)"
boxes() { sed -n '/"refined-boxes"/,/^    \]/p' "$1"; }
[ "$(boxes x.json | wc -l)" -gt 20 ] && [ "$(boxes x.json)" = "$(boxes y.json)" ] ||
  fail "the checkpoint has other boxes: $(boxes y.json)"
sed 's/0.625/0.7/' boxes.inputs >other.inputs
expect 2 '--input has other refined boxes than d' --restart d --input other.inputs --backend cpu --t-end 0.003
expect 2 '--buffer-cells is 3, but d has 2' --restart d --buffer-cells 3 --backend cpu --t-end 0.003

# A problem of the program with values of a file; files of Windows.
printf 'problem = sod\r\namr.max_level = 0\r\n\r\noutput.frames = 0\r\nstop_time = 0.01' >sod.inputs
expect 0 - --input sod.inputs --backend cpu --quiet --output-dir tube
[ "$(value problem)" = 'sod in 2D, precision double' ] || fail "$(cat out)"

# A # in quotation marks begins no comment, and an apostrophe in a word begins no quotation.
printf '%s\n' 'problem = sod' 'output.folder = "tube #1"  # not "tube' "stop_time=0.01 # Sod's" \
  "output.field='density'# of the pictures" 'amr.max_level = 0' >sod.inputs
expect 0 - --input sod.inputs --backend cpu --quiet
[ -s 'tube #1/history.csv' ] || fail "$(ls)"

# Each mistake is an error with file, line and key.
wrong() { # message, lines...
  local message=$1
  shift
  printf '%s\n' "$@" >bad.inputs
  expect 3 "$message" --input bad.inputs --backend cpu --output-dir o
}
wrong 'bad.inputs, line 2: amr.max_levl is no key; the others are amr.n_cell, amr.max_level' \
  '# levels' 'amr.max_levl = 2'
wrong 'bad.inputs, line 1: mesh.nx1 is no key; the sections are geometry, amr' 'mesh.nx1 = 64'
wrong "bad.inputs, line 1: amr.max_level: '30' is too large" 'amr.max_level = 30'
wrong "bad.inputs, line 2: amr.max_level has no value" '[amr]' 'max_level = ""'
wrong 'bad.inputs, line 3: amr.max_level occurs also in line 1' 'amr.max_level = 1' '[amr]' 'max_level = 2'
wrong "bad.inputs, line 1: 'amr.max_level 2' is neither key = value nor [section]" 'amr.max_level 2'
wrong 'bad.inputs, line 1: amr.max_level has no value' 'amr.max_level = # none'
wrong 'bad.inputs, line 1: ' 'output.folder = "a # b'
wrong 'has an open quotation mark' "output.folder = a 'b # c"
wrong 'has a control character' $'output.folder = a\x01b'
wrong 'bad.inputs, line 1: amr.max_level has 2 values' 'amr.max_level = 1 2'
wrong "bad.inputs, line 1: '[amr' is no [section]" '[amr'
wrong "bad.inputs, line 1: '[]' is no [section]" '[]'
wrong 'bad.inputs, line 1: '"'geometry.prob_lo = [0, 0'"' has one bracket' 'geometry.prob_lo = [0, 0'
wrong "bad.inputs, line 1: amr.n_cell is '100'; it must be a multiple of 16" 'amr.n_cell = 100'
wrong "bad.inputs, line 1: amr.n_cell is '12'; it must be a multiple of 8" 'amr.n_cell = 12' 'dim = 3'
wrong "bad.inputs, line 1: amr.subcycling_mode is 'Manual'; it must be None or Auto" \
  'amr.subcycling_mode = Manual'
wrong "bad.inputs, line 1: output.htg is 'yes'; it must be 0 or 1" 'output.htg = yes'
wrong "bad.inputs, line 1: hydro.keep_positive is '2'; it must be 0 or 1" 'hydro.keep_positive = 2'
wrong 'bad.inputs, line 2: hydro.keep_positive is 1; it must be false' 'problem = dam-break' 'hydro.keep_positive = 1'
wrong "bad.inputs, line 1: amr.derive_plot_vars: 'mach,x' is not one to nine of speed" \
  'amr.derive_plot_vars = mach x'
wrong "bad.inputs, line 1: geometry.lo_bc: 'wall' is not one to three of periodic" 'geometry.lo_bc = wall'
wrong "bad.inputs, line 1: geometry.prob_lo: '0,x' is not one to three of numbers" \
  'geometry.prob_lo = 0 x'
wrong 'bad.inputs, line 1: geometry.prob_lo has 3 values for 2 dimensions' 'geometry.prob_lo = 0 0 0'
wrong 'bad.inputs, line 2: geometry.prob_hi[1] is 0; it must be finite and above' 'problem = sod' \
  'geometry.prob_hi = 1 0'
wrong 'bad.inputs, line 1: hydro.gamma is 1; it must be in' 'hydro.gamma = 1'
wrong 'bad.inputs, line 1: geometry.lo_bc, --hi-bc[0] is periodic on one side' 'geometry.lo_bc = periodic' \
  'problem = sod'
wrong "bad.inputs, line 2: problem: problem 'shock' is none of" '' 'problem = shock'
wrong 'bad.inputs, line 2: amr.coarsen_below is 2; it must be at most' 'amr.refine_above = 1' \
  'amr.coarsen_below = 2'
wrong 'bad.inputs, line 1: region.a has no density' '[region.a]' 'pressure = 1'
wrong "bad.inputs, line 2: region.a.density is 'x'; it must be a finite number" '[region.a]' 'density = x'
wrong "bad.inputs, line 2: region.a.density is 'nan'; it must be a finite number" '[region.a]' \
  'density = nan'
wrong 'bad.inputs, line 2: region.a.density is 0; it must be in' '[region.a]' 'density = 0' 'pressure = 1'
wrong 'bad.inputs, line 2: region.a.radius is no key; those of a region are region.a.box_lo' '[region.a]' 'radius = 1'
air=('[region.air]' 'density = 1' 'pressure = 1' '[region.b]' 'density = 1' 'pressure = 1')
wrong 'bad.inputs, line 7: region.b.sphere_radius is -1; it must be in' "${air[@]}" 'sphere_radius = -1' \
  'sphere_center = 0 0'
wrong 'bad.inputs, line 7: region.b.box_lo has 3 numbers; it must have 2' "${air[@]}" 'box_lo = 0 0 0' \
  'box_hi = 1 1'
wrong 'bad.inputs, line 8: region.b.box_hi[1] is 0; it must be above point' "${air[@]}" 'box_lo = 0 0' \
  'box_hi = 1 0'
wrong 'bad.inputs, line 4: region.b has two shapes' "${air[@]}" 'box_lo = 0 0' 'sphere_radius = 1'
wrong 'bad.inputs, line 4: region.b has no box_hi' "${air[@]}" 'box_lo = 0 0'
wrong 'bad.inputs, line 1: region.b: shape is box; it must be everywhere' '[region.b]' 'density = 1' \
  'pressure = 1' 'box_lo = 0 0' 'box_hi = 1 1'
box=('problem = noh' '[amr.a]' 'in_box_lo = 0 0')
wrong 'bad.inputs, line 2: amr.a has no in_box_hi' "${box[@]}"
wrong 'bad.inputs, line 4: amr.a.in_box_hi has 1 number; it must have 2' "${box[@]}" 'in_box_hi = 1'
wrong "bad.inputs, line 4: amr.a.in_box_hi is 'inf'; it must be a finite number" "${box[@]}" 'in_box_hi = 1 inf'
wrong 'bad.inputs, line 4: amr.a.in_box_hi[1] is 0; it must be inside of the domain' "${box[@]}" 'in_box_hi = 1 0'
wrong 'bad.inputs, line 4: amr.a.in_box_hi[1] is 0.5; it must be above lower' 'problem = noh' '[amr.a]' \
  'in_box_lo = 0 0.5' 'in_box_hi = 1 0.5'
wrong 'bad.inputs, line 5: amr.a.in_box_lo[0] is 0; it must be inside of the domain' \
  'geometry.prob_lo = -2 -2' 'geometry.prob_hi = -1 -1' "${box[@]}" 'in_box_hi = 1 1'
wrong "bad.inputs, line 5: amr.a.max_level is '9'; it must be a whole number in [0, " "${box[@]}" \
  'in_box_hi = 1 1' 'max_level = 9'
wrong "bad.inputs, line 5: amr.a.max_level is '1.5'; it must be" "${box[@]}" 'in_box_hi = 1 1' 'max_level = 1.5'
wrong "bad.inputs, line 5: amr.a.max_level has 2 values" "${box[@]}" 'in_box_hi = 1 1' 'max_level = 1 2'
wrong 'bad.inputs, line 4: amr.a.value_greater is no key; those of a refined box are amr.a.in_box_lo, amr.a.in_box_hi, amr.a.max_level' "${box[@]}" \
  'value_greater = 1'
wrong 'bad.inputs, line 4: amr.a.in_box_lo occurs also in line 3' "${box[@]}" 'in_box_lo = 0 0'
wrong "bad.inputs, line 1: amr.n_error_buf: '17' is too large" 'amr.n_error_buf = 17'
wrong 'bad.inputs, line 2: amr.n_error_buf is 9; it must be in [0, 8]' 'dim = 3' 'amr.n_error_buf = 9'
{ for i in $(seq 9); do printf '[amr.b%s]\nin_box_lo = 0 0\nin_box_hi = 1 1\n' "$i"; done; } >many.inputs
expect 3 'many.inputs, line 25: amr.b9 is one refined box too many; the most are 8' --input many.inputs \
  --problem noh --backend cpu --output-dir o
{ for i in $(seq 13); do printf '[region.r%s]\ndensity = 1\npressure = 1\n' "$i"; done; } >many.inputs
expect 2 'regions is 13; it must be in [1, 12]' --input many.inputs --backend cpu --output-dir o
expect 2 '--problem regions needs a parameter file' --problem regions --output-dir o
expect 2 'regions is 3; it must be 0, except for the problem regions' --input bubble.inputs \
  --problem sod --lo-bc outflow --hi-bc outflow --output-dir o
expect 2 '--dim is 3; it must be 2 for dam-break' --problem dam-break --dim 3 --output-dir o
expect 2 '--dim is 3; it must be 2 for rotor' --problem rotor --dim 3 --output-dir o
expect 2 'gravity' --problem rotor --gravity 0,-1 --output-dir o
expect 2 'gravity' --problem dam-break --gravity 0,-1 --output-dir o
expect 2 '--lo-bc' --problem sod --lo-bc inflow --hi-bc outflow --output-dir o
expect 3 'nowhere.inputs' --input nowhere.inputs --output-dir o
expect 3 'is a directory' --input . --output-dir o
mkfifo pipe
expect 3 'pipe is no regular file' --input pipe --output-dir o
expect 2 '--input is empty' --input '' --output-dir o
expect 2 'a parameter file must be a file' --input - --output-dir o
expect 2 '--checkpoint is the input file of --input' --input bubble.inputs --checkpoint bubble.inputs \
  --output-dir o
head -c 3000 /dev/urandom >noise.inputs
expect 3 'noise.inputs' --input noise.inputs --output-dir o
: >empty.inputs
expect 0 - --input empty.inputs --problem noh --max-level 0 --t-end 0.01 --backend cpu --quiet --output-dir n

# The other new problems.
for problem in double-mach rayleigh-taylor dam-break orszag-tang rotor forward-step; do
  expect 0 - --problem $problem --max-level 0 --frames 1 --t-end 0.002 --backend cpu --quiet --output-dir p
  [ -s p/${problem}_0001.png ] || fail "no picture of $problem"
  rm -r p
done
echo "all as expected"
