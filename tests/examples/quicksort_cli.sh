#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the example program quicksort: quicksort_cli.sh <program> <work folder>
. "$(dirname "$0")/cli_checks.sh"

# Text: integers, floating-point numbers, Windows line ends, no last newline, an empty file.
printf '3\n-1\n  20\r\n7' >i
expect 0 - --input i --output o --backend cpu --verify
[ "$(cat o)" = "$(printf '%s\n' -1 3 7 20)" ] || fail "integers: $(cat o)"
expect 0 - --input i --output o --backend cpu --descending
[ "$(cat o)" = "$(printf '%s\n' 20 7 3 -1)" ] || fail "descending: $(cat o)"
printf '1e3\nnan\n-inf\n0.5\n9007199254740992\n' >i
expect 0 - --input i --output o --backend cpu --verify
[ "$(cat o)" = "$(printf '%s\n' -inf 0.5 1000 9007199254740992 nan)" ] || fail "doubles: $(cat o)"
printf '1180591620717411303424\n-007\n0\n0.5\n' >i
expect 0 - --input i --output o --backend cpu
[ "$(cat o)" = "$(printf '%s\n' -7 0 0.5 1180591620717411303424)" ] || fail "large doubles: $(cat o)"
printf '18446744073709551615\n9223372036854775808\n' >i
expect 0 - --input i --output o --backend cpu
[ "$(cat o)" = "$(printf '%s\n' 9223372036854775808 18446744073709551615)" ] || fail "u64: $(cat o)"
# The rule of all readers: blank lines, comments, separators and plus signs.
printf '# keys\n%% and values\n5;50\n\n1 ,\t10\n+3 +30\n\n' >i
expect 0 - --input i --output o --backend cpu --pairs --verify
[ "$(cat o)" = "$(printf '%s\n' '1 10' '3 30' '5 50')" ] || fail "pairs: $(cat o)"
: >i
expect 0 - --input i --output o --backend cpu --verify
[ ! -s o ] || fail "an empty file gave $(cat o)"

# A link to the output file is followed.
touch real && ln -s real link
expect 0 - --generate sorted --n 3 --type i32 --output link --backend cpu
[ -L link ] && [ "$(wc -l <real)" -eq 3 ] || fail "a link was not followed"

# Raw binary; the input file does not change.
printf '\3\0\0\0\1\0\0\0\377\377\377\377' >i
cp i i.before
expect 0 - --input i --type i32 --output o --backend cpu
[ "$(od -An -tx1 o | tr -d ' \n')" = "ffffffff0100000003000000" ] || fail "raw i32: $(od -tx1 o)"
expect 0 - --input i --type u32 --output o --backend cpu
[ "$(od -An -tx1 o | tr -d ' \n')" = "0100000003000000ffffffff" ] || fail "raw u32: $(od -tx1 o)"
cmp -s i i.before || fail "the input was touched"

# All strategies and routes, on generated numbers, compared with sort(1).
for strategy in sample_sort binary; do
  for route in device flat automatic; do
    expect 0 - --generate few-distinct --n 20000 --type i64 --output o --backend cpu --verify \
      --strategy $strategy --route $route --pending-launches 64
    sort -n -c o || fail "$strategy $route: out of order"
    [ "$(wc -l <o)" -eq 20000 ] || fail "$strategy $route: lines lost"
  done
done

# In parts that fit in a budget of device memory.
expect 0 - --generate zipf --n 300000 --backend cpu --output whole
! grep -q '^runs' out || fail "parts without a budget: $(cat out)"
expect 0 - --generate zipf --n 300000 --backend cpu --output parts --verify --device-memory 1M
grep -Eq '^runs: [2-9]' out || fail "no runs in $(cat out)"
cmp whole parts || fail "a sort in parts gives another file"
rm -f parts whole o
expect 2 'device-memory is 1000 bytes; a sort of 300000 elements needs at least' \
  --generate zipf --n 300000 --backend cpu --output o --device-memory 1000

# Reports.
expect 0 - --generate uniform --n 50000 --backend cpu --route device --strategy binary
grep -q '^backend: cpu (requested)$' out || fail "no backend in $(cat out)"
grep -q '^route: device (requested)$' out || fail "no route in $(cat out)"
grep -Eq '^grids launched by kernels: [1-9]' out || fail "no child grids in $(cat out)"
grep -Eq '^milliseconds in all: .*[1-9]' out || fail "no time in $(cat out)"
expect 0 - --generate uniform --n 50000 --report json --verify
for line in '"keys": 50000,' '"verified": true' '"backend_reason": "' '"copy_in_ms": ' \
  '"work_ms": ' '"copy_out_ms": ' '"total_ms": '; do
  output_has "$line"
done
expect 0 - --help

# Errors have a message of one line and leave no output file.
rm -f o
expect 2 'give --input or --generate'
refuses_bad_launch_options --generate uniform --n 5
expect 2 "none of uniform, sorted" --generate unsorted --n 3
expect 2 '--n' --generate uniform
expect 2 "'-5' is not a whole number" --generate uniform --n -5
expect 2 "strategy 'bubble' is neither" --generate uniform --n 5 --strategy bubble
expect 2 "type 'u8' is none of" --input i --type u8 --output o
expect 2 'which is never changed' --input i --type u32 --output ./i
cmp -s i i.before || fail "the input was touched"
expect 3 'No such file' --input nowhere --output o
expect 3 'is a directory' --input . --output o
expect 3 'no multiple of 8' --input i --type f64 --output o
printf '1\n2\nthree\n4\n' >j
expect 3 "line 3: 'three' is not a number" --input j --output o
printf '1\n# 5\n\n2 7\n' >j
expect 3 "line 4: '2 7' is not one number" --input j --output o
for whole in 9007199254740993 -9007199254740993 18446744073709551615 99999999999999999999; do
  printf '0.5\n%s\n' $whole >j
  expect 3 "line 2: '$whole' would be rounded" --input j --output o
done
printf '1 1\n2\n' >j
expect 3 "line 2: '2' is not a key and a value" --input j --pairs --output o
printf '1 1\n2 x\n' >j
expect 3 "line 2: '2 x' has a value of 'x', which is not a whole number" --input j --pairs --output o
printf '1\n1e400\n' >j
expect 3 "line 2: '1e400' is too large for a double (overflow)" --input j --output o
printf '1\n1e-400\n' >j
expect 3 "line 2: '1e-400' is too small for a double (underflow)" --input j --output o
printf 'size\n1\n' >j
expect 3 "line 1: 'size' is not a number; a header line must be removed" --input j --output o
rm -f o
expect_trace --generate uniform --n 100000 --route device --strategy binary
expect_trace --generate uniform --n 100000 --route flat
expect 5 'cannot write nowhere/t.html' --generate uniform --n 5 --trace nowhere/t.html
mkfifo pipe
expect 5 'pipe: it is not a regular file' --generate uniform --n 5 --output pipe
ln -s nothing dangling
expect 5 'dangling: it is a link to nothing' --generate uniform --n 5 --output dangling
[ -p pipe ] || fail "the pipe was replaced"
expect 1 'not enough memory' --generate uniform --n 18446744073709551615 --output o
expect 5 'cannot write nowhere/o' --generate uniform --n 5 --output nowhere/o
if ! "$program" --generate uniform --n 5 --backend cuda >out 2>err; then
  expect 4 'the cuda backend cannot run' --generate uniform --n 5 --backend cuda --output o
fi
echo "all as expected"
