#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests examples/learn.sh as a learner uses and misuses it, and try.sh --schedules.
#
#   learn_test.sh <root> <build> <work folder>
set -euo pipefail
root=$1 build=$2 work=$3
rm -rf "$work"
mkdir -p "$work"
cd "$work"
export LC_ALL=C RAMIFY_BUILD=$build RAMIFY_EXERCISES="$work/my answers"
mine=$RAMIFY_EXERCISES/01_first_child.cu
fail() { echo "FAILED: $*"; exit 1; }

expect() { # status, text of the output, command...
  local status=0
  output=$("${@:3}" 2>&1) || status=$?
  [ $status = "$1" ] || fail "${*:3} ended with status $status: $output"
  [[ $output == *"$2"* ]] || fail "${*:3} did not print '$2': $output"
}
learn() { "$root/examples/learn.sh" --cpu "$@"; }
fill() { # code in place of the hole
  { sed '/\/\/ HOLE/,$d' "$root/examples/exercises/01_first_child.cu"
    echo "$1"
    sed '1,/\/\/ END OF HOLE/d' "$root/examples/exercises/01_first_child.cu"; } >"$mine"
}

# 1. The way of a learner: next, check, hints, a solution, the next exercise.
expect 0 '01_first_child ' learn list
[ ! -e "$RAMIFY_EXERCISES" ] || fail 'list made files'
expect 1 'reset 01_first_child` makes it' learn check
expect 0 "Change $mine" learn next
expect 1 '01_first_child: right under 0 of 24 schedules; wrong first under `eager`:' learn check
[[ $output == *'no child ran'*'parent <2, 32> by the host'* ]] || fail "no reason or tree: $output"
expect 0 'begun   01_first_child' learn list
expect 0 'Hint 1:' learn hint
expect 0 'Hint 2:' learn hint 1
expect 0 'if (threadIdx.x == 0) {' learn solution
fill "$output"
expect 0 'right under 24 of 24 schedules' learn check
expect 0 'solved  01_first_child' learn list
expect 0 'Exercise 2:' learn next
expect 0 'right under 24 of 24 schedules' learn check 1
expect 0 'is the exercise again' learn reset 1
cmp -s "$mine" "$root/examples/exercises/01_first_child.cu" || fail 'reset has not restored the file'
grep -q fire_and_forget "${mine%.cu}.old.cu" || fail 'reset lost the answer'

for file in "$root"/examples/exercises/*.cu; do
  name=$(basename "$file" .cu)
  grep -qF "(exercises/$name.cu)" "$root/examples/README.md" ||
    fail "the table of examples/README.md has no $name"
  [ "$(grep -c '^@wrong ' "$root/examples/exercises/answers/$name.txt")" -ge 3 ] &&
    [ "$(grep -c '^@hint$' "$root/examples/exercises/answers/$name.txt")" -ge 2 ] ||
    fail "$name needs two hints and three wrong answers"
done

# 2. Mistakes.
fill '  int x = nothing;'
expect 1 "$mine:" learn check 1
[[ $output == *"'nothing' was not declared"* && $output != *include* ]] || fail "messages: $output"
fill '  launch(child, {1, 4}, fire_and_forget(), c, 5, 6);'
expect 1 "$mine:" learn check 1
[[ $output != *"$root/device_runtime"* ]] || fail "messages of other files: $output"
fill '  for (;;) __threadfence();'
RAMIFY_SECONDS=1 expect 1 'no end after 1 s: an endless loop?' learn check 1
fill '  for (;;) printf("a line that fills the disk, and one more, and one more\n");'
expect 1 'printed more than 20 MB' learn check 1
fill '  exit(0);'
expect 1 'ended before its check: does it call exit()?' learn check 1
[[ $output == *'right under 0 of 24 schedules'* ]] || fail "exit(0) counts as right: $output"
fill '  puts("right");
  _exit(0);'
expect 1 'right under 0 of 24 schedules' learn check 1
fill '  *reinterpret_cast<volatile int*>(64) = 1;'
expect 1 'ramify, CPU executor' learn check 1
fill 'while the learner writes'
expect 1 '01_first_child does not compile' learn check 1
fill 'if (threadIdx.x == 0) child<<<1, 4>>>(c);'
expect 1 "$mine:20: an exercise launches by launch()" learn check 1
fill 'none;  // child<<<1, 4>>>(c)'
expect 1 "$mine:20:1: error: " learn check 1
: >"$mine"
expect 1 '01_first_child does not compile' learn check 1
rm "$mine"
expect 1 "there is no $mine" learn check 1
expect 2 "there is no exercise '99_none'" learn check 99_none
expect 2 "there is no exercise '*'" learn hint '*'
expect 2 "there is no exercise '01x'" learn solution ../lessons/01x
expect 2 "unknown command 'solve'" learn solve
expect 2 'too many arguments' learn check 1 2
CXX=$work/no_compiler expect 1 "there is no compiler '$work/no_compiler'" learn check 2
RAMIFY_BUILD=$work/none expect 1 "there is no $work/none/device_runtime/libramify_runtime.a" learn check 2
RAMIFY_EXERCISES=/proc/none expect 1 'cannot make the folder' learn next
if [ -e /dev/full ]; then # every write fails as on a full disk
  learn reset 1 >/dev/null
  mv "$RAMIFY_EXERCISES/progress" saved
  ln -s /dev/full "$RAMIFY_EXERCISES/progress"
  expect 1 'cannot write' learn hint 1
  rm "$RAMIFY_EXERCISES/progress"
  mv saved "$RAMIFY_EXERCISES/progress"
fi
echo 'some garbage' >>"$RAMIFY_EXERCISES/progress"
expect 0 ' 02_check_the_launch' learn list

# 3. watch checks at once and after a save, and ctrl-C ends it.
learn reset 1 >/dev/null
learn watch 1 >watched 2>&1 &
watcher=$!
wait_for() { # text
  for ((i = 0; i < 200; ++i)); do
    ! grep -q "$1" watched || return 0
    sleep 0.1
  done
  fail "watch did not print '$1': $(cat watched)"
}
wait_for 'right under 0 of 24'
fill "$(learn solution 1)"
wait_for 'right under 24 of 24'
wait $watcher || fail "watch ended with status $?"
learn reset 1 >/dev/null
set -m # a background command of a shell without job control ignores ctrl-C
learn watch 1 >interrupted 2>&1 &
watcher=$!
set +m
for ((i = 0; i < 200; ++i)); do ! grep -q 'right under 0 of 24' interrupted || break; sleep 0.1; done
kill -INT -- "-$watcher"
status=0
wait $watcher || status=$?
[ $status = 130 ] || fail "watch ended with status $status after ctrl-C: $(cat interrupted)"
! compgen -G "$root/build/learn/check.*" >/dev/null || fail 'a check left its folder'

# 4. try.sh --schedules: a right program, and one whose children have no order, with a launch before
# the barrier and a result that is read without a join. Each mistake is right under some schedules.
cat >right.cu <<'END'
#include "lesson.hpp"
using namespace ramify;
struct results {
  int last, data[64], seen, value, read, failures;
};
__global__ void child(results* r, int number) { r->last = number; }
__global__ void ordered(results* r) {
  for (int i = 1; i < 3; ++i) {
    if (!launch(child, {1, 1}, null_stream(), r, i)) r->failures = 1;
  }
}
__global__ void count(results* r) {
  for (int number : r->data) r->seen += number;
}
__global__ void with_barrier(results* r) {
  r->data[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0 && !launch(count, {1, 1}, fire_and_forget(), r)) r->failures = 1;
}
__global__ void set(results* r) { r->value = 7; }
__global__ void read(results* r) { r->read = r->value; }
__global__ void joined(results* r) {
  if (!launch(set, {1, 1}, fire_and_forget(), r)) r->failures = 1;
  if (!launch(read, {1, 1}, tail_launch(), r)) r->failures = 1;
}
int main() {
  const lesson::device_array<results> memory(1);
  check(launch(ordered, {1, 1}, nullptr, memory.data()).code(), "launching");
  check(launch(with_barrier, {1, 64}, nullptr, memory.data()).code(), "launching");
  check(launch(joined, {1, 1}, nullptr, memory.data()).code(), "launching");
  const results r = memory.read()[0];
  std::cout << "last: " << r.last << "\nseen: " << r.seen << "\nread: " << r.read
            << "\nfailures: " << r.failures << '\n';
}
END
sed 's/null_stream()/fire_and_forget()/; /__syncthreads/d
     s/if (!launch(read.*/r->read = r->value;/' right.cu >wrong.cu
expect 0 'the same under 24 of 24 schedules' "$root/examples/try.sh" --schedules right.cu
[[ $output == *$'last: 2\nseen: 64\nread: 7\nfailures: 0'* ]] || fail "output: $output"
expect 1 'of 24 schedules it differs, first under `late`:' "$root/examples/try.sh" --schedules wrong.cu
[[ $output == *$'\n last: 2\n-seen: 1\n-read: 7\n+seen: 64\n+read: 0\n failures: 0'* ]] ||
  fail "no difference shown: $output"
