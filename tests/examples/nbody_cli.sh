#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the command line of the example program nbody: nbody_cli.sh <program> <work folder>
. "$(dirname "$0")/cli_checks.sh"

# value <name>: prints the value of a line of the text report
value() { sed -n "s|^$1: ||p" out; }
# less <a> <b>: succeeds if |a| < b
less() { awk -v a="$1" -v b="$2" 'BEGIN { exit !((a < 0 ? -a : a) < b) }'; }

# png <file> <width> <height>: checks the signature, the width and height in the header, and the end
# of a PNG file
png() {
  [ "$(od -An -tx1 -N8 "$1" | tr -d ' \n')" = 89504e470d0a1a0a ] || fail "$1 is not a PNG file"
  [ "$(od -An -tx1 -j12 -N12 "$1" | tr -d ' \n')" = "49484452$(printf '%08x%08x' "$2" "$3")" ] ||
    fail "$1 does not have $2 x $3 pixels"
  [ "$(tail -c 8 "$1" | od -An -tx1 | tr -d ' \n')" = 49454e44ae426082 ] || fail "$1 is incomplete"
}

# The defaults: a table, a report, a small drift.
expect 0 - --backend cpu
[ "$(grep -c '^ ' out)" -eq 12 ] || fail "no table of 11 energies in $(cat out)"
[ "$(value bodies)" = 2000 ] && [ "$(value steps)" = 100 ] || fail "not the defaults: $(cat out)"
less "$(value 'energy drift')" 0.002 || fail "energy drift $(value 'energy drift')"
less 0 "$(value steps/s)" || fail "no rate: $(cat out)"

# Two bodies on a circle: they return to the start after one period, and are opposite after half of
# it.
printf '%s\n' x,y,z,vx,vy,vz,m 0.5,0,0,0,0.5,0,0.5 -0.5,0,0,0,-0.5,0,0.5 >i
cp i i.before
check_orbit() { # steps, expected x of the first body
  expect 0 - --input i --backend cpu --softening 0 --steps "$1" --dt 0.00314159265358979 \
    --output o --report json --quiet
  [ "$(head -n 1 o)" = x,y,z,vx,vy,vz,m ] || fail "no header: $(cat o)"
  [ "$(wc -l <o)" -eq 3 ] || fail "not two bodies: $(cat o)"
  less "$(sed -n 2p o | awk -F, -v x="$2" '{ print $1 - x }')" 1e-4 || fail "$1 steps: $(cat o)"
  rm o
}
check_orbit 2000 0.5
check_orbit 1000 -0.5
cmp -s i i.before || fail "the program changed the input"
# The input has no header, but Windows line ends and blanks. After 0 steps the output has its
# numbers.
printf '1e0, 2,\t3,4,5,6,7\r\n-1,0.1,1e-300,0,0,0,0' >i
expect 0 - --input i --backend cpu --steps 0 --output o
[ "$(sed 1d o)" = "$(printf '%s\n' 1,2,3,4,5,6,7 -1,0.1,1e-300,0,0,0,0)" ] || fail "bodies: $(cat o)"
rm o
# No bodies.
printf 'x,y,z,vx,vy,vz,m\n' >i
expect 0 - --input i --backend cpu --steps 3 --output o --image p.png --image-size 20
cmp -s i o || fail "no bodies: $(cat o)"
png p.png 269 37
rm o p.png

# Images have the requested size; a title and a scale are beside them. The same seed gives the same
# image, another seed gives another one.
small=(--backend cpu --plummer 300 --steps 5 --quiet)
expect 0 - "${small[@]}" --image p.png
png p.png 602 529
for seed in 1 2; do
  expect 0 - "${small[@]}" --image p$seed.png --image-size 100 --image-side 3 --seed $seed
  png p$seed.png 263 117
done
expect 0 - "${small[@]}" --image p.png --image-size 100 --image-side 3
cmp -s p.png p1.png || fail "the same seed gave another image"
! cmp -s p.png p2.png || fail "another seed gave the same image"
rm p*.png

# Every route and limit gives the same bodies.
larger=(--backend cpu --plummer 3000 --steps 5 --quiet --output o)
expect 0 - "${larger[@]}"
mv o first
for way in '--route flat' '--route flat --flat-loop host' '--route device' '--pending-launches 16'; do
  # shellcheck disable=SC2086
  expect 0 - "${larger[@]}" $way
  cmp -s first o || fail "$way gives other bodies"
  rm o
done
expect 0 - "${small[@]}" --method direct
[ "$(value method)" = direct ] || fail "no direct sum: $(cat out)"
direct=$(value 'energy drift')
expect 0 - "${small[@]}" --theta 0
less "$(awk -v a="$direct" -v b="$(value 'energy drift')" 'BEGIN { print a - b }')" 1e-12 ||
  fail "theta 0 is not the direct sum"
expect 0 - "${small[@]}" --tolerance 0.01
close=$(value interactions)
expect 0 - "${small[@]}" --tolerance 1
[ "$(value interactions)" -lt "$close" ] || fail "tolerance 1 needs no fewer interactions than 0.01"
expect 0 - "${small[@]}" --output two
expect 0 - "${small[@]}" --output one --order 1
! cmp -s one two || fail "order 1 gave the bodies of order 2"
rm one two
# Block time steps: fewer forces than steps of the smallest length, and a smaller drift than with
# steps of the largest length.
steps=(--backend cpu --plummer 300 --softening 0.005 --energy-every 0)
expect 0 - "${steps[@]}" --dt 0.1 --steps 4
large=$(value 'energy drift')
[ "$(value 'force calculations')" = 1500 ] || fail "not 5 * 300 force calculations: $(cat out)"
! grep -q 'level of steps' out || fail "levels without --step-levels: $(cat out)"
expect 0 - "${steps[@]}" --dt 0.1 --steps 4 --step-levels 7
less "$(value 'energy drift')" "$(awk -v a="$large" 'BEGIN { print (a < 0 ? -a : a) / 10 }')" ||
  fail "energy drift $(value 'energy drift'), without levels $large"
[ "$(value 'force calculations')" -lt 38700 ] || fail "(4 * 64 / 2 + 1) * 300 force calculations"
levels=$(value 'bodies on each level of steps')
awk -v levels="$levels" 'BEGIN { n = split(levels, k, " "); for (i in k) sum += k[i]; exit !(n == 7 && sum == 300) }' ||
  fail "not 300 bodies on 7 levels: $levels"
# With the smallest steps for all bodies, the bodies are those of equal steps.
expect 0 - "${small[@]}" --dt 0.02 --step-levels 3 --step-accuracy 1e-30 --output one
[ "$(value 'bodies on each level of steps')" = '0 0 300' ] || fail "not on the last level: $(cat out)"
expect 0 - --backend cpu --plummer 300 --quiet --dt 0.005 --steps 20 --output two
cmp -s one two || fail "block steps on one level give other bodies than equal steps"
rm one two
expect 0 - "${small[@]}" --precision float
[ "$(value precision)" = float ] || fail "no float: $(cat out)"

# External fields: a fall, which the steps follow exactly, half a period of a harmonic oscillator, and
# half a circle around a fixed mass.
check_fall() { # expected x,y,z; body; options
  printf '%s\n' "$2" >i
  expect 0 - --input i --backend cpu --quiet --output o "${@:3}"
  sed -n 2p o | awk -F, -v want="$1" '{ split(want, w, ","); for (k = 1; k <= 3; k++)
    if ($k - w[k] > 1e-4 || w[k] - $k > 1e-4) exit 1 }' || fail "not at $1: $(cat o)"
  less "$(value 'energy drift')" 1e-5 || fail "energy drift $(value 'energy drift'): $*"
  rm o
}
check_fall 0,4,-1 0,0,0,0,4,0,1 --uniform 0,0,-2 --dt 0.125 --steps 8
check_fall 3,0,0 1,0,0,0,0,0,2 --stiffness 1 --center 2,0,0 --dt 0.00314159265358979 --steps 1000
check_fall 1,0,0 3,0,0,0,2,0,0.1 --point-mass 2 --gravity 2 --center 2,0,0 --dt 0.0015707963267949 --steps 1000
# Pairs of final bodies. The body that passes is near the first one only at the end.
printf '%s\n' 0,0,0,0,0,0,0 0,0,5,0,0,0,0 1,0,0,0,0,0,0 9,0,0,-8.5,0,0,0 >i
for precision in float double; do
  expect 0 - --input i --backend cpu --quiet --dt 0.5 --steps 2 --collide 1 --collisions o --precision $precision
  [ "$(value collisions)" = 2 ] || fail "not two collisions: $(cat out)"
  [ "$(cat o)" = "$(printf '%s\n' first,second 0,3 2,3)" ] || fail "collisions: $(cat o)"
  rm o
done
expect 0 - --input i --backend cpu --quiet --steps 0 --collide 1.01 --report json
grep -q '"collisions": 1,' out || fail "not one collision: $(cat out)"
expect 0 - --input i --backend cpu --quiet --steps 0 --collide 0 --collisions o
[ "$(cat o)" = first,second ] || fail "collisions: $(cat o)"
rm o
expect 0 - "${small[@]}"
! grep -q collisions out || fail "collisions without --collide: $(cat out)"

# Reports.
expect 0 - --backend cpu --plummer 300 --steps 20 --energy-every 5 --report json
[ "$(head -c 1 out)" = '{' ] || fail "not JSON alone: $(cat out)"
[ "$(grep -c '"relative_drift"' out)" -eq 5 ] || fail "not five energies: $(cat out)"
for line in '"method": "tree",' '"bodies": 300,' '"backend": "cpu",' '"steps": 20,' \
  '"force_calculations": 6300,' '"bodies_on_level": []' '"energy_drift": ' '"steps_per_second": ' '"bodies_per_second": '; do
  output_has "$line"
done
expect 0 - "${small[@]}" --step-levels 2 --step-accuracy 1e-30 --report json
tr -d ' \n' <out | grep -qF '"bodies_on_level":[0,300]' || fail "no levels in $(cat out)"
expect 0 - --backend cpu --plummer 300 --steps 20 --energy-every 0
[ "$(grep -c '^ ' out)" -eq 3 ] || fail "not a table of two energies: $(cat out)"
expect 0 - "${small[@]}" --route flat
grep -q '^route: flat (requested)$' out || fail "no route in $(cat out)"
! grep -q '^ ' out || fail "a table in spite of --quiet: $(cat out)"
expect_trace "${small[@]}" --route device
expect_trace "${small[@]}" --method direct
expect_trace "${small[@]}" --step-levels 3
expect 0 - --help

# Each error prints one line and writes no file.
refuses_bad_launch_options
expect 2 'excludes' --input i --plummer 5
expect 2 "'-5' is not a whole number" --plummer -5
expect 2 "'1.5' is not a whole number" --steps 1.5
expect 2 "'3' is not a number in [0, 2]" --theta 3
expect 2 "'11' is not a number in [1e-05, 10]" --tolerance 11
expect 2 'excludes' --tolerance 1 --theta 0.5
expect 2 "'0' is not a whole number" --step-levels 0
expect 2 "'21' is too large; the maximum is 20" --step-levels 21
expect 2 "'0' is not a number in" --step-levels 2 --step-accuracy 0
expect 2 '--step-levels' --step-accuracy 0.1
expect 2 '--softening is 0; it must be larger than 0 if --step-levels is larger than 1' \
  --step-levels 2 --softening 0 --output o
expect 2 '{1,2}' --order 3
expect 2 "'nan' is not a number in" --softening nan
expect 2 "'x' is not a number in" --dt x
expect 2 '--dt is too small for --precision float' --dt 1e-46 --precision float --output o
expect 2 '--dt is too small for --precision double' --dt -1e-320 --output o
expect 0 - --plummer 5 --steps 1 --dt 1e-46 --backend cpu --quiet
expect 2 '--softening is 1e+30; it must be small enough' --softening 1e30 --precision float --output o
expect 2 '--point-mass is 1e+30; it must be in the range' --point-mass 1e30 --gravity 1e30 --precision float --output o
expect 2 '--center[1] is 1e+25; it must be small enough' --center 0,1e25,0 --precision float --output o
expect 2 "'nan' is not a number in" --uniform 1,nan,0
expect 2 '--uniform' --uniform 1,2
expect 2 '--point-mass' --core-radius 1
expect 2 '--collide' --collisions o
expect 2 '--collide is too small for --precision float; it must be 0 or' --collide 1e-20 --precision float --output o
expect 2 '--collide is too small for --precision double' --collide 1e-170 --output o
expect 2 "'-1' is not a number in" --collide -1
expect 2 'name the same file' --collide 1 --collisions o --output o
expect 2 "'0' is not a whole number" --image p.png --image-size 0
expect 2 '--image' --image-size 50
expect 2 "method 'guess' is neither" --method guess
expect 2 'half' --precision half
expect 2 'which is never changed' --input i --output ./i
cp i i.png
expect 2 'which is never changed' --input i.png --image ./i.png
expect 2 'name the same file' "${small[@]}" --output p.png --image p.png
expect 3 'No such file' --input nowhere --output o
expect 3 'is a directory' --input . --output o
bad() { # text of the error message, lines...
  local text=$1
  shift
  printf '%s\n' "$@" >i
  expect 3 "$text" --input i --output o --backend cpu
}
bad "line 3: '1,2,3,4,5,6' is not seven numbers" x,y,z,vx,vy,vz,m 1,2,3,4,5,6,7 1,2,3,4,5,6
bad "line 1: '1,2,3,4,5,6,7,8' is not seven numbers" 1,2,3,4,5,6,7,8
bad "line 2: '1,2,3,4,5 6,6,7' is not seven numbers" 1,2,3,4,5,6,7 '1,2,3,4,5 6,6,7'
bad "line 1: 'a,b,c,d,e,f,g' is a header line without the column 'x'" a,b,c,d,e,f,g
bad "line 2: '1,2,3,4,5,,7' has an empty field" 1,2,3,4,5,6,7 1,2,3,4,5,,7
bad "line 1: '1,2,3,4,5,6,1e-400' has a m of '1e-400', which is too small for a double (underflow)" 1,2,3,4,5,6,1e-400
bad "line 1: '1,9007199254740993,3,4,5,6,7' has a y of '9007199254740993', which a double would round" \
  1,9007199254740993,3,4,5,6,7
bad "line 1: '1,2,inf,4,5,6,7' has a z of 'inf', which is not a finite number" 1,2,inf,4,5,6,7
bad "line 1: '1,2,3,4,5,6,1e999' has a m of" 1,2,3,4,5,6,1e999
bad "positions[1] is (1e+200" 1,2,3,4,5,6,7 1e200,2,3,4,5,6,7
printf '%s\n' 1,2,3,4,5,6,7 1e30,2,3,4,5,6,7 >i
# A float would change these numbers.
for number in 16777217 1e39 1e-40; do
  printf '\n0,0,0,0,0,0,%s\n' $number >j
  expect 0 - --input j --steps 0 --backend cpu
  expect 3 "j, line 2: '0,0,0,0,0,0,$number' has a m of '$number', which" --input j --steps 0 --backend cpu --precision float
done
# The columns of a header in another order, among others.
printf 'm;id;x;y;z;vx;vy;vz\n7;0;1;2;3;4;5;6\n' >j
expect 0 - --input j --steps 0 --backend cpu --output moved.csv
[ "$(tail -n 1 moved.csv)" = 1,2,3,4,5,6,7 ] || fail "columns of the header: $(cat moved.csv)"
expect 3 'i, line 2: barnes_hut: positions[1] is (1e+30' --input i --output o --backend cpu --precision float
printf '%s\n' 1,2,3,1e300,5,6,7 4,2,3,4,5,6,7 >i
expect 1 'in step 1: ' --input i --output o --backend cpu
expect 5 'cannot write nowhere/o' "${small[@]}" --output nowhere/o
expect 5 'cannot write nowhere/p.png' "${small[@]}" --image nowhere/p.png
expect 2 '--plummer must be less than 2^31' --plummer 2147483648 --output o
if ! "$program" --plummer 5 --steps 1 --backend cuda >out 2>err; then
  expect 4 'the cuda backend cannot run' --plummer 5 --backend cuda --output o --image p.png
fi
echo "all as expected"
