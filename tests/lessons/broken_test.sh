#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs lessons whose claim a change breaks. The output of each must differ from the expected one.
#
#   broken_test.sh <check.sh> <program> <folder of the expected outputs> <name>...
set -euo pipefail
check=$1 program=$2 folder=$3
shift 3
status=0
for name; do
  expected=$folder/${name%%.broken.*}.cpu.txt
  [ -f "$expected" ] || expected=${expected%.cpu.txt}.txt
  if output=$("$check" "$program" "$expected" RAMIFY_CPU_SCHEDULE=late -- "$name"); then
    echo "$name: the output is the expected one, although the claim is broken"
    status=1
  elif [[ $output != line\ * ]]; then
    echo "$name: $output"
    status=1
  else
    echo "$name: ${output%%$'\n'*}"
  fi
done
exit $status
