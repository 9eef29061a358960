#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Checks the commands of the pages: each begins with a program, a script or a tool that exists, and
# the programs have all options. The commands of the sections quicksort and rooted_tree, which take
# less than a second, also run.
#
#   readme_commands_test.sh <root> <folder of the example programs> <folder of the ladders> <work folder>
set -euo pipefail
root=$1 programs=$2 ladders=$3 work=$4
rm -rf "$work"
mkdir -p "$work"
cd "$work"
export PATH=$programs:$PATH
fail() { echo "FAILED: $*"; exit 1; }

# Prints the indented lines of a file outside of fenced code, with continuation lines joined and
# without comments.
commands() {
  sed -n '/^```/,/^```/d; /^    [^ ]/{:join; /\\$/{N; s/\\\n *//; b join}; s/^ *//; s/   *#.*$//; p}' "$1"
}

check_options() { # program, words of the command: fails if --help lists an option not
  local help word
  help=$("$1" --help) || fail "$1 --help ended with status $?"
  for word in "${@:2}"; do
    [[ $word != --* ]] || grep -qE -- "(^|[ ,])$word([ ,=]|\$)" <<<"$help" || fail "$1 has no option $word"
  done
}

programs_of_list=" $(sed '/^#/d; s/ .*//' "$root/examples/programs.txt" | paste -sd' ') "
count=0
pages=$(cd "$root" && ls README.md CONTRIBUTING.md docs/*.md examples/README.md examples/ladders/README.md)
for readme in $pages; do
  while IFS= read -r line; do
    read -ra words <<<"$line"
    if [ "${words[0]}" = mpirun ]; then # the program that it starts
      while [ ${#words[@]} -gt 1 ] && [[ $programs_of_list != *" ${words[0]} "* ]]; do
        words=("${words[@]:1}")
      done
    fi
    words[0]=${words[0]#build/bin/}
    if [[ $programs_of_list == *" ${words[0]} "* ]]; then
      [ -x "$programs/${words[0]}" ] || fail "not built: ${words[0]}"
      check_options "$programs/${words[0]}" "${words[@]:1}"
      count=$((count + 1))
      continue
    fi
    case ${words[0]} in
      build/dev/examples/ladders/*) check_options "$ladders/$(basename "${words[0]}")" "${words[@]:1}" ;;
      build/dev/examples/lessons/lesson_*)
        name=$(basename "${words[0]}")
        [ -f "$root/examples/lessons/${name#lesson_}.cu" ] || fail "$readme: no lesson $name"
        ;;
      docs/* | examples/* | tests/*) [ -x "$root/${words[0]}" ] || fail "$readme: no script ${words[0]}" ;;
      diff | cp)
        for word in "${words[@]:1}"; do
          [[ $word != examples/* ]] || [ -f "$root/$word" ] || fail "$readme: no file $word"
        done
        ;;
      cmake | ctest | g++ | nvcc | mpirun | seq | head | printf | export) ;;
      std::cout | const | limits.*) continue ;; # C++
      *.pvd | 'device_runtime/' | 'algorithms/' | 'benchmarks/') continue ;;
      *) [ -d "$root/${words[0]}" ] || fail "$readme: '${words[0]}' is no program, script or tool" ;;
    esac
    count=$((count + 1))
  done < <(commands "$root/$readme")
done
[ $count -gt 25 ] || fail "only $count commands were found"

for section in quicksort rooted_tree; do
  while IFS= read -r line; do
    bash -euc "$line" >out 2>&1 || fail "$line: $(cat out)"
  done < <(sed -n "/^## $section\$/,/^| option/p" "$root/examples/README.md" >section && commands section)
done
[ "$(head -n 1 sorted.txt)" = 1 ] || fail 'the first command of quicksort sorted nothing'
