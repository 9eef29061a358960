#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the tables, the numbers and the earlier checkpoints of the example program amr:
# amr_output_cli.sh <program> <work folder>
. "$(dirname "$0")/cli_checks.sh"

tube=(--backend cpu --quiet --problem sod --blocks 1 --max-level 1 --history-every 5)
tables=(--slice x=0.5 --line 0,0.5:1,0.5 --line 0.5,0:0.5,1 --probe 0.2,0.5 --probe 0.8,0.5)

# Tables with each mesh, and probes with each row of the history.
expect 0 - "${tube[@]}" --frames 2 --t-end 0.1 --output-dir tube "${tables[@]}" --checkpoint c
for frame in 0000 0001 0002; do
  for table in slice1 line1 line2; do
    [ -s tube/sod_$frame.$table.csv ] || fail "no $table of $frame: $(ls tube)"
  done
done
[ "$(head -n 1 tube/sod_0000.slice1.csv)" = x,y,level,density,velocity_x,velocity_y,pressure ] ||
  fail "$(head -n 1 tube/sod_0000.slice1.csv)"
[ "$(head -n 1 tube/sod_0000.line1.csv)" = \
  distance,x,y,length,level,density,velocity_x,velocity_y,pressure ] || fail "columns of a line"
# The first mesh: all of the line, and the two gases.
awk -F, 'NR > 1 { all += $4; if ($6 != ($2 < 0.5 ? 1 : 0.125)) bad = 1 }
  END { exit bad || (all - 1) ^ 2 > 1e-20 }' tube/sod_0000.line1.csv || fail "the line of the first mesh"
[ "$(head -n 1 tube/probes.csv | cut -d, -f-4)" = time,step,density_1,velocity_x_1 ] ||
  fail "$(head -n 1 tube/probes.csv)"
[ "$(cut -d, -f1,2 tube/probes.csv)" = "$(cut -d, -f1,2 tube/history.csv)" ] || fail "times of the probes"
[ "$(sed -n 2p tube/probes.csv | cut -d, -f3,7)" = 1,0.125 ] || fail "$(sed -n 2p tube/probes.csv)"
# At the end the shock, which moves at 1.75, has not reached x = 0.8; the fan has reached 0.4.
[ "$(tail -n 1 tube/probes.csv | cut -d, -f7 | cut -c 1-5)" = 0.125 ] || fail "$(tail -n 1 tube/probes.csv)"

# A continued run writes the same tables and goes on with the probes.
expect 0 - --backend cpu --quiet --restart c --t-end 0.2
[ -s tube/sod_0004.line2.csv ] || fail "no line after a restart: $(ls tube)"
[ "$(cut -d, -f1 tube/probes.csv)" = "$(cut -d, -f1 tube/history.csv)" ] || fail "probes after a restart"
cp -r tube before
expect 2 '--output-dir tube has frames of another run' "${tube[@]}" --t-end 0.1 --output-dir tube
expect 0 - "${tube[@]}" --frames 1 --t-end 0.05 --output-dir tube --force
[ -z "$(ls tube | grep -E 'line|slice' || true)" ] || fail "old tables: $(ls tube)"
expect 0 - --backend cpu --quiet --dim 3 --problem noh --blocks 2 --max-level 0 --frames 1 --t-end 0.01 \
  --output-dir solid --slice z=0.3 --line 0,0,0:1,1,1 --probe 1,1,1
[ "$(wc -l <solid/noh_0000.slice1.csv)" -eq 257 ] || fail "a slice of $(wc -l <solid/noh_0000.slice1.csv) lines"

# Compressed meshes of floats, and the fixed range of the colors.
cells=$(tail -n 1 tube/history.csv | cut -d, -f4)
[ "$(stat -c %s tube/sod_0001.vtu)" -lt $((cells * 50)) ] || fail "$(stat -c %s tube/sod_0001.vtu) for $cells"
expect 0 - "${tube[@]}" --frames 1 --t-end 0.05 --output-dir short --float32 --range 0,2 --checkpoint c6
grep -q 'type="Float32" Name="density"' short/sod_0001.vtu || fail "no floats"
[ "$(stat -c %s short/sod_0001.vtu)" -lt "$(stat -c %s tube/sod_0001.vtu)" ] || fail "floats are not smaller"
! cmp -s short/sod_0000.png tube/sod_0000.png || fail "--range makes no difference"
expect 0 - --backend cpu --quiet --restart c6 --t-end 0.06
grep -q 'type="Float32" Name="density"' short/sod_0002.vtu || fail "no floats after a restart"

# Derived fields in all files: of the cells along a line, Mach number and entropy follow from the others.
expect 0 - "${tube[@]}" --frames 1 --t-end 0.1 --output-dir more --derived mach,entropy,vorticity --field mach \
  --line 0,0.5:1,0.5 --slice y=0.5 --probe 0.45,0.5 --checkpoint d --plotfile d.plt
grep -q 'Name="mach"' more/sod_0001.vtu && grep -q 'Name="vorticity"' more/sod_0001.vtu || fail "no derived fields"
[ "$(head -n 1 more/sod_0001.line1.csv | cut -d, -f6-)" = \
  density,velocity_x,velocity_y,pressure,mach,entropy,vorticity ] || fail "$(head -n 1 more/sod_0001.line1.csv)"
awk -F, 'NR > 1 { mach = sqrt($7 ^ 2 + $8 ^ 2) / sqrt(1.4 * $9 / $6); entropy = $9 / exp(1.4 * log($6))
    if (mach > most) most = mach
    if ((mach - $10) ^ 2 > 1e-20 || (entropy / $11 - 1) ^ 2 > 1e-20 || $12 ^ 2 > 1e-20) bad = 1 }
  END { exit bad || most < 0.8 }' more/sod_0001.line1.csv || fail "derived fields along the line"
[ "$(head -n 1 more/probes.csv | cut -d, -f7-)" = mach_1,entropy_1,vorticity_1 ] || fail "$(head -n 1 more/probes.csv)"
grep -qx mach d.plt/Header || fail "$(head d.plt/Header)"
! cmp -s more/sod_0001.png tube/sod_0001.png || fail "--field mach makes no difference"
expect 0 - --backend cpu --quiet --restart d --t-end 0.12
grep -q 'Name="entropy"' more/sod_0002.vtu || fail "no derived fields after a restart"
expect 2 "--field 'mach' is none of density, velocity_x, velocity_y, pressure" --problem sod --field mach --output-dir o
expect 2 '--derived has mach twice' --problem sod --derived mach,mach --output-dir o
expect 2 "--derived: 'Mach' is not one to nine of speed, sound_speed" --problem sod --derived Mach --output-dir o
expect 2 "--derived: '' is not one to nine of" --problem sod --derived '' --output-dir o
expect 2 '--derived needs a problem of a plasma, and sod is none' --problem sod --derived magnetic_pressure --output-dir o
expect 2 '--derived needs a problem of a gas, and dam-break is none' --problem dam-break --derived mach --output-dir o

# A cold box flies into a thin gas: without --keep-positive the run ends.
cat >torn.inputs <<'EOF'
region.all.density = 1e-3
region.all.pressure = 1e-6
region.box.box_lo = 0.25 0.25
region.box.box_hi = 0.5 0.75
region.box.density = 1
region.box.pressure = 1e-6
region.box.velocity = 10 10
EOF
torn=(--backend cpu --quiet --input torn.inputs --blocks 1 --max-level 1 --frames 0 --t-end 0.02)
expect 1 'is invalid: density' "${torn[@]}" --output-dir torn
expect 0 - "${torn[@]}" --output-dir torn --keep-positive --report torn.json --checkpoint t
grep -q '"keep-positive": true' torn.json || fail "$(cat torn.json)"
grep -qE '"fallback_cells": [1-9]' torn.json || fail "$(cat torn.json)"
grep -qE '^cells kept positive: [1-9][0-9]* by fluxes of first order, 0 by floors' out || fail "$(cat out)"
expect 0 - --backend cpu --quiet --restart t --t-end 0.021
expect 2 '--keep-positive is 1; it must be false for the problem dam-break' --problem dam-break \
  --keep-positive --output-dir o

# Hyper tree grids are smaller than unstructured ones, and can follow them.
expect 0 - "${tube[@]}" --frames 1 --t-end 0.05 --output-dir trees --float32 --htg --checkpoint h
grep -q 'type="HyperTreeGrid"' trees/sod_0001.htg || fail "$(ls trees)"
[ ! -e trees/sod_0001.vtu ] && grep -q sod_0001.htg trees/sod.pvd || fail "$(ls trees)"
[ $((2 * $(stat -c %s trees/sod_0001.htg))) -lt "$(stat -c %s short/sod_0001.vtu)" ] || fail "$(ls -l trees short)"
expect 0 - --backend cpu --quiet --restart h --t-end 0.06
[ -s trees/sod_0002.htg ] || fail "no hyper tree grid after a restart: $(ls trees)"
expect 0 - "${tube[@]}" --frames 1 --t-end 0.05 --output-dir trees --force
[ ! -e trees/sod_0001.htg ] || fail "an old mesh: $(ls trees)"

# Earlier checkpoints: each can be continued to the same bits, and is another one.
expect 0 - "${tube[@]}" --frames 0 --t-end 0.1 --output-dir kept --checkpoint k --checkpoint-every 4 --keep 3
[ -s k ] && [ -s k.1 ] && [ -s k.2 ] && [ ! -e k.3 ] || fail "$(ls)"
cp -r kept again
for file in k.2 k.1 k; do
  expect 0 - --backend cpu --quiet --restart $file --plotfile plt.$file --output-dir again --t-end 0.1
  diff -r plt.k.2 plt.$file || fail "$file leads to another state"
done
! cmp -s k k.1 && ! cmp -s k.1 k.2 || fail "no earlier checkpoints"
cp k.1 first
expect 0 - --backend cpu --quiet --restart k --t-end 0.2 --output-dir kept --checkpoint k --checkpoint-every 1000 --keep 3
cmp first k.2 || fail "k.1 did not become k.2"
expect 2 '--restart is k.1, which --keep replaces' --restart k.1 --checkpoint k --keep 2 --output-dir o
expect 5 'cannot write' --restart k --checkpoint /dev/null/x --keep 2 --output-dir o
mkdir -p folder.2/x
expect 5 'folder.2' --problem sod --checkpoint folder --keep 3 --output-dir none
[ ! -e none ] && [ ! -e folder ] || fail "the run begins although folder.2 cannot be replaced"

# Bad tables and ranges.
expect 2 "--slice: 'q=1' is no slice such as x=0.5 in 2D" --problem sod --slice q=1 --output-dir o
expect 2 "--slice: 'z=0.5' is no slice" --problem sod --slice z=0.5 --output-dir o
expect 2 "--slice 'x=2' is outside of the domain" --problem sod --slice x=0.1 --slice x=2 --output-dir o
expect 2 "--line: '0,0' is no line" --problem sod --line 0,0 --output-dir o
expect 2 "--line: '0,0:0,0' has no length" --problem sod --line 0,0:0,0 --output-dir o
expect 2 "--line '0,0:0,2' is outside of the domain" --problem sod --line 0,0:0,2 --output-dir o
expect 2 "--probe: '0' is no point such as 0.5,0.5 in 2D" --problem sod --probe 0 --output-dir o
expect 2 "--probe '-1,0' is outside of the domain" --problem sod --probe -1,0 --output-dir o
expect 2 "--probe: '' is no point" --problem sod --probe '' --output-dir o
expect 2 '--range needs two numbers' --problem sod --range 1 --output-dir o
expect 2 '--range has an end that is not greater' --problem sod --range 1,1 --output-dir o
expect 2 "--range: 'a,b' is not" --problem sod --range a,b --output-dir o
expect 2 '--checkpoint' --problem sod --keep 2 --output-dir o
expect 2 'is not a whole number' --problem sod --checkpoint c --keep 1.5 --output-dir o
expect 2 'probes.csv, a file that the program writes itself' --problem sod --checkpoint x/probes.csv \
  --output-dir x --probe 0,0
echo "all as expected"
