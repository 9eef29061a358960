#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Compiles headers, for their syntax alone. Prints the compiler's messages for those that fail.
#   check.sh alone CXX JOBS ROOT            each header, twice in one file
#   check.sh together CXX JOBS ROOT         all public headers in both orders
#   check.sh pairs CXX JOBS ROOT            every ordered pair of public headers
#   check.sh together_cuda NVCC JOBS ROOT   all public headers in both orders, by nvcc
# The files of pairs and of all headers end with `using namespace ramify; using namespace std;`.
set -euo pipefail
form=$1 compiler=$2 jobs=$3 root=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$root"

headers_under() { (cd "$1" && find ramify -name '*.hpp' -o -name '*.cuh' | sort); }
public=$(cd algorithms && ls ramify/*.hpp ramify/*.cuh)
directives='using namespace ramify;\nusing namespace std;\n'
include_all() { printf '#include <%s>\n' $1; printf "$directives"; } # $1: headers, in order

case $form in
  alone)
    for header in $(headers_under device_runtime) $(headers_under algorithms); do
      printf '#include <%s>\n#include <%s>\n' "$header" "$header" >"$work/${header//\//_}.cpp"
    done ;;
  together)
    include_all "$public" >"$work/all.cpp"
    include_all "$(tac <<<"$public")" >"$work/all_reversed.cpp" ;;
  pairs)
    for first in $public; do
      begin=$work/${first//\//_}.begin.hpp # precompiled, because it begins 13 files
      echo "#include <$first>" >"$begin"
      for second in $public; do
        [ "$first" = "$second" ] && continue
        { echo "#include \"$begin\""; include_all "$second"; } >"$work/${first//\//_}__${second//\//_}.cpp"
      done
    done ;;
  together_cuda)
    include_all "$(grep -v '/cpu/' <<<"$public")" >"$work/all.cu"
    include_all "$(tac <<<"$public")" >"$work/all_reversed.cu" ;;
  *) echo "check.sh: unknown form '$form'" >&2; exit 2 ;;
esac

compile() { # file
  local flags=(-std=c++20 -I device_runtime -I algorithms)
  if [[ $1 == *.begin.hpp ]]; then
    flags+=(-Wall -Wextra -Werror -x c++-header -o "$1.gch")
  elif [[ $1 == *.cu ]]; then
    # Device code is compiled for one architecture and thrown away.
    flags+=(-arch=sm_90 -rdc=true -Werror all-warnings -Xcicc -O0 -Xptxas -O0 -c -o "$1.o")
  else
    flags+=(-fsyntax-only -Wall -Wextra -Winvalid-pch -Werror)
  fi
  "$compiler" "${flags[@]}" "$1" >"$1.log" 2>&1 && return 0
  echo "== $(basename "$1"): $(tr '\n' ' ' <"$1")"
  head -n 20 "$1.log"
  return 1
}
export -f compile
export compiler
compile_all() { xargs -r -P "$jobs" -I{} bash -c 'compile {}'; } # reads names of files
files=$(find "$work" -name '*.cpp' -o -name '*.cu' | sort)
if find "$work" -name '*.begin.hpp' | compile_all && compile_all <<<"$files"; then
  echo "$(wc -l <<<"$files") files compile"
else
  exit 1
fi
