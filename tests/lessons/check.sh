#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs a lesson and compares its output with the expected output, line by line. An expected line is
# a shell pattern: * stands for text that differs between machines.
#
#   check.sh <program> <expected> [<environment>...] [-- <argument>...]
set -euo pipefail
shopt -s extglob
program=$1 expected=$2
shift 2
environment=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  environment+=("$1")
  shift
done
[ $# = 0 ] || shift

if [ ! -x "$program" ]; then
  echo "not built: $program; build all targets, or only $(basename "$program"), before the test"
  exit 1
fi
status=0
output=$(env "${environment[@]}" timeout 120 "$program" "$@" 2>&1) || status=$?
if [ $status = 77 ]; then
  printf '%s\n' "$output"
  exit 77
fi
if [ ! -f "$expected" ]; then
  printf '%s\n' "$output"
  echo "there is no expected output: write it to $expected"
  exit 1
fi

mapfile -t lines <<<"$output"
mapfile -t patterns <"$expected"
wrong=0
for ((i = 0; i < ${#patterns[@]} || i < ${#lines[@]}; ++i)); do
  # shellcheck disable=SC2053 # the right side is a pattern
  if [ $i -ge ${#lines[@]} ] || [ $i -ge ${#patterns[@]} ] || [[ ${lines[i]} != ${patterns[i]} ]]; then
    echo "line $((i + 1)): expected '${patterns[i]-nothing}', but it is '${lines[i]-missing}'"
    wrong=1
  fi
done
[ $wrong = 0 ] || exit 1
# A lesson that shows a failure also ends with 0.
[ $status = 0 ] || { echo "the lesson ended with status $status"; exit 1; }
