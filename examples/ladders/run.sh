#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs ladders. Writes their tables to examples/ladders/README.md, and draws their launch trees with
# Graphviz from runs on the CPU executor.
#   examples/ladders/run.sh [--trees] [program...]
# Without a program, builds all ladders and runs those that this machine can run. With --trees, only
# draws the launch trees.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
root=$here/../..

only_trees=false
[ "${1:-}" != --trees ] || { only_trees=true; shift; }
programs=()
for program in "$@"; do programs+=("$(realpath "$program")"); done
if [ ${#programs[@]} = 0 ]; then
  cd "$root"
  cmake/install_packages.sh
  cmake -S . -B build/ladders -G Ninja -DCMAKE_BUILD_TYPE=Release -DRAMIFY_TESTS=OFF \
    -DRAMIFY_BENCHMARKS=OFF
  known=$(cmake --build build/ladders --target help)
  targets=()
  for ladder in "$here"/*/ladder.cu; do
    name=ladder_$(basename "$(dirname "$ladder")")
    targets+=("$name")
    if ! $only_trees && grep -q "^${name}_cuda: " <<<"$known"; then targets+=("${name}_cuda"); fi
  done
  cmake --build build/ladders --target "${targets[@]}"
  for target in "${targets[@]}"; do
    programs+=("$root/build/ladders/examples/ladders/$target")
  done
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
write_table() {
  local table status=0
  table=$(timeout 600 "$program" --table) || status=$?
  case $status in
    0) { echo; echo "$table"; echo; } | "$root/benchmarks/put_table.sh" "$here/README.md" "$marker" ;;
    77) echo "$table: its table is unchanged" ;;
    *)
      echo "$table"
      echo "$name failed: its table is unchanged"
      failed=1
      ;;
  esac
}
for program in "${programs[@]}"; do
  name=$(basename "$program")
  name=${name#ladder_}
  if [ ! -f "$here/${name%_cuda}/ladder.cu" ]; then
    echo "there is no ladder '${name%_cuda}'" >&2
    exit 2
  fi
  marker=$name
  [[ $name == *_cuda ]] || marker=${name}_cpu
  echo "running $name"
  $only_trees || write_table

  # The trees are from the CPU executor, which launches the same tree in each run on the same number
  # of cores. NAME/trees/sizes lists the size for each rung.
  [[ $name != *_cuda && -e $here/$name/trees/sizes ]] || continue
  if ! command -v dot >/dev/null; then
    echo "no Graphviz: the trees of $name are unchanged"
    continue
  fi
  while read -r rung size; do
    RAMIFY_CPU_SCHEDULE=late timeout 600 "$program" --rung "$rung" --n "$size" \
      --trace "$work/$rung.dot"
    dot -Tsvg -o "$here/$name/trees/$rung.svg" "$work/$rung.dot"
  done <"$here/$name/trees/sizes"
done
exit $failed
