#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Checks what an install tree contains in addition to the CMake package: the license, the example
# programs with manual pages and completions, the modules of pkg-config, symbols with the version.
#   check_install_tree.sh INSTALLED SOURCE BUILD WORK
set -euo pipefail
installed=$1 source=$2 build=$3 work=$4
fail() { echo "check_install_tree.sh: $*" >&2; exit 1; }
cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; } # variable: prints its value in the build

cmp "$source/LICENSE" "$installed/share/doc/ramify/LICENSE"

complete_word() { # function of a completion, previous word, word: prints the completions
  "$1" program "$3" "$2"
  printf '%s\n' "${COMPREPLY[@]}"
}
compopt() { :; } # fails outside of a completion
check_program() { # name
  local program=$installed/bin/$1 option listed
  [[ $("$program" --version) == "$1 (Ramify) "* ]] || fail "$1 --version: $("$program" --version)"
  # shellcheck source=/dev/null
  source "$installed/share/bash-completion/completions/$1"
  [[ $(complete -p "$1") == "complete -F _ramify_$1 $1" ]] || fail "$1 has no completion"
  listed=$("$program" --help | sed -n 's/^  \(-[^ ]*\).*/\1/p' | tr ',' '\n')
  [ "$(wc -l <<<"$listed")" -gt 10 ] || fail "$1 --help lists few options"
  for option in $listed; do
    # Not `| grep -q`, which may end before the words are written: then the pipe fails.
    [[ $'\n'$(complete_word "_ramify_$1" "$1" "${option:0:3}")$'\n' == *$'\n'"$option"$'\n'* ]] ||
      fail "the completion of $1 lacks $option"
  done
  [ "$(complete_word "_ramify_$1" --backend c | tr '\n' ' ')" = 'cuda cpu ' ] ||
    fail "$1 --backend c is not completed to cuda, cpu"
  [[ $(complete_word "_ramify_$1" --report "$source/LIC") == "$source/LICENSE" ]] ||
    fail "$1 --report is not completed to a file"
  if [[ $(cached RAMIFY_HELP2MAN) == /* ]]; then
    for option in $listed; do
      grep -qF -e "$option" <(sed 's/\\//g; s/f[BR]//g' "$installed/share/man/man1/$1.1") ||
        fail "the manual page of $1 lacks $option"
    done
  fi
}
if [ "$(cached RAMIFY_EXAMPLES)" = ON ]; then
  for name in $(sed '/^#/d; s/ .*//' "$source/examples/programs.txt"); do
    check_program "$name"
  done
  [ "$(complete_word _ramify_amr --problem re)" = regions ] || fail "amr --problem re is not completed to regions"
  [ "$(complete_word _ramify_graph --format m | tr '\n' ' ')" = 'matrix_market metis ' ] ||
    fail "graph --format m is not completed to matrix_market, metis"
  [ "$(complete_word _ramify_search search k)" = knapsack ] || fail "search k is not completed to knapsack"
  [[ $(cached RAMIFY_HELP2MAN) == /* ]] || echo "built without manual pages: there is no help2man"
fi

# All symbols have the version, so a program that was compiled with the headers of another version
# does not link.
version=$(sed -nE 's/^#define RAMIFY_VERSION_(MAJOR|MINOR) //p' "$installed/include/ramify/version.hpp" | paste -sd_)
for library in "$installed"/lib*/libramify_*.a; do
  nm "$library" | grep 6ramify | grep -v "v$version" >"$work/unversioned" || continue
  head -n 3 "$work/unversioned"
  fail "$library has symbols without v$version"
done
mkdir -p "$work/next/ramify"
sed 's/_MINOR [0-9]*/_MINOR 999/' "$installed/include/ramify/version.hpp" >"$work/next/ramify/version.hpp"
"$(cached CMAKE_CXX_COMPILER)" -std=c++20 -I "$work/next" -I "$installed/include" -o "$work/mixed" \
  "$source/tests/consumers/project/facade_user.cpp" "$installed"/lib*/libramify_facade_quicksort.a 2>"$work/mixed.log" &&
  fail "a program links a library of another version"
grep -q 'undefined .*v0_999' "$work/mixed.log" || { cat "$work/mixed.log"; exit 1; }

# Links facade_user with a module of pkg-config.
link_user() { # module, program
  # shellcheck disable=SC2046
  "$compiler" "$work/facade_user.o" $(pkg-config --libs "$1") -o "$work/$2"
  "$work/$2" >/dev/null
}
if command -v pkg-config >/dev/null; then
  PKG_CONFIG_PATH=$(dirname "$(find "$installed" -name ramify.pc)")
  export PKG_CONFIG_PATH
  compiler=$(cached CMAKE_CXX_COMPILER)
  echo "-- compiling facade_user with pkg-config"
  # shellcheck disable=SC2046
  "$compiler" -c "$source/tests/consumers/project/facade_user.cpp" $(pkg-config --cflags ramify) \
    -o "$work/facade_user.o"
  link_user ramify pkg_config_user
  link_user ramify-quicksort pkg_config_sort
  stat -c '%n: %s bytes' "$work"/pkg_config_{user,sort}
  # Each module names libraries that are installed, and each library has a module.
  modules=$(cd "$PKG_CONFIG_PATH" && basename -s .pc ramify*.pc)
  for module in $modules; do pkg-config --libs "$module" | tr ' ' '\n' | grep '^-lramify'; done |
    sed 's/^-l\(.*\)/lib\1.a/' | sort -u >"$work/named"
  (cd "$PKG_CONFIG_PATH/.." && ls libramify_*.a) | grep -v -e facade_rdc -e compiled_sorts >"$work/libraries"
  diff "$work/named" "$work/libraries" || fail "the modules of pkg-config do not name the installed libraries"
else
  echo "not tested without pkg-config: the modules ramify, ramify-quicksort, ..."
fi
