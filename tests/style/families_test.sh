#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Fails if a family or a program lacks one of its places. Prints each place that is missing.
# "How to add a family" in CONTRIBUTING.md describes the places; this test finds those that all
# families have.
#   families_test.sh ROOT
set -euo pipefail
cd "$1"
status=0
count=0
missing() { # what, where, text
  echo "$1: $2 has no $3"
  status=1
}
has() { grep -qF -e "$2" "$1"; } # file, text

# 1. Families. One that distributes another one is tested in tests/cluster.
while IFS= read -r line; do
  family=$(sed -nE 's/^ *ramify_family\(([a-z_]+).*/\1/p' <<<"$line")
  count=$((count + 1))
  [ -e "algorithms/ramify/$family/README.md" ] || missing "$family" "algorithms/ramify/$family" README.md
  has algorithms/README.md "(ramify/$family/README.md)" ||
    missing "$family" algorithms/README.md "link to ramify/$family/README.md"
  has README.md "(algorithms/ramify/$family.hpp)" ||
    missing "$family" README.md "row with a link to algorithms/ramify/$family.hpp"
  [[ $line != *DISTRIBUTES* ]] || continue
  [ -e "tests/$family/CMakeLists.txt" ] || missing "$family" "tests/$family" CMakeLists.txt
  for table in faults.cpp other_streams_test.cpp; do
    has tests/together/$table "<ramify/$family.hpp>" ||
      missing "$family" tests/together/$table "row, because it does not include <ramify/$family.hpp>"
  done
  if grep -sqE "^ *(auto )?[a-z_]+_async\(|async_run<.*> " "algorithms/ramify/$family.cuh" &&
    ! has tests/together/async_calls.cpp "<ramify/$family.cuh>"; then
    missing "$family" tests/together/async_calls.cpp "row, because it does not include <ramify/$family.cuh>"
  fi
done < <(grep -E '^ *ramify_family\(' algorithms/CMakeLists.txt)
for folder in algorithms/src/*/; do
  family=$(basename "$folder")
  [ "$family" = facade ] || grep -qE "^ *ramify_family\($family\b" algorithms/CMakeLists.txt ||
    missing "$family" algorithms/CMakeLists.txt "ramify_family($family)"
done

# 2. Programs.
while read -r program family; do
  count=$((count + 1))
  [ -x "tests/examples/${program}_cli.sh" ] ||
    missing "program $program" tests/examples "executable file ${program}_cli.sh"
  has examples/README.md "($program/$program.cpp)" ||
    missing "program $program" examples/README.md "link to $program/$program.cpp in its first table"
  grep -qx "## $program" examples/README.md ||
    missing "program $program" examples/README.md "section '## $program'"
  grep -qE "(^|[^a-z_])$program [-\"]" tests/examples/hostile.sh ||
    missing "program $program" tests/examples/hostile.sh case
  has README.md "(examples/README.md#$program)" ||
    missing "program $program" README.md "link to examples/README.md#$program"
done < <(sed '/^#/d' examples/programs.txt)

# 3. Benchmarks: one page has the tables of each program that run.sh runs.
on_cpu=$(sed -n 's/^on_cpu=(\(.*\))$/\1/p' benchmarks/run.sh)
on_gpu=$(find benchmarks -name '*_cuda.cu' -printf '%f\n' | sed 's/\.cu$//')
for benchmark in $on_cpu $on_gpu; do
  count=$((count + 1))
  pages=$(cat benchmarks/*.md | grep -cxF "<!-- $benchmark -->" || true)
  [ "$pages" = 1 ] ||
    missing "benchmark $benchmark" benchmarks "page with one line <!-- $benchmark --> (found: $pages)"
  grep -qE "benchmark_$benchmark |ramify_cuda_benchmark\($benchmark " benchmarks/CMakeLists.txt ||
    missing "benchmark $benchmark" benchmarks/CMakeLists.txt "target benchmark_$benchmark"
done
[ $count -gt 0 ] || { echo "found no families"; exit 1; }
exit $status
