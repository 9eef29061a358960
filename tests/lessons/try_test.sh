#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests examples/try.sh with the template, and the command lines of examples/README.md that compile a
# lesson by hand. A g++ line also runs the lesson; an nvcc line is compiled if there is an nvcc.
#
#   try_test.sh <root> <build> <work folder>
set -euo pipefail
root=$1 build=$2 work=$3
rm -rf "$work"
mkdir -p "$work"
cd "$work"
export RAMIFY_BUILD=$build RAMIFY_CPU_SCHEDULE=parallel
fail() { echo "FAILED: $*"; exit 1; }

expect() { # status, text of the output, arguments of try.sh...
  local status=0 output
  output=$("$root/examples/try.sh" "${@:3}" 2>&1) || status=$?
  [ $status = "$1" ] || fail "try.sh ${*:3} ended with status $status: $output"
  [[ $output == *"$2"* ]] || fail "try.sh ${*:3} did not print '$2': $output"
}

cp "$root/examples/template.cu" my.cu
expect 0 '8 threads of children ran, 0 launches failed' --trace tree.dot my.cu
expect 0 'Hello World!' --cpu "$root/tests/plain/hello.cu"
echo '__global__ void k(int* p) { *p = 0; }' >two.cu
echo '__global__ void k(int* p); int main() { k<<<1, 1>>>(); }' >one.cu
expect 1 'one.cu:1: error: kernel k has 1 parameter, and this launch passes 0 arguments' --cpu one.cu two.cu
echo '__global__ void k(int*); int main() { int i = 3; k<<<1, 1>>>(&i); return i; }' >one.cu
expect 0 '' --cpu one.cu two.cu
grep -q '^// 3 grids, ' tree.dot || fail "a tree of another size: $(head -n 1 tree.dot)"
printf '%s\n' '__global__ void grandchild() {}' \
  '__global__ void child(int* p) { grandchild<<<1, 1, 0, cudaStreamFireAndForget>>>(); *p = 1; }' \
  '__global__ void parent() { int mine; child<<<1, 1>>>(&mine); }' \
  'int main() { parent<<<1, 1>>>(); return cudaDeviceSynchronize() == cudaSuccess ? 0 : 3; }' >broken.cu
expect 1 'local memory' --trace 'two words.html' broken.cu
grep -q '"parent"' 'two words.html' || fail 'the run that a broken rule ended has no tree'
expect 2 "--trace 'tree.txt' must end in .html, .json or .dot" --trace tree.txt my.cu
expect 2 "--trace 'none/tree.dot' cannot be written" --trace none/tree.dot my.cu
expect 2 'usage: examples/try.sh' --trace tree.dot
cat >arguments.cu <<'END'
#include <cstdio>
int main(int count, char** arguments) {
  for (int i = 1; i < count; ++i) std::printf("<%s>", arguments[i]);
  return count;
}
END
expect 3 '<two words><-x>' --cpu arguments.cu 'two words' -x
expect 2 'usage: examples/try.sh'
expect 2 "there is no file 'missing.cu'" --cpu missing.cu
expect 2 "'my.cpp' must end in .cu" my.cpp
expect 2 'includes ramify/cluster, which needs MPI' "$root/examples/lessons/30_ranks.cu"
RAMIFY_BUILD=$work/none expect 1 "there is no $work/none/device_runtime/libramify_runtime.a" --cpu my.cu

# The command lines of the README, with continuation lines joined, as they stand except for the
# build folder.
lines=$(sed -n '/^    /{:join; /\\$/{N; s/\\\n *//; b join}; s/^ *//p}' "$root/examples/README.md")
compile() { # compiler: runs the README's line of this compiler in the root folder
  local line
  line=$(grep "^$1 " <<<"$lines") || fail "examples/README.md has no $1 line"
  [ "$(wc -l <<<"$line")" = 1 ] || fail "examples/README.md has several $1 lines"
  line=${line//build\/dev/$build}
  line=${line/ -o lesson / -o $work/lesson }
  line=${line/#$1 /\"$2\" }
  (cd "$root" && bash -euc "$line") || fail "$line"
}
compile g++ "${CXX:-g++}"
./lesson | grep -qF "log 0: '()()()()'" || fail 'the lesson prints something else'
nvcc=${CUDACXX:-nvcc}
command -v "$nvcc" >/dev/null || nvcc=${CUDA_PATH:-/usr/local/cuda}/bin/nvcc
if command -v "$nvcc" >/dev/null; then
  rm lesson
  compile nvcc "$nvcc"
  [ -x lesson ] || fail 'nvcc made no program'
fi
