#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Writes the bash completion of a program. The options, and the choices of a positional argument, are
# those that its --help lists.
#   bash_completion.sh PROGRAM OUTPUT
set -euo pipefail
program=$1 output=$2
name=$(basename "$program")
help=$("$program" --help)

# One line for each option: its names, separated by "|"; a tab; and the kind of its value. The kind is
# "flag" (no value), "file" (a file or folder), the words of a list of choices, or "none" (another
# value, which is not completed). A positional argument has the name "argument".
options=$(awk '
  function finish() { if (names != "") print names "\t" kind(); names = "" }
  # Returns the words of a list such as "cuda, cpu or automatic", or "".
  function choices(text,   n, i, words, all, has_more) {
    gsub(/ \([^)]*\)/, "", text)  # such as "(the default)"
    sub(/ of --[a-z-]+$/, "", text)  # such as "regions of --input"
    has_more = gsub(/; /, ", ", text)  # another choice before a colon; or the first of several
    gsub(/,? or /, ", ", text)
    n = split(text, words, ", ")
    if (n < 2 || (has_more && n < 3)) return ""
    for (i = 1; i <= n; ++i) {
      if (words[i] !~ /^[a-z0-9_][A-Za-z0-9_.-]*$/) return ""
      all = all (i > 1 ? " " : "") words[i]
    }
    return all
  }
  function kind(   n, i, parts, found) {
    if (value ~ /FILE/ || names ~ /-dir$/) return "file"
    if (value ~ /:\{.*\}/) {
      gsub(/.*\{|\}.*/, "", value)
      gsub(/,/, " ", value)
      return value
    }
    if (value ~ /^NAME/ || value == "") {
      n = split(about, parts, ": ")  # the list may stand before or after a colon
      for (i = 1; i <= n; ++i) if ((found = choices(parts[i])) != "") return found
    }
    return value == "" ? "flag" : "none"
  }
  /^Positionals:/ { are_positional = 1; next }
  /^Options:/ { finish(); are_positional = 0; next }
  are_positional && /^  [a-z]/ {
    finish()
    names = "argument"
    value = $2
    about = $0
    sub(/^  [^ ]+ [^ ]+ *(REQUIRED *)?/, "", about)
    next
  }
  /^  -/ {
    finish()
    names = $1
    gsub(/,/, "|", names)
    rest = substr($0, index($0, $1) + length($1))
    value = about = ""
    if (rest ~ /^ [A-Za-z]/) {  # one space: the type of the value
      value = rest
      sub(/^ /, "", value)
      sub(/ .*/, "", value)
      rest = substr(rest, 2 + length(value))
    }
    sub(/^ *((Needs|Excludes): [^ ]+ *)*/, "", rest)
    about = rest
    next
  }
  names != "" && /^    +/ { sub(/^ +/, ""); about = about (about == "" ? "" : " ") $0; next }
  { finish() }
  END { finish() }' <<<"$help")
[ -n "$options" ] || { echo "bash_completion.sh: $name --help lists no options" >&2; exit 1; }

{
  echo "# SPDX-License-Identifier: BSD-3-Clause"
  echo "# Completion of $name in bash. Made from its --help."
  echo "_ramify_$name() {"
  echo "  local word=\$2"
  echo "  COMPREPLY=()"
  echo "  case \$3 in"
  while IFS=$'\t' read -r names kind; do
    [ "$names" != argument ] || continue
    case $kind in
      flag) ;;
      file) printf '    %s)\n      compopt -o filenames\n' "$names"
            printf '      mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;\n' ;;
      none) printf '    %s) ;;\n' "$names" ;;
      *) printf '    %s)\n      mapfile -t COMPREPLY < <(compgen -W "%s" -- "$word") ;;\n' \
           "$names" "$kind" ;;
    esac
  done <<<"$options"
  all=$(awk -F'\t' '$1 != "argument" { print $1 } $1 == "argument" && $2 != "file" && $2 != "none" { print $2 }' \
    <<<"$options" | tr '|\n' '  ')
  printf '    *) mapfile -t COMPREPLY < <(compgen -W "%s" -- "$word") ;;\n' "${all% }"
  echo "  esac"
  echo "}"
  echo "complete -F _ramify_$name $name"
} >"$output"
