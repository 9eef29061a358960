#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Exercises: small programs with a hole to fill. No GPU is needed.
#
#   examples/learn.sh list               all exercises, and which are solved
#   examples/learn.sh next               the next exercise: its task, and the file to change
#   examples/learn.sh check [NAME]       checks an answer under 24 schedules, and on a GPU if there is one
#   examples/learn.sh hint [NAME]        the next hint
#   examples/learn.sh solution [NAME]    a solution
#   examples/learn.sh reset [NAME]       the exercise as it was; the answer is kept as NAME.old.cu
#   examples/learn.sh watch [NAME]       checks at each save, until ctrl-C
#
# NAME is a name or a number; without it the command is for the exercise of the last command. The
# answers and the progress are in the folder my_exercises of the checkout, which git ignores, or in
# the folder that RAMIFY_EXERCISES names. `learn.sh --cpu check` does not use a GPU.
set -euo pipefail
root=$(realpath "$(dirname "$(realpath "$0")")/..") # "$0" may be a link
# shellcheck source=examples/executor.sh
source "$root/examples/executor.sh"
say() { printf '%s\n' "$@"; }
die() { say "examples/learn.sh: $2" >&2; exit "$1"; }

originals=$root/examples/exercises
names=()
for file in "$originals"/*.cu; do names+=("$(basename "$file" .cu)"); done
mine=$(realpath -m -- "${RAMIFY_EXERCISES:-$root/my_exercises}")
progress=$mine/progress
work=$root/build/learn

# The progress file has lines "EXERCISE KEY VALUE"; the last line of a key counts.
get() {
  [ ! -f "$progress" ] || awk -v e="$1" -v k="$2" '$1 == e && $2 == k { v = $3 } END { print v }' "$progress"
}
put() { # The file is only appended to, so an interrupted or failed write loses nothing.
  say "$1 $2 $3" >>"$progress" || die 1 "cannot write $progress"
}
is_solved() { [ "$(get "$1" solved)" = yes ]; }
next_unsolved() { # prints its name, or nothing
  local name
  for name in "${names[@]}"; do
    is_solved "$name" || { say "$name"; return; }
  done
}

# Sets `name` from an argument, which may be empty, and `answer` to the learner's file.
choose() {
  name=${1-}
  local candidate
  if [ -z "$name" ]; then
    name=$(get - current)
    [ -n "$name" ] && [ -f "$originals/$name.cu" ] || name=$(next_unsolved)
    [ -n "$name" ] || name=${names[0]}
  fi
  name=$(basename -- "$name" .cu)
  for candidate in "${names[@]}"; do
    if [ "$name" = "$candidate" ] ||
      { [[ $name =~ ^[0-9]{1,2}$ ]] && [ $((10#$name)) = $((10#${candidate%%_*})) ]; }; then
      name=$candidate
      answer=$mine/$name.cu
      return
    fi
  done
  die 2 "there is no exercise '$name'; \`examples/learn.sh list\` shows all"
}

# Copies an exercise to the learner's folder, unless the file is there.
begin() {
  mkdir -p "$mine" || die 1 "cannot make the folder $mine"
  if [ ! -f "$answer" ]; then
    cp "$originals/$name.cu" "$answer.part" && mv "$answer.part" "$answer" ||
      { rm -f "$answer.part"; die 1 "cannot write $answer"; }
  fi
  put - current "$name"
}

# Prints the text that follows line @$1 number $2 in the file of answers.
answers_part() {
  awk -v part="@$1" -v number="$2" '/^@/ { on = $1 == part && ++seen == number; next } on' \
    "$originals/answers/$name.txt"
}

list() {
  local name state
  for name in "${names[@]}"; do
    state=
    [ ! -f "$mine/$name.cu" ] || state=begun
    if is_solved "$name"; then state=solved; fi
    printf '%-7s %-28s %s\n' "$state" "$name" \
      "$(sed -n 's|^// Exercise [0-9]*: ||p' "$originals/$name.cu")"
  done
}

show_next() {
  local name answer
  name=$(next_unsolved)
  [ -n "$name" ] || { say 'All exercises are solved.'; return; }
  choose "$name"
  begin
  sed -n '2,/^[^/]/{s|^// \?||p}' "$answer"
  say '' "Change $answer" 'and run `examples/learn.sh check`, or `examples/learn.sh watch` once.'
}

# Prepares the executor and the precompiled header, which is made again if a header has changed.
prepare() {
  compiler=${CXX:-g++}
  # The packages that Ramify requires include a compiler.
  [ -n "${CXX-}" ] || command -v g++ >/dev/null || "$root/cmake/install_packages.sh" >&2 || true
  command -v "$compiler" >/dev/null ||
    die 1 "there is no compiler '$compiler'; install g++, or set CXX"
  find_executor
  library=$build/device_runtime/libramify_runtime.a
  [ -f "$library" ] || die 1 "there is no $library"
  local header=$work/include/exercise.hpp
  compile=("$compiler" -std=c++20 -O0 -I "$work/include" -I "$root/device_runtime"
    -I "$root/algorithms" -I "$root/examples/lessons" -I "$originals")
  mkdir -p "$work/include"
  if [ ! -f "$header.gch" ] || [ "$(cat "$work/compiler" 2>/dev/null)" != "$compiler $originals" ] ||
    [ -n "$(find "$root/device_runtime/ramify" "$root/algorithms/ramify" "$originals" \
      "$root/examples/lessons" -name '*.[hc]*' -newer "$header.gch" -print -quit)" ]; then
    say "#include \"$originals/exercise.hpp\"" >"$header"
    # Only g++ uses the result. Another compiler compiles the header each time.
    "${compile[@]}" -x c++-header "$header" -o "$header.gch.part" 2>"$work/log" ||
      { cat "$work/log" >&2; exit 1; }
    mv "$header.gch.part" "$header.gch"
    say "$compiler $originals" >"$work/compiler"
  fi
}

# Shows the messages of a compiler that name the learner's file, at most three of them; all messages
# if none does.
show_errors() {
  awk -v file="$answer" '
    function flush() { if (mine && count < 3) { printf "%s", text; ++count } text = ""; mine = 0 }
    # "FILE:LINE:   required from here" begins a message whose error is in a header.
    index($0, file ":") == 1 && /required from here|recursively required/ {
      split(substr($0, length(file) + 2), at, ":"); place = file ":" at[1] ": "; next
    }
    /^[^ ].*: (fatal )?error: / || /^[^ ].*: warning: / {
      flush()
      mine = index($0, file ":") == 1
      if (!mine && place != "" && /error: /) { mine = 1; sub(/.*error: /, place "error: ") }
      place = ""
      text = $0 "\n"; lines = 0
      next
    }
    /^ / && mine && ++lines <= 3 { text = text $0 "\n"; next }
    { if ($0 !~ /^ /) flush() }
    END { flush(); exit count == 0 }' "$work/log" || cat "$work/log"
}

# Explains a launch by <<<>>>, which only nvcc compiles. Fails if the answer has none.
show_plain_launch() {
  local line
  line=$(sed 's|//.*||' "$answer" | awk '/[A-Za-z0-9_>] *<<</ { print NR; exit }')
  [ -n "$line" ] || return 1
  say "$answer:$line: an exercise launches by launch(), which g++ compiles, too. Instead of" \
    '    child<<<1, 4, 0, cudaStreamFireAndForget>>>(c);' \
    'write' \
    '    const auto launched = launch(child, {1, 4}, fire_and_forget(), c);'
}

check_on_gpu() {
  local nvcc
  [ $use_gpu = yes ] && nvidia-smi -L >/dev/null 2>&1 && find_nvcc || return 0
  if "$nvcc" -std=c++20 -arch=native -rdc=true "${compile[@]:5}" "$answer" -lcudadevrt \
    -o "$folder/on_gpu" >"$work/log" 2>&1 &&
    RAMIFY_EXERCISE_PROOF=$proof timeout --foreground 60 "$folder/on_gpu" >"$folder/gpu.out" 2>&1 && is_proved "$folder/gpu.out"; then
    say 'right on the GPU'
  else
    say 'The GPU does not agree:'
    cat "$work/log" "$folder/gpu.out" 2>/dev/null
    return 1
  fi
}

# Checks the answer. Returns 0 if it is right.
check() {
  [ -f "$answer" ] ||
    { say "there is no $answer; \`examples/learn.sh reset $name\` makes it"; return 1; }
  prepare
  rm -rf "$folder" && mkdir -p "$folder" || die 1 "cannot write to $work"
  if ! "${compile[@]}" -fmax-errors=3 -o "$folder/program" -x c++ "$answer" -x none "$library" \
    -lboost_context -rdynamic 2>"$work/log"; then
    say "$name does not compile:"
    show_plain_launch || show_errors
    return 1
  fi
  proof=$RANDOM-$RANDOM-$$
  RAMIFY_EXERCISE_PROOF=$proof run_under_schedules "$folder" "$folder/program"
  if [ ${#failed[@]} = 0 ]; then
    say "$name: right under ${#ran[@]} of ${#schedules[@]} schedules"
    check_on_gpu || return 1
    put "$name" solved yes
    return
  fi
  local first=${failed[0]}
  say "$name: right under $((${#ran[@]} - ${#failed[@]})) of ${#schedules[@]} schedules; wrong first under \`$first\`:"
  if [ "$(wc -l <"$folder/$first.out")" -le 60 ]; then
    sed 's/^wrong: //; s/^/  /' "$folder/$first.out"
  else
    head -n 20 "$folder/$first.out"
    say ...
    tail -n 1 "$folder/$first.out"
  fi
  if RAMIFY_CPU_SCHEDULE=$first RAMIFY_EXERCISE_TRACE=$mine/$name.html \
    timeout --foreground 10 "$folder/program" >/dev/null 2>&1 </dev/null; then :; fi
  [ ! -f "$mine/$name.html" ] || say "  $mine/$name.html shows the tree in a browser."
  return 1
}

hint() {
  local number text
  number=$(($(get "$name" hints) + 1))
  text=$(answers_part hint $number)
  if [ -z "$text" ]; then
    say "There are no more hints; \`examples/learn.sh solution\` shows a solution."
    [ $number -gt 1 ] || return 0
    number=1
    text=$(answers_part hint 1)
  fi
  say "Hint $number:" "$text"
  put "$name" hints "$number"
}

watch() {
  local seen='' now
  say "Checking $name at each save of $answer (ctrl-C ends this)"
  while :; do
    now=$(stat -c '%Y %y %s' "$answer" 2>/dev/null || echo none)
    if [ "$now" != "$seen" ]; then
      seen=$now
      if (check); then
        [ -n "$(next_unsolved)" ] || { say 'All exercises are solved.'; return; }
        show_next
        choose ''
        seen=''
        [ -t 1 ] || return 0
      fi
    fi
    sleep 0.3
  done
}

use_gpu=yes
if [ "${1-}" = --cpu ]; then
  use_gpu=no
  shift
fi
# The folder of one check. The main shell removes it, and a second ctrl-C does not end that.
folder=$work/check.$$
trap 'trap "" INT TERM; rm -rf "$folder"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
command=${1-next}
[ $# -le 2 ] || die 2 "too many arguments"
case $command in
  list | next)
    [ $# -le 1 ] || die 2 "$command takes no exercise"
    if [ "$command" = list ]; then list; else show_next; fi
    ;;
  check | hint | solution | reset | watch)
    choose "${2-}"
    case $command in
      check) [ ! -d "$mine" ] || put - current "$name"; check ;;
      hint) begin; hint ;;
      solution) begin; answers_part solution 1 ;;
      reset)
        [ ! -f "$answer" ] || mv "$answer" "$mine/$name.old.cu"
        begin
        put "$name" hints 0
        put "$name" solved no
        say "$answer is the exercise again"
        ;;
      watch) begin; watch ;;
    esac
    ;;
  *) die 2 "unknown command '$command'; there are list, next, check, hint, solution, reset and watch" ;;
esac
