#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the translation of plain CUDA, with the command lines of examples/try.sh.
#
#   plain_test.sh <root> <translate> <library> <work folder> run <program> <exit status>
#   plain_test.sh <root> <translate> <library> <work folder> errors
set -euo pipefail
root=$1 translate=$2 library=$3 work=$4
here=$root/tests/plain plain=$root/examples/plain
mkdir -p "$work"
cd "$work"
fail() { echo "FAILED: $*"; exit 1; }
cxx=${CXX:-g++}
preprocess() { # source, result
  "$cxx" -std=c++20 -E -I "$root/device_runtime" -I "$plain/include" -include "$plain/plain.hpp" \
    -x c++ "$1" -o "$2"
}

if [ "$5" = run ]; then
  preprocess "$here/$6.cu" "$6.ii"
  "$translate" "$6.ii" "$6.0.ii"
  "$cxx" -std=c++20 -O1 -fno-strict-aliasing -x c++-cpp-output "$6.0.ii" -x none "$library" \
    -lboost_context -rdynamic -o "$6"
  for schedule in parallel eager late random:1 random:2; do
    status=0
    RAMIFY_CPU_SCHEDULE=$schedule timeout 100 "./$6" >output 2>&1 || status=$?
    [ $status = "$7" ] || fail "$6 under $schedule ended with status $status: $(cat output)"
    "$root/tests/lessons/check.sh" "$(command -v cat)" "$here/$6.txt" -- output ||
      fail "$6 under $schedule printed something else"
  done
  exit 0
fi

# The translator's messages.
preprocess "$here/refused.cu" refused.ii
! "$translate" refused.ii refused.0.ii 2>messages || fail 'refused.cu was translated'
sed -n 's,^.*refused\.cu:\([0-9]*: error: \),\1,p' messages | sort -n >printed
diff "$here/refused.txt" printed || fail 'other messages for refused.cu'
[ "$(wc -l <messages)" = "$(wc -l <printed)" ] || fail "$(cat messages)"

# The compiler's errors are in the marked lines.
preprocess "$here/compiler_errors.cu" compiler.ii
"$translate" compiler.ii compiler.0.ii
! "$cxx" -std=c++20 -fsyntax-only -x c++-cpp-output compiler.0.ii 2>messages ||
  fail 'compiler_errors.cu was compiled'
sed -n 's,^.*compiler_errors\.cu:\([0-9]*\):.* error: .*,\1,p' messages | sort -nu >printed
grep -n '// error' "$here/compiler_errors.cu" | cut -d : -f 1 >wanted
diff wanted printed || fail "errors in other lines of compiler_errors.cu: $(cat messages)"

# A launch() with too few arguments is one error, and its sentence.
cat >count.cpp <<'END'
#include <ramify/runtime/launch.cuh>
#include <ramify/runtime/stream.cuh>
__global__ void kernel(int*, int) {}
void run(int* p) { (void)ramify::launch(kernel, {1, 1}, nullptr, p).code(); }
END
! "$cxx" -std=c++20 -fsyntax-only -I "$root/device_runtime" count.cpp 2>messages ||
  fail 'a launch() with too few arguments was compiled'
grep -q 'launch() passes another number of arguments than the kernel has parameters' messages ||
  fail "$(cat messages)"
[ "$(grep -c 'error: ' messages)" = 1 ] || fail "several errors: $(cat messages)"

# The third number of the launch is missing.
sed 's/, 32 \* sizeof(int)>>>/>>>/' "$here/shared_overrun.cu" >no_shared.cu
preprocess no_shared.cu no_shared.ii
"$translate" no_shared.ii no_shared.0.ii
"$cxx" -std=c++20 -x c++-cpp-output no_shared.0.ii -x none "$library" -lboost_context -rdynamic \
  -o no_shared
! ./no_shared 2>messages || fail 'an access without dynamic shared memory'
grep -qF 'the launch requested 0 bytes, the third number of a launch' messages ||
  fail "$(cat messages)"

# Sources that end too early, or are no C++, are translated or refused, and nothing else.
hostile=('' 'k<<<' 'k<<<1,1>>>' 'k<<<1,1>>>(' '<<<' '>>>' '>>>(' '__global__' '__shared__' 'x>>>(3)'
  '__global__ void k(' '__global__ void k() {' 'extern __shared__' 'extern __shared__ int x[];'
  'extern __shared__ int x;' 'template <' '> __global__ void k();' '> ) ] }' '( [ {' 'asm' 'asm('
  'asm volatile("' '"unterminated' "'" 'R"(' 'R"' 'a' '1e' '# 3' '# 3 "x' '# 3 "x" 2' '#' 'operator<<<'
  'f(k<<<1,1>>>(1)' '>>>k<<<1,2>>>(' ')k<<<1,2>>>()' '>k<<<1,2>>>()' 'k<a<b<c<<<1,2>>>>>>>()'
  'ramify_refused' 'texture<' '__device__ void f() { malloc' '__device__ malloc(' $'\xff\x00\x80<<<')
for text in "${hostile[@]}"; do
  for before in '' 'int x; ' 'void f() { '; do
    printf '%s%s' "$before" "$text" >hostile.ii
    status=0
    timeout 10 "$translate" hostile.ii hostile.0.ii 2>messages || status=$?
    [ $status -le 1 ] || fail "'$before$text' ended the translator with status $status"
    [ $status = 0 ] || grep -q 'error: ' messages || fail "'$before$text': no message"
  done
done

# A text without CUDA is not changed, but for the first line.
printf 'int a = 1 << 2 >> 1; auto s = R"(<<<)"; // x\nint b = a;' >same.ii
"$translate" same.ii same.0.ii
tail -n +2 same.0.ii | diff same.ii - || fail 'a text without CUDA was changed'

status=0
"$translate" missing.ii missing.0.ii 2>messages || status=$?
[ $status = 1 ] && grep -q 'cannot read missing.ii' messages || fail "missing.ii: $(cat messages)"
status=0
"$translate" same.ii none/same.ii 2>messages || status=$?
[ $status = 1 ] && grep -q 'cannot write none/same.ii' messages || fail "none/: $(cat messages)"
