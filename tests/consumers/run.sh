#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds a consumer of Ramify in one of the forms of docs/using.md, and runs the programs that can
# run here.
#   run.sh install       <source> <work> <nvcc or none> <architecture> <build tree>
#   run.sh subdirectory  <source> <work> <nvcc or none> <architecture>
#   run.sh nvcc          <source> <work> <nvcc>         <architecture> <build tree>
set -euo pipefail
form=$1 source=$2 work=$3 nvcc=$4 architecture=$5
skipped=()
rm -rf "$work"
mkdir -p "$work"

try() { # program: runs it; status 77 means that it needs a GPU
  echo "-- running $(basename "$1")"
  local status=0
  "$1" || status=$?
  if [ $status -eq 77 ]; then
    skipped+=("$(basename "$1")")
  elif [ $status -ne 0 ]; then
    echo "$1 ended with status $status"
    exit 1
  fi
}

build() { # cmake arguments...
  local cuda=(-DCONSUMER_CUDA=OFF -DRAMIFY_CUDA=OFF)
  [ "$nvcc" = none ] || cuda=(-DCONSUMER_CUDA=ON "-DCMAKE_CUDA_COMPILER=$nvcc"
                              "-DCMAKE_CUDA_ARCHITECTURES=$architecture")
  cmake -S "$source/tests/consumers/project" -B "$work/build" -G Ninja "${cuda[@]}" "$@"
  cmake --build "$work/build"
}

case $form in
  install)
    cmake --install "$6" --prefix "$work/installed" >/dev/null
    "$source/tests/consumers/check_install_tree.sh" "$work/installed" "$source" "$6" "$work"
    build "-DCMAKE_PREFIX_PATH=$work/installed"
    nm -C "$work/build/family_user" >"$work/symbols"
    grep -q 'ramify::detail::quicksort::' "$work/symbols"
    for family in "$source"/algorithms/src/*/; do
      family=$(basename "$family")
      [[ $family == quicksort || $family == facade ]] && continue
      if grep -q "ramify::detail::$family::" "$work/symbols"; then
        echo "family_user, which only sorts, contains code of $family"
        exit 1
      fi
    done
    if [ "$nvcc" != none ]; then
      echo "-- linking wrong_mix, which must fail"
      if cmake --build "$work/build" --target wrong_mix >"$work/wrong_mix.log" 2>&1; then
        echo "wrong_mix links"
        exit 1
      fi
      grep -q 'multiple definition\|nvlink error\|Multiple definition' "$work/wrong_mix.log" ||
        { cat "$work/wrong_mix.log"; exit 1; }
    fi
    ;;
  subdirectory) build "-DRAMIFY_SOURCE=$source" -DRAMIFY_UNITY=ON ;;
  nvcc)
    mkdir "$work/build"
    [ "$architecture" = native ] || architecture=sm_${architecture%%-*}
    common=(-std=c++20 "-arch=$architecture" -I "$source/device_runtime"
            -I "$source/algorithms" "$source/tests/consumers/project/kernel_user.cu")
    "$nvcc" -rdc=true "${common[@]}" -o "$work/build/device_user" -lcudadevrt
    "$nvcc" "${common[@]}" -o "$work/build/flat_user"
    common[-1]=$source/tests/consumers/project/traced_user.cu
    "$nvcc" -rdc=true -DRAMIFY_TRACE=1 "${common[@]}" "$6/device_runtime/libramify_runtime.a" \
      -lboost_context -lcudadevrt -o "$work/build/traced_user"
    ;;
esac
for program in facade_user family_user executor_user device_user flat_user both_user traced_user; do
  [ ! -x "$work/build/$program" ] || try "$work/build/$program"
done
if [ ${#skipped[@]} -gt 0 ]; then
  echo "built, but not run without a GPU: ${skipped[*]}"
  exit 77
fi
