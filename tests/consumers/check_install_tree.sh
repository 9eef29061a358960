#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Checks what an install tree contains in addition to the CMake package: the license, the example
# programs with manual pages and completions, and the pkg-config file.
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
  [[ $(cached RAMIFY_HELP2MAN) == /* ]] || echo "built without manual pages: there is no help2man"
fi

if command -v pkg-config >/dev/null; then
  echo "-- compiling facade_user with pkg-config"
  pc=$(dirname "$(find "$installed" -name ramify.pc)")
  flags=$(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs ramify)
  # shellcheck disable=SC2086
  "$(cached CMAKE_CXX_COMPILER)" "$source/tests/consumers/project/facade_user.cpp" $flags \
    -o "$work/pkg_config_user"
  "$work/pkg_config_user"
else
  echo "not tested without pkg-config: ramify.pc"
fi
