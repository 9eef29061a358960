#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Checks that a total which cannot hold its results is refused at compile time, with a sentence:
# refused_results.sh <C++ compiler> <root of the project>
set -euo pipefail
cd "$2"
compile() {
  "$1" -std=c++20 -fsyntax-only -Ialgorithms -Idevice_runtime "${@:2}" tests/traverse/refused_results.cpp 2>&1
}
compile "$1" || { echo "the calls with the right types do not compile"; exit 1; }
if output=$(compile "$1" -DRAMIFY_TEST_REFUSED=1); then
  echo "the calls with the wrong types compile"
  exit 1
fi
for sentence in \
  'traverse: the type of `identity` decides the type of the total, which cannot hold the results of visit()' \
  'traverse: the type of `identity` decides the type of the total, which cannot hold the results of reduce()' \
  'fork_join: the type that leaf() returns decides the type of all results, which cannot hold what combine() returns' \
  'tree_folds: the type of `values` decides the type of the folds, which cannot hold what combine() returns' \
  'branch_and_bound: bound() must return a whole number' \
  'branch_and_bound: value() must return a whole number'; do
  grep -qF -- "$sentence" <<<"$output" || { echo "no '$sentence' in: $output"; exit 1; }
done
