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
  "$translate" "$6.ii" "$6.0.ii" "$root"
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
! "$translate" refused.ii refused.0.ii "$root" 2>messages || fail 'refused.cu was translated'
sed -n 's,^.*refused\.cu:\([0-9]*: error: \),\1,p' messages | sort -n >printed
diff "$here/refused.txt" printed || fail 'other messages for refused.cu'
[ "$(wc -l <messages)" = "$(wc -l <printed)" ] || fail "$(cat messages)"

# Functions and variables that one side has and the other one uses.
check_sides() { # name of the source; the messages are those of the lines with "// ERROR" and "// WARNING"
  preprocess "$1.cu" "$1.ii"
  "$translate" "$1.ii" "$1.0.ii" "$root" 2>messages || true
  sed -nE "s,^(.*/)?${1##*/}[.]cu:([0-9]+): (error|warning): (.*),\2 \3 \4,p" messages >printed
  [ "$(wc -l <messages)" = "$(wc -l <printed)" ] || fail "$1: $(cat messages)"
  sed -nE 's,^([0-9]+):.*// (ERROR|WARNING) (.*)$,\1 \L\2\E \3,p' <(grep -n '' "$1.cu") >wanted
  diff <(sort -n wanted) <(sort -n printed) || fail "other messages for $1.cu"
}
of_host='in a kernel: it is a function of the host; write __device__ before its definition, or __host__ __device__ if the host calls it, too'
of_device='of the device: on a GPU it has no access to it; use cudaMemcpyFromSymbol() or cudaMemcpyToSymbol()'
cat >sides.cu <<END
#include <algorithm>
#include <cstdio>
__device__ int counter, *list, table[2] = {1, 2};
__constant__ float weights[4];
__device__ __managed__ int both;
__managed__ __device__ int managed;
static int square(int x) { return x * x; }
namespace { template <class T> T twice(T x) { return x + x; } }
__host__ __device__ int of_both(int x) { return x; }
constexpr int constant(int x) { return x; }
consteval int now(int x) { return x; }
int of_overload(int x) { return x; }
__device__ float of_overload(float x) { return x; }
int hidden(int x) { return x; }
int cube(int x) { return x; }
struct on_device {
  __device__ int cube(int x) const { return x; }
};
__device__ int helper(int x) { return square(x); }  // ERROR square() $of_host
__global__ void kernel(int* p, int (*hidden)(int)) {
  p[0] = twice(3);                                    // ERROR twice() $of_host
  p[1] = on_device{}.cube(2) + of_both(1) + hidden(3);
  const auto square = [](int x) { return x; };
  p[2] = square(4) + static_cast<int>(of_overload(1.f)) + table[0];
  p[3] = constant(2);                                 // ERROR constant() $of_host
  p[4] = now(3) + twice<int>(4);                      // ERROR twice() $of_host
}
int sum(int x, int y) { return x + y; }
struct pair { int first, second; };
template <class F> struct with_number { F call; int number; };
template <class F> __device__ int apply(F&& sum) { return sum(1, 2); }
__global__ void hides_by_reference(int* p) {
  auto&& sum = [](int x, int y) { return x + y; };
  p[0] = sum(1, 2);
}
__global__ void hides_by_binding(int* p) {
  const auto square = [](int x) { return x; };
  const auto [sum, b] = with_number{square, 1};
  p[0] = sum(1) + b;
}
__global__ void hides_in_lambda(int* p) {
  p[0] = [sum = [](int x, int y) { return x + y; }] { return sum(1, 2); }();
}
__global__ void hides_nothing(int* p, bool both) {
  p[0] = both && sum(1, 2) == 3;                      // ERROR sum() $of_host
}
__device__ int total;
bool use(const int* p) { return p != nullptr; }
int of_loop(const int (&list)[2]) {
  int all = 0;
  for (const int& total : list) all += total;
  return all;
}
int of_two() {
  int all = 0;
  for (int i = 0, total = 2; i < total; ++i) all += total;
  return all;
}
int of_binding(pair v) {
  auto& [total, b] = v;
  return total + b;
}
struct designated { int other, total; };
int of_member() { return designated{.other = 1, .total = 1}.total; }
int of_capture() {
  return [total = 1] { return total; }() + [a = 1, total = 2] { return a + total; }();
}
int of_reference(int&& total) { return std::max<int>(total, 1); }
bool of_address() {
  int* const here[] = {&both};
  return use(&total) || here[0] == nullptr;           // WARNING the host uses the variable total $of_device
}
__device__ int rest;
namespace own { int rest; }
int of_namespace() { return own::rest; }
int of_generic() { return [](auto&& rest) { return rest; }(1); }
bool of_none(bool all) {
  return all && rest == 3;                            // WARNING the host uses the variable rest $of_device
}
int first_of_list() { return *list; }                 // WARNING the host uses the variable list $of_device
void host_only(int counter) { printf("%d", counter); }
int main() {
  int value = 0;
  cudaMemcpyFromSymbol(&value, counter, sizeof counter);
  cudaMemcpyToSymbol(weights, &value, sizeof(table));
  const float* list = nullptr;
  printf("%d %d %d\n", both, managed, list == nullptr);
  printf("%d\n", counter);                            // WARNING the host uses the variable counter $of_device
  counter = square(3) + twice(2);
  return table[1];                                    // WARNING the host uses the variable table $of_device
}
END
check_sides sides
# All folders but those of Ramify are the user's.
mkdir -p ramify/examples/plain
cp sides.cu ramify/examples/plain
check_sides "$PWD/ramify/examples/plain/sides"
# A function may have the keyword with nvcc alone.
cat >guarded.cu <<'END'
#ifdef __CUDACC__
#define HOST_DEVICE __host__ __device__
#else
#define HOST_DEVICE
#endif
HOST_DEVICE int square(int x) { return x * x; }
__global__ void kernel(int* p) { *p = square(3); }
END
check_sides guarded

# The compiler's errors are in the marked lines.
preprocess "$here/compiler_errors.cu" compiler.ii
"$translate" compiler.ii compiler.0.ii "$root"
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
"$translate" no_shared.ii no_shared.0.ii "$root"
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
    timeout 10 "$translate" hostile.ii hostile.0.ii "$root" 2>messages || status=$?
    [ $status -le 1 ] || fail "'$before$text' ended the translator with status $status"
    [ $status = 0 ] || grep -q 'error: ' messages || fail "'$before$text': no message"
  done
done

# A text without CUDA is not changed, but for the first line.
printf 'int a = 1 << 2 >> 1; auto s = R"(<<<)"; // x\nint b = a;' >same.ii
"$translate" same.ii same.0.ii "$root"
tail -n +2 same.0.ii | diff same.ii - || fail 'a text without CUDA was changed'

status=0
"$translate" missing.ii missing.0.ii "$root" 2>messages || status=$?
[ $status = 1 ] && grep -q 'cannot read missing.ii' messages || fail "missing.ii: $(cat messages)"
status=0
"$translate" same.ii none/same.ii "$root" 2>messages || status=$?
[ $status = 1 ] && grep -q 'cannot write none/same.ii' messages || fail "none/: $(cat messages)"
