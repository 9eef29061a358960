#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Compiles headers, for their syntax alone. Prints the compiler's messages for those that fail.
#   check.sh alone CXX JOBS ROOT            each header, twice in one file; functions of CUDA without std::
#   check.sh together CXX JOBS ROOT         all public headers in both orders
#   check.sh pairs CXX JOBS ROOT            every ordered pair of public headers
#   check.sh instantiated CXX JOBS ROOT     templates of all families, with one number type for each
#   check.sh together_cuda NVCC JOBS ROOT   all public headers in both orders, by nvcc
#   check.sh requirements CXX JOBS ROOT     unsuitable compilers: the first error names what is needed
#   check.sh wrong_types COMPILER JOBS ROOT calls with wrong types: one sentence each, by nvcc, too
# A C++ compiler must not warn of sign conversions, narrowing or shadowed names.
# The files of pairs and of all headers end with `using namespace ramify; using namespace std;` and
# call std::max and std::min.
set -euo pipefail
form=$1 compiler=$2 jobs=$3 root=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$root"

public=$(cd algorithms && ls ramify/*.hpp ramify/*.cuh)
# The calls fail if a function of Ramify makes them ambiguous.
directives='using namespace ramify;\nusing namespace std;\nconst int sum = max(1, 2) + min(1, 2);\n'
include_all() { printf '#include <%s>\n' $1; printf "$directives"; } # $1: headers, in order

# Checks that the first error of a public header is the sentence $1. $2...: arguments for the
# compiler, which select or fake the unsuitable one.
expect_message() {
  local wanted=$1
  shift
  # The preprocessor is enough. Standard headers may fail, too, with a faked compiler.
  "$compiler" -E -I device_runtime -I algorithms "$@" -o /dev/null 2>"$work/messages" &&
    { echo "$*: no error"; return 1; }
  grep -m1 'error:' "$work/messages" | grep -qF "\"$wanted\"" ||
    { echo "$*: the first error is not '$wanted'"; head -n 5 "$work/messages"; return 1; }
}
check_requirements() {
  local header
  for header in $public; do
    [ "$(grep -m1 '#include' "algorithms/$header")" = '#include <ramify/runtime/detail/requirements.hpp>' ] ||
      { echo "$header does not include ramify/runtime/detail/requirements.hpp first"; return 1; }
  done
  for header in $public; do echo "#include <$header>"; done >"$work/public.cpp"
  expect_message 'Ramify needs C++20: compile with -std=c++20' -std=c++17 "$work/public.cpp" || return 1
  local undefined=(-U__GNUC__ -U__clang__ -U__clang_major__)
  expect_message 'Ramify needs GCC 11 or later' -std=c++20 "${undefined[@]}" -D__GNUC__=10 \
    "$work/public.cpp" || return 1
  expect_message 'Ramify needs Clang 14 or later' -std=c++20 "${undefined[@]}" -D__clang__ \
    -D__clang_major__=13 "$work/public.cpp" || return 1
  expect_message "Ramify's kernels for the CPU executor need Clang 16 or later, or GCC 11 or later" \
    -std=c++20 "${undefined[@]}" -D__clang__ -D__clang_major__=15 "$work/public.cpp" || return 1
  expect_message 'Ramify needs nvcc of CUDA 12.4 or later' -std=c++20 -D__CUDACC__ \
    -D__CUDACC_VER_MAJOR__=12 -D__CUDACC_VER_MINOR__=3 "$work/public.cpp" || return 1
  echo "5 unsuitable compilers are named"
  # Each declaration is in an inline namespace with the version, so two versions cannot mix.
  local unversioned
  unversioned=$(grep -rnE '^ *namespace ramify(::[a-z_]+)* [{]' algorithms device_runtime \
    --include='*.hpp' --include='*.cuh' --include='*.cpp' --include='*.cu' | grep -vE 'namespace ramify::(detail [{]|detail::runtime [{][}])$' || true)
  [ -z "$unversioned" ] || { echo "add ::inline RAMIFY_ABI: $unversioned"; return 1; }
  header=$(grep -rlE 'inline RAMIFY_ABI' algorithms device_runtime --include='*.hpp' --include='*.cuh' |
    xargs grep -LF '#include <ramify/version.hpp>' || true)
  [ -z "$header" ] || { echo "these have no #include <ramify/version.hpp>: $header"; return 1; }
}

# Checks the errors of wrong_types.cu: the sentence in the comment of each call, and no error
# without a sentence.
check_wrong_types() {
  local source=tests/headers/wrong_types.cu flags=(-std=c++20 -I device_runtime -I algorithms) sentence
  case $(basename "$compiler") in
    nvcc*) flags+=(-arch=sm_90 -rdc=true -Xcicc -O0 -ptx -o "$work/wrong_types.ptx") ;;
    clang*) flags+=(-x c++ -fsyntax-only -ferror-limit=0) ;;
    *) flags+=(-x c++ -fsyntax-only) ;;
  esac
  "$compiler" "${flags[@]}" "$source" 2>"$work/messages" && { echo "$source compiles"; return 1; }
  local sentences
  sentences=$(sed -n 's|.*;  *// ||p' "$source")
  while read -r sentence; do
    grep -q "error:.*$(printf '%s' "$sentence" | sed 's/[][\.*^$]/\\&/g')" "$work/messages" ||
      { echo "no error says '$sentence'"; return 1; }
  done <<<"$sentences"
  if grep 'error:' "$work/messages" | grep -v 'static assertion failed'; then return 1; fi
  local calls lines
  calls=$(wc -l <<<"$sentences") lines=$(wc -l <"$work/messages")
  # nvcc prints two lines for each function between the call and the sentence, and its caret.
  [ "$calls" -ge 15 ] && [ "$lines" -le $((17 * calls)) ] || { echo "$calls calls, $lines lines"; return 1; }
  echo "$calls calls with wrong types have a sentence each, in $lines lines"
}

# Headers that most others include, from the longest to compile to the shortest.
bases='ramify/runtime/detail/launch_chain.cuh ramify/runtime/detail/chain_link.cuh ramify/runtime/cuda.hpp ramify/runtime/report.hpp'
# Prints each header, and the first of the bases that it includes outside of #if, itself or through
# other headers. $@: the files of the headers.
print_bases() {
  awk -v bases="$bases" '
    FNR == 1 { header = FILENAME; sub("^[a-z_]*/", "", header); base_of[header] = ""; depth = 0 }
    /^# *if/ { ++depth }
    /^# *endif/ { --depth }
    /^#include <ramify/ && depth == 0 { split($0, part, /[<>]/); included[header] = included[header] " " part[2] }
    function finds(base, header,   list, count, i) {
      count = split(included[header], list)
      for (i = 1; i <= count; ++i) if (list[i] == base || base_of[list[i]] == base) return 1
      return 0
    }
    END {
      count = split(bases, base)
      for (n = 1; n <= count; ++n)
        do {
          changed = 0
          for (header in base_of)
            if (base_of[header] == "" && finds(base[n], header)) { base_of[header] = base[n]; changed = 1 }
        } while (changed)
      for (header in base_of) print header, base_of[header]
    }' "$@"
}

case $form in
  requirements)
    check_requirements
    exit ;;
  wrong_types)
    check_wrong_types
    exit ;;
  instantiated)
    # The sources of the facade instantiate the templates. Each family is instantiated for the first
    # of its INSTANCES in algorithms/CMakeLists.txt, with all PARTS.
    sed -nE 's/^ramify_family\(([a-z_]+)( PARTS ([a-z_ ]*[a-z]))?( INSTANCES ("[^"]*"|[^ )]*))?.*/\1:\3:\5/p' algorithms/CMakeLists.txt |
      while IFS=: read -r family parts instance; do
        echo "#include \"$family/on_backend.cuh\""
        [ -n "$instance" ] || continue
        for part in $parts; do echo "RAMIFY_INSTANTIATE(${instance//\"/}, $part)"; done
        [ -n "$parts" ] || echo "RAMIFY_INSTANTIATE(${instance//\"/})"
        echo "#undef RAMIFY_INSTANTIATE"
      done >"$work/facade.cpp"
    [ "$(grep -c include "$work/facade.cpp")" -ge 6 ] || { echo "families are missing"; exit 1; } ;;
  alone)
    # Most of the time goes into a few headers that most others include. So a header is compiled
    # after one of them, precompiled, if it includes that one. This hides no missing #include: the
    # declarations are those that the header includes anyway, and all headers that it includes are
    # compiled so, too.
    for base in $bases; do
      echo "#include <$base>" >"$work/$(basename "$base").begin.hpp"
    done
    # shellcheck disable=SC2046
    print_bases $(find device_runtime/ramify algorithms/ramify -name '*.hpp' -o -name '*.cuh') |
      while read -r header base; do
        {
          [ -z "$base" ] || echo "#include \"$work/$(basename "$base").begin.hpp\""
          printf '#include <%s>\n#include <%s>\n' "$header" "$header"
        } >"$work/${header//\//_}.cpp"
      done
    # CUDA declares these functions globally, whatever other headers a source includes.
    printf '%s\n' '#include <ramify/runtime/launch.cuh>' '__global__ void test(float x, double y, bool* out) {' \
      '  *out = isfinite(x) && isfinite(y) && !isnan(x) && !isnan(y) && !isinf(x) && !isinf(y);' '}' \
      >"$work/unqualified.cpp" ;;
  together)
    include_all "$public" >"$work/all.cpp"
    include_all "$(tac <<<"$public")" >"$work/all_reversed.cpp" ;;
  pairs)
    for first in $public; do
      begin=$work/${first//\//_}.begin.hpp # precompiled, because many files begin with it
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
  local warnings=(-Wall -Wextra -Wshadow -Wconversion -Wsign-conversion -Winvalid-pch -Werror)
  if [[ $1 == *.begin.hpp ]]; then
    flags+=("${warnings[@]}" -x c++-header -o "$1.gch")
  elif [[ $1 == *.cu ]]; then
    # The device pass parses all code, that of the host, too. Its PTX is discarded.
    flags+=(-arch=sm_90 -rdc=true -Werror all-warnings -Xcicc -O0 -ptx -o "$1.ptx")
  elif [[ $1 == */facade.cpp ]]; then
    # Warnings about the facade's own code are ignored. (-isystem cannot do this: Clang gives no
    # warnings about templates that a system header instantiates.)
    "$compiler" "${flags[@]}" -I algorithms/src -DRAMIFY_FACADE_HAS_CUDA=0 -fsyntax-only \
      "${warnings[@]}" -Wno-error "$1" >"$1.log" 2>&1 &&
      ! grep -E '^(algorithms|device_runtime)/ramify/.*warning:' "$1.log" && return 0
    head -n 20 "$1.log"
    return 1
  else
    flags+=(-fsyntax-only "${warnings[@]}")
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
