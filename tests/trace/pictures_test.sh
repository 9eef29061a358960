#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# pictures_test.sh <root> <work folder>: fails if a trace of docs/traces or a launch tree of a ladder
# or of a lesson shows a kernel that the code does not have, if a trace has no picture, or if the page
# and the table of traces are not those that docs/remake_pictures.sh makes.
set -euo pipefail
root=$1 work=$2
cd "$root"
status=0

# All sources as one line, without comments, launch bounds and register limits. Phases of a chain
# that share a kernel give it their names by name().
sources=$(find algorithms device_runtime examples -name '*.c*' -o -name '*.hpp' | xargs cat |
  sed 's://.*::' | tr '\n' ' ' | sed -E 's/__(launch_bounds|maxnreg)__\(([^()]|\([^()]*\))*\)//g')
kernels=$({
  grep -oE '__global__ +(static +)?void +[A-Za-z0-9_]+' <<<"$sources" | sed 's/.* //'
  grep -oE '__device__ const char\* name\(\) *\{ *return "[a-z_]+"' <<<"$sources" | cut -d '"' -f 2
} | sort -u)
[ "$(wc -l <<<"$kernels")" -gt 100 ] || { echo "found only: $kernels"; exit 1; }

shown=0
while read -r file name; do
  shown=$((shown + 1))
  grep -qxF -e "$name" <<<"$kernels" && continue
  echo "$file shows the kernel $name, which does not exist: call docs/remake_pictures.sh"
  status=1
done < <(
  for file in docs/traces/*.js; do
    sed -n 's/^"kernels":\[\(.*\)\],$/\1/p' "$file" | tr ',' '\n' | sed "s#\"##g; s#^#$file #"
  done
  for file in examples/{ladders/*,lessons}/trees/*.svg; do # the legend has names of streams
    sed -nE 's#^<text .*>([A-Za-z_][A-Za-z0-9_]*)</text>$#\1#p' "$file" |
      grep -vxE 'host|NULL|named|tail|cudaMem(cpy|set)Async' | sort -u | sed "s#^#$file #"
  done
)
[ $shown -gt 60 ] || { echo "found only $shown names of kernels"; exit 1; }

for file in docs/traces/*.js; do
  [ -e "${file%.js}.png" ] || { echo "$file has no picture: call docs/remake_pictures.sh"; status=1; }
done

rm -rf "$work"
mkdir -p "$work"
cp --parents -r docs/remake_pictures.sh docs/traces.md docs/traces benchmarks/put_table.sh \
  device_runtime/src/trace/page.html "$work"
"$work/docs/remake_pictures.sh" page
diff -r docs/traces "$work/docs/traces" && diff docs/traces.md "$work/docs/traces.md" ||
  { echo "call docs/remake_pictures.sh draw"; status=1; }
exit $status
