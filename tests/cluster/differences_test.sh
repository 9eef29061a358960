#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# differences_test.sh <folder of programs> <work folder>
# One rank of a program has another option, another file or a bad command line. All ranks must end
# within the limit, with one message that names the rank and the option or the file, and without an
# output file. With equal options the programs succeed. Tests some cases of each kind. With
# RAMIFY_FUZZ_SECONDS=n it tests random cases for n seconds, from the seed RAMIFY_SEED.
set -euo pipefail
programs=$1
work=$2
start_ranks=$(cd "$(dirname "$0")" && pwd)/mpirun.sh
rm -rf "$work"
mkdir -p "$work/same" "$work/other"
cd "$work"
limit=40 # seconds; a case takes less than one
RANDOM=${RAMIFY_SEED:-1}
what=setup
fail() { echo "FAILED: $what: $*"; cat out err; exit 1; }

# 1. The common options of a program, and its options with other values. A slash divides the two.
base() { # program
  case $1 in
    quicksort) echo --generate zipf --n 3000 --seed 5 --type i64 --output result ;;
    search) echo knapsack --items 20 --seed 3 --largest 90 --output result ;;
    tree_search) echo --type binomial --root-branches 40 --branches 4 --probability 0.2 --seed 7 ;;
    amr) echo --problem sod --max-level 1 --t-end 0.002 --frames 0 --output-dir result ;;
  esac
}
others() { # program
  case $1 in
    quicksort)
      printf '%s\n' '--n 2999' '--seed 6' '--type f32' '--generate uniform' --descending --pairs \
        '--strategy binary' --verify '--output elsewhere' '--route flat' '--report json' '--pending-launches 99' ;;
    search)
      printf '%s\n' '--items 21' '--seed 4' '--largest 91' '--correlation 7' '--weight-limit 50' \
        '--capacity 300000' '--flat-loop host' --verify '--output elsewhere' '--route flat' ;;
    tree_search)
      printf '%s\n' '--root-branches 41' '--branches 5' '--probability 0.21' '--seed 8' '--shift 0.25' \
        '--capacity 300000' '--flat-loop host' '--type hybrid' '--depth 5' '--coarsening 2' ;;
    amr)
      printf '%s\n' '--max-level 0' '--problem sedov' '--t-end 0.001' '--frames 1' '--blocks 3' '--cfl 0.3' \
        '--max-blocks 900' '--regrid-every 2' '--limiter minmod' '--balance corner' --subcycle --no-reflux \
        '--dim 3' '--checkpoint c' '--plotfile p' '--field pressure' '--history-every 3' '--criterion loehner' ;;
  esac
}
# Bad command lines. The first word is the name in the message.
bad() { printf '%s\n' '--bogus' '--report x' '--backend gpu' '--seed -1' '--threads 0'; }

pick() { # an element of the arguments
  shift $((RANDOM % $#))
  picked=$1
}

# with <options> <option...>: prints the options, the given one replaced or added.
with() {
  local -a all=($1)
  local name=$2 i result=()
  for ((i = 0; i < ${#all[@]}; ++i)); do
    if [ "${all[i]}" = "$name" ]; then ((i += 1)); else result+=("${all[i]}"); fi
  done
  echo "${result[@]}" "${@:2}"
}

# run <program> <ranks> <rank> <options> <other program> <options of that rank>: sets `status`. The
# rank works in the folder other, the others in the folder same.
run() {
  local n=$2 rank=$3 before after contexts=()
  before=$rank
  after=$((n - rank - 1))
  local -a same=("$programs/$1" --backend cpu $4) other=("$programs/$5" --backend cpu $6)
  [ $before -eq 0 ] || contexts+=(-n $before -wdir "$work/same" "${same[@]}" :)
  contexts+=(-n 1 -wdir "$work/other" "${other[@]}")
  [ $after -eq 0 ] || contexts+=(: -n $after -wdir "$work/same" "${same[@]}")
  status=0
  # mpirun.sh begins with the number of ranks of the first program.
  timeout --kill-after=5 $limit "$start_ranks" "${contexts[@]:1}" >out 2>err || status=$?
  [ $status -ne 124 ] || fail "the ranks did not end within $limit seconds"
}

# one_message <status> <regular expressions...>: the run has that status, and one message with them.
one_message() {
  [ $status -eq "$1" ] || fail "status $status instead of $1"
  local messages text
  messages=$(grep -E '^(amr|quicksort|search|tree_search): ' err || true)
  [ -n "$messages" ] && [ "$(wc -l <<<"$messages")" -eq 1 ] || fail "not one message"
  for text in "${@:2}"; do grep -qE -e "$text" <<<"$messages" || fail "the message has no '$text'"; done
  no_files
}
no_files() {
  local files
  files=$(find same other -mindepth 1 ! -name 'raw*')
  [ -z "$files" ] || fail "the run left $files"
}

# 2. The kinds of differences.
different_option() { # program, ranks, rank, option and value
  local options first=$3
  [ "$first" -ne 0 ] || first=1 # all others differ from rank 0
  options=$(base "$1")
  what="$1: rank $3 of $2 has $4"
  run "$1" "$2" "$3" "$options" "$1" "$(with "$options" $4)"
  one_message 2 "on rank 0, but .* on rank $first$" " ${4%% *} is '"
}
bad_option() { # program, ranks, rank, option
  what="$1: rank $3 of $2 has the bad $4"
  run "$1" "$2" "$3" "$(base "$1")" "$1" "$(with "$(base "$1")" $4)"
  local name=${4%% *}
  one_message 2 "^$1: rank $3: " "${name#--}"
}
help() { # program, ranks, rank, option
  what="$1: rank $3 of $2 has $4"
  run "$1" "$2" "$3" "$(base "$1")" "$1" "$4"
  [ $status -eq 0 ] || fail "status $status"
  [ "$(grep -cE '^(Usage|[a-z_]+ .Ramify)' out)" -eq 1 ] || fail "not one text"
  no_files
}
other_program() { # program, ranks, rank
  local other=search
  [ "$1" != search ] || other=quicksort
  what="$1: rank $3 of $2 is $other"
  run "$1" "$2" "$3" "$(base "$1")" "$other" "$(base $other)"
  one_message 2 "the program is '" "on rank 0, but .* on rank $(($3 > 0 ? $3 : 1))$"
}
different_file() { # ranks, rank, kind
  local first=$2 options="--input raw --type u32 --output $work/result" named
  [ "$first" -ne 0 ] || first=1
  what="quicksort: rank $2 of $1 has another file: $3"
  rm -rf same/raw other/raw
  head -c 4000 /dev/urandom >same/raw
  cp same/raw other/raw
  named="on rank 0, but .* on rank $first$"
  case $3 in
    missing) rm other/raw; named="rank $2: cannot read raw: No such file" ;;
    shorter) head -c 3600 same/raw >other/raw ;;
    longer) cat same/raw same/raw >other/raw ;;
    empty) : >other/raw ;;
    folder) rm other/raw; mkdir other/raw ;;
    pipe) rm other/raw; mkfifo other/raw ;;
    unreadable) rm other/raw; ln -s raw other/raw; named="rank $2: cannot read raw: " ;;
    byte) printf x | dd of=other/raw bs=1 seek=$((RANDOM % 4000)) conv=notrunc status=none
      ! cmp -s same/raw other/raw || return 0 ;; # it was an x
  esac
  run quicksort "$1" "$2" "$options" quicksort "$options"
  one_message 3 "$named" ' raw'
  [ ! -e result ] || fail "the run left an output file"
}
equal() { # program, ranks: the control
  what="$1: $2 equal ranks"
  run "$1" "$2" 0 "$(base "$1")" "$1" "$(base "$1")"
  [ $status -eq 0 ] || fail "status $status"
  rm -rf same/* other/*
}
random_case() {
  pick quicksort search tree_search amr
  local program=$picked n=$((2 + RANDOM % 2)) rank
  rank=$((RANDOM % n))
  case $((RANDOM % 12)) in
    0) equal $program $n ;;
    1) other_program $program $n $rank ;;
    2) pick --help --version
      help $program $n $rank $picked ;;
    3 | 4) mapfile -t all < <(bad)
      pick "${all[@]}"
      # Not all programs have a seed.
      [ "$program $picked" != 'amr --seed -1' ] || picked=--bogus
      bad_option $program $n $rank "$picked" ;;
    5 | 6) pick missing shorter longer empty folder pipe unreadable byte
      different_file $n $rank $picked ;;
    *) mapfile -t all < <(others $program)
      pick "${all[@]}"
      different_option $program $n $rank "$picked" ;;
  esac
}

# 3. The cases.
if [ "${RAMIFY_FUZZ_SECONDS:-0}" -gt 0 ]; then
  cases=0
  while [ $SECONDS -lt "$RAMIFY_FUZZ_SECONDS" ]; do
    random_case
    cases=$((cases + 1))
  done
  echo "$cases random cases"
fi
different_option quicksort 2 1 '--n 2999'
different_option quicksort 2 0 --pairs
different_option search 3 2 '--seed 4'
different_option tree_search 2 1 '--probability 0.21'
different_option amr 2 1 '--max-level 0'
bad_option search 2 1 --bogus
help amr 2 1 --help
other_program tree_search 2 1
for kind in missing shorter longer folder byte; do different_file 2 1 $kind; done
equal quicksort 2
echo "all as expected"
