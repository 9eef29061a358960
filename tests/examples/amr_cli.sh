#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the example program amr: amr_cli.sh <program> <work folder>
reader=$(realpath "$(dirname "$0")/../amr/output/read_plotfile.py")
. "$(dirname "$0")/cli_checks.sh"

# value <name>: prints the value of a name in the report
value() { sed -n "s|^$1: ||p" out; }
# less <a> <b>: whether |a| < b
less() { awk -v a="${1%% *}" -v b="$2" 'BEGIN { exit !((a < 0 ? -a : a) < b) }'; }

# has_frames <folder> <problem> <number of the last frame>: meshes, pictures, and their list
has_frames() {
  local number
  for number in $(seq -f %04g 0 "$3"); do
    grep -q '<VTKFile type="UnstructuredGrid"' "$1/$2_$number.vtu" || fail "no mesh $number of $2"
    [ "$(head -c 4 "$1/$2_$number.png" | tail -c 3)" = PNG ] || fail "no picture $number of $2"
    grep -qF "file=\"$2_$number.vtu\"" "$1/$2.pvd" || fail "$2_$number.vtu is not in $2.pvd"
  done
  [ "$(ls "$1" | grep -c vtu)" -eq $(($3 + 1)) ] || fail "more than frames 0 to $3 in $1"
}

small=(--backend cpu --max-level 1 --frames 2 --quiet)

# Each problem: its files, a history from the start to the end, and conservation.
try() { # problem, end, options...
  local problem=$1 end=$2
  shift 2
  expect 0 - "${small[@]}" --problem "$problem" --t-end "$end" --output-dir "$problem" "$@"
  has_frames "$problem" "$problem" 2
  [ "$(sed -n 2p "$problem/history.csv" | cut -d, -f1,2)" = 0,0 ] || fail "$problem: no start"
  [ "$(tail -n 1 "$problem/history.csv" | cut -d, -f1)" = "$end" ] || fail "$problem: no end"
  [ "$(value time)" = "$end" ] || fail "$problem: at $(value time)"
  less 0 "$(value cell\ updates/s)" || fail "$problem: no rate in $(cat out)"
}
try sod 0.05
! grep -q '^drift' out || fail "a drift of what flows out: $(cat out)"
try sedov 0.02 --field pressure
try kelvin-helmholtz 0.05
less "$(value 'drift of mass')" 1e-13 || fail "mass: $(cat out)"
less "$(value 'drift of energy')" 1e-13 || fail "energy: $(cat out)"
less "$(value 'drift of momentum_x')" 1e-13 || fail "momentum: $(cat out)"
! grep -q '^L1' out || fail "an error of an unknown exact solution: $(cat out)"
try linear-wave 0.25 --blocks 2x1
try advect-gaussian 1
less "$(value 'drift of concentration')" 1e-13 || fail "concentration: $(cat out)"
less "$(value 'L1 error of concentration')" 0.01 || fail "error: $(cat out)"
try vortex-in-box 2 --refine-above 0.2
less "$(value 'drift of concentration')" 1e-13 || fail "concentration: $(cat out)"
less "$(value 'L1 error of concentration')" 0.05 || fail "error: $(cat out)"
[ "$(head -n 1 sod/history.csv)" = \
  time,step,leaves,cells,mass,momentum_x,momentum_y,energy ] || fail "$(head -n 1 sod/history.csv)"
rm -r sedov
try sedov 0.01 --dim 3 --blocks 2

# After a period the wave has returned, and the finer mesh has a smaller error.
wave() { expect 0 - --backend cpu --problem linear-wave --output-dir w --refine-above 0 "$@"; }
wave --max-level 0 --quiet --frames 0
[ "$(ls w)" = history.csv ] || fail "frames in spite of --frames 0: $(ls w)"
[ "$(head -c 8 out)" = 'backend:' ] || fail "a table in spite of --quiet: $(cat out)"
coarse=$(value 'L1 error of density')
wave --max-level 1 --frames 1
[ "$(grep -c '^ ' out)" -eq 3 ] || fail "not a table of two moments: $(cat out)"
less "$(value 'L1 error of density')" "$(awk -v e="$coarse" 'BEGIN { print e / 3 }')" ||
  fail "errors $coarse, $(value 'L1 error of density')"
rm -r w

# Each route, schedule and limit writes the same files.
flow=("${small[@]}" --t-end 0.03 --blocks 3x2)
expect 0 - "${flow[@]}" --output-dir first --route device
grep -q '^route: device (requested)$' out || fail "no route in $(cat out)"
for way in '--route flat' '--route flat --flat-loop host' '--pending-launches 40' \
  '--checkpoint c --checkpoint-every 7'; do
  # shellcheck disable=SC2086
  expect 0 - "${flow[@]}" --output-dir again $way
  diff -r first again >/dev/null || fail "$way gives other files"
  rm -r again
done
rm c
expect 0 - "${flow[@]}" --output-dir again --route flat --flat-loop host
output_has 'flat loop: host (requested)'
rm -r again
different() {
  expect 0 - "${flow[@]}" --output-dir again "$@"
  ! cmp -s first/kelvin-helmholtz_0002.vtu again/kelvin-helmholtz_0002.vtu ||
    fail "$* makes no difference"
  rm -r again
}
different --precision float
different --limiter minmod
different --cfl 0.3
different --subcycle
different --criterion loehner --refine-above 0.9
expect 0 - "${flow[@]}" --output-dir again --no-reflux --balance corner
rm -r again

# A run that is stopped and continued gives the same results as an uninterrupted one.
long=(--backend cpu --quiet --problem sod --max-level 2 --history-every 3)
expect 0 - "${long[@]}" --frames 4 --t-end 0.08 --output-dir whole --report whole.json
grep -qF '"cell_updates_per_second": ' whole.json || fail "no rate in $(cat whole.json)"
grep -qF '"problem": "sod"' whole.json || fail "no settings in $(cat whole.json)"
expect 0 - "${long[@]}" --frames 2 --t-end 0.04 --output-dir parts --checkpoint c \
  --checkpoint-every 5
# Output after the last checkpoint is dropped when the run is continued.
echo 0.07,99,1,1,1,1,1,1 >>parts/history.csv
cp c c.before
cp -r parts forked
expect 0 - --restart c --output-dir parts --t-end 0.08 --backend cpu --quiet
diff -r whole parts || fail "going on gives other files"
cmp -s c c.before || fail "the checkpoint was touched"
expect 0 - --restart c --output-dir forked --t-end 0.08 --route flat --quiet --backend cpu \
  --problem sod --dim 2 --blocks 2 --max-level 2 --checkpoint c
diff -r whole forked || fail "going on along the flat route gives other files"
! cmp -s c c.before || fail "no new checkpoint"
expect 0 - --restart c --output-dir parts --t-end 0.09 --quiet --backend cpu
has_frames parts sod 5
rm -r parts forked

# Settings that must not change. The checkpoint and the folder are not changed.
mv c.before c
cp c c.before
cannot_change() { # option, its value in the checkpoint
  expect 2 "$1 is " --restart c "$@" --output-dir o
  cmp -s c c.before || fail "the checkpoint was touched"
}
cannot_change --problem sedov
cannot_change --dim 3
cannot_change --precision float
cannot_change --blocks 3
cannot_change --max-level 3
cannot_change --subcycle
cannot_change --refine-above 0.3
expect 2 '--t-end is before the time' --restart c --t-end 0.01 --output-dir o

# Settings that may change. The folder is that of the checkpoint.
expect 0 - "${small[@]}" --problem sod --t-end 0.04 --output-dir kept --checkpoint k
expect 0 - --restart k --backend cpu --t-end 0.08 --frames 4 --field pressure --history-every 2 \
  --cfl 0.2 --quiet --report k.json
has_frames kept sod 6
[ "$(tail -n 1 kept/history.csv | cut -d, -f1)" = 0.08 ] || fail "$(cat kept/history.csv)"
for setting in '"frames": 4' '"field": "pressure"' '"history-every": 2' '"cfl": 0.2'; do
  grep -qF "$setting" k.json || fail "no $setting in $(cat k.json)"
done
[ ! -e amr_output ] || fail "frames outside of the folder of the checkpoint"
expect 2 "--field 'color' is none of" --restart k --field color --output-dir o
expect 2 '--output-dir is empty' --output-dir ''

cp kept/history.csv good.csv
sed -i '2s/^[^,]*/nan/' kept/history.csv
expect 3 "kept/history.csv, line 2: 'nan,0," --restart k --backend cpu --t-end 0.09
grep -qF 'has a time that is not finite' err || fail "prints $(cat err)"
mv good.csv kept/history.csv

# The frames of another run are replaced only with --force.
cp -r kept before
expect 2 '--output-dir kept has frames of another run, such as sod.pvd' "${small[@]}" \
  --problem sod --t-end 0.04 --output-dir kept
diff -r before kept || fail "a refused run changed a folder"
expect 0 - "${small[@]}" --problem sod --t-end 0.04 --output-dir kept --force
has_frames kept sod 2
rm -r kept before k

# No file is read and replaced by another one.
cp c c.json
expect 2 '--report is the input file of --restart, which is never changed' --restart c.json \
  --report c.json --output-dir o
cmp -s c c.json || fail "the checkpoint was replaced by a report"
expect 2 'name the same file' --checkpoint new.json --report new.json --output-dir o
expect 2 '--restart is empty' --restart '' --output-dir o
rm c.json

# Files that are not checkpoints.
head -c 1000 c >short
expect 3 'truncated' --restart short --output-dir o
{ head -c 3000 c; printf x; tail -c +3002 c; } >damaged
expect 3 'damaged' --restart damaged --output-dir o
echo no checkpoint >text
expect 3 'text' --restart text --output-dir o
expect 3 'No such file' --restart nowhere --output-dir o

# A run that fails reports it, and keeps the last checkpoint.
expect 1 'more than --max-blocks, which is 30' --backend cpu --quiet --max-blocks 30 --output-dir failed --t-end 0.01
expect 1 'c2 is of step 30' --backend cpu --quiet --problem advect-gaussian --max-level 2 \
  --frames 0 --max-blocks 40 --output-dir failed --checkpoint c2 --checkpoint-every 5 --t-end 0.2
expect 1 'more than --max-blocks, which is 40' --backend cpu --quiet --restart c2 --output-dir failed
[ "$(tail -n 1 failed/history.csv | cut -d, -f2)" = 30 ] || fail "$(cat failed/history.csv)"

# After a signal a run finishes its steps and writes the checkpoint, from which it can be continued.
slow=(--backend cpu --threads 1 --quiet --problem sod --max-level 2 --frames 2 --history-every 3)
"$program" "${slow[@]}" --t-end 0.1 --output-dir stopped --checkpoint c3 >out 2>err &
pid=$!
for _ in $(seq 3000); do
  if [ -s stopped/history.csv ] && [ "$(wc -l <stopped/history.csv)" -gt 3 ]; then break; fi
  sleep 0.01
done
kill -TERM $pid 2>/dev/null || fail "the run was complete before the signal"
status=0
wait $pid || status=$?
[ $status -eq 143 ] || fail "status $status after SIGTERM: $(cat err)"
step=$(value steps)
grep -qF "stopped by SIGTERM: step $step, time 0.0" err && grep -qF 'c3 has the checkpoint' err ||
  fail "$(cat err)"
expect 0 - --restart c3 --backend cpu --quiet
expect 0 - "${slow[@]}" --t-end 0.1 --output-dir uninterrupted
diff -r uninterrupted stopped || fail "a stopped run gives other files"
rm -r uninterrupted stopped c3

# A plotfile of the last state. The sum over its cells is the mass of the history.
expect 0 - --backend cpu --quiet --problem sod --max-level 2 --frames 0 --t-end 0.01 --output-dir plotted \
  --plotfile plt --checkpoint c4
[ -s plt/Header ] && [ -s plt/Level_2/Cell_D_00000 ] || fail "no plotfile: $(ls -R plt)"
[ "$(sed -n 3,6p plt/Header | xargs)" = 'density x_velocity y_velocity pressure' ] ||
  fail "fields $(sed -n 3,6p plt/Header)"
# A checkpoint is written as a plotfile, without steps.
expect 0 - --backend cpu --quiet --restart c4 --plotfile again/
diff -r plt again || fail "another plotfile of the checkpoint"
if [ -x /usr/bin/python3 ]; then
  /usr/bin/python3 "$reader" plt >read || fail "$(cat read)"
  grep -q '^level 2: .* blocks' read || fail "$(cat read)"
  less "$(awk -v a="$(sed -n 's/^integral of density: //p' read)" -v b="$(tail -n 1 plotted/history.csv | cut -d, -f5)" \
    'BEGIN { print a - b }')" 1e-13 || fail "another mass: $(cat read plotted/history.csv)"
fi
# So is another checkpoint.
expect 0 - --backend cpu --quiet --restart c4 --checkpoint c5
cmp c4 c5 || fail "another checkpoint of the checkpoint"
ln -s nothing dangling
ln -s loop loop
expect 5 'amr: --plotfile: cannot write dangling: it is a link to nothing' --restart c4 --plotfile dangling
expect 5 'amr: --plotfile: cannot write loop: Too many levels' --restart c4 --plotfile loop
rm dangling loop
expect 2 'plt is a plotfile; choose another name' --backend cpu --restart c4 --plotfile plt
diff -r plt again || fail "a refused run changed the plotfile"
expect 0 - --backend cpu --quiet --restart c4 --t-end 0.011 --plotfile plt --force
! cmp -s plt/Header again/Header || fail "the plotfile is not replaced"
expect 5 'plotted: it has files, and is no plotfile' --restart c4 --plotfile plotted --output-dir o
expect 2 '--output-dir is new/o, which is in the folder of --plotfile' --plotfile new --output-dir new/o
expect 2 '--checkpoint is new, which is in the folder of --plotfile' --plotfile new/ --checkpoint new --output-dir o
expect 5 'cannot write nowhere/p: no such folder' --plotfile nowhere/p --output-dir o
expect 2 'it must name a folder' --plotfile '' --output-dir o
[ ! -e new ] || fail "a refused run left a folder"
rm -r plt again plotted c4 c5

# Errors are reported in one line, and no files are left.
expect 0 - --help
expect 2 '--bogus' --bogus
expect 2 "problem 'shock' is none of sod" --problem shock --output-dir o
expect 2 '--dim' --dim 4 --output-dir o
for bad in 0 x 2x 2x0 1x2x3x4 -1 5000 2.5; do
  expect 2 "'$bad' is not N, NxM or NxMxK" --blocks=$bad --output-dir o
done
expect 2 '--blocks has 3 values for 2 dimensions' --blocks 1x2x3 --output-dir o
expect 2 '--max-level' --max-level 19 --output-dir o
expect 2 '--max-level' --max-level 1.5 --output-dir o
expect 2 "'nan' is not a number in" --t-end nan --output-dir o
expect 2 "'0' is not a number in" --t-end 0 --output-dir o
expect_trace "${small[@]}" --route device --output-dir traced --force --t-end 0.01
expect 2 "--flat-loop 'spiral' is none of automatic, graph, host" --flat-loop spiral --output-dir o
expect 5 'cannot write nowhere/t.html: no such folder' "${small[@]}" --trace nowhere/t.html \
  --output-dir o
expect 2 "criterion 'guess' is neither" --criterion guess --output-dir o
expect 2 'is not a number in' --refine-above -1 --output-dir o
expect 2 '--coarsen-below is 2; it must be at most --refine-above' --refine-above 1 --coarsen-below 2 \
  --output-dir o
expect 2 'is not a whole number' --regrid-every -1 --output-dir o
expect 2 "'1.1' is not a number in" --cfl 1.1 --output-dir o
expect 2 "limiter 'superbee' is none of" --limiter superbee --output-dir o
expect 2 "balance 'none' is none of" --balance none --output-dir o
expect 2 "precision 'half' is neither" --precision half --output-dir o
expect 2 "backend 'gpu' is none of" --backend gpu --output-dir o
expect 2 "route 'scenic' is none of" --route scenic --output-dir o
expect 2 "--field 'color' is none of density, velocity_x, velocity_y, pressure" --field color \
  --output-dir o
expect 2 '--checkpoint' --checkpoint-every 5 --output-dir o
expect 2 'is not a whole number' --checkpoint c --checkpoint-every 0 --output-dir o
expect 2 'is not a whole number' --history-every 0 --output-dir o
expect 2 '--max-blocks is 2; it must be 0' --max-blocks 2 --output-dir o
expect 5 'cannot make text/o: Not a directory' "${small[@]}" --output-dir text/o
expect 5 'cannot write nowhere/c: no such folder' "${small[@]}" --checkpoint nowhere/c \
  --output-dir o
expect 5 'cannot write nowhere/r.json: no such folder' "${small[@]}" --report nowhere/r.json --output-dir o
if ! "$program" "${flow[@]}" --backend cuda --output-dir cuda >out 2>err; then
  expect 4 'the cuda backend cannot run' --backend cuda --output-dir o
fi
echo "all as expected"
