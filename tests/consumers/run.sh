#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds a consumer of Ramify in one of the forms of docs/using.md, and runs the programs that can
# run here.
#   run.sh install       <source> <work> <nvcc or none> <architecture> <build tree>
#   run.sh fetch         <source> <work> <nvcc or none> <architecture>
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

# Checks that find_package() fails with this sentence. CMake wraps lines.
refused_component() { # component, sentence
  cmake -S "$source/tests/consumers/components" -B "$work/components" -G Ninja \
    "-DCMAKE_PREFIX_PATH=$work/installed" "-DCOMPONENTS=$1" >"$work/components.log" 2>&1 &&
    { echo "find_package() finds the component $1"; exit 1; }
  tr -s ' \n' ' ' <"$work/components.log" | grep -qF -e "$2" ||
    { cat "$work/components.log"; echo "no message '$2'"; exit 1; }
}

# Checks that one sentence names what to build if a library is missing, and nothing is installed.
refused_install() { # build
  sed 's#algorithms/libramify_facade[.]a#algorithms/missing.a#' "$1/cmake_install.cmake" >"$work/install.cmake"
  if cmake "-DCMAKE_INSTALL_PREFIX=$work/nothing" -P "$work/install.cmake" 2>"$work/install.log" >/dev/null; then
    echo "a missing library is installed"
    exit 1
  fi
  tr -s ' \n' ' ' <"$work/install.log" | grep -qF \
    "Ramify: 1 libraries are not built, for example missing.a. Build them first: cmake --build '$1' --target ramify_libraries" ||
    { cat "$work/install.log"; exit 1; }
  [ ! -e "$work/nothing" ] || { echo "an install without a library begins"; exit 1; }
}

case $form in
  install)
    refused_install "$6"
    cmake --install "$6" --prefix "$work/installed" --component libraries >/dev/null
    [ ! -e "$work/installed/bin" ] || { echo "the component libraries has programs"; exit 1; }
    refused_component quiksort "Ramify: there is no component 'quiksort'; the components are runtime, facade, "
    [ "$nvcc" != none ] || refused_component facade_rdc "were built without CUDA, so there is no component 'facade_rdc'"
    grep -q '^set(ramify_HAS_MPI ON)' "$work"/installed/lib*/cmake/ramify/ramify-config.cmake ||
      refused_component "runtime;cluster" "were built without MPI, so there is no component 'cluster'"
    cmake --install "$6" --prefix "$work/installed" >/dev/null
    "$source/tests/consumers/check_install_tree.sh" "$work/installed" "$source" "$6" "$work"
    build "-DCMAKE_PREFIX_PATH=$work/installed"
    "$source/tests/quicksort/no_kernels_test.sh" "$work/build/sort_user" "$work"/build/CMakeFiles/sort_user.dir/*.o
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
  fetch)
    build -DRAMIFY_FETCH=ON "-DFETCHCONTENT_SOURCE_DIR_RAMIFY=$source" -DRAMIFY_UNITY=ON
    built=$(find "$work/build" -name '*.a' -printf '%f ')
    [ "$built" = 'libramify_runtime.a ' ] ||
      { echo "built $built, although the programs link ramify::runtime alone"; exit 1; }
    ;;
  nvcc)
    mkdir "$work/build"
    [ "$architecture" = native ] || architecture=sm_${architecture%%-*}
    common=(-std=c++20 "-arch=$architecture" -I "$source/device_runtime"
            -I "$source/algorithms" "$source/tests/consumers/project/kernel_user.cu")
    # The library of compiled sorts has no kernels for these sources, so they compile their own.
    printf '#include <ramify/quicksort.cuh>\nhas RAMIFY_COMPILED_SORTS\n' >"$work/has.cu"
    common[-1]=$work/has.cu
    for options in -rdc=false '-rdc=true -DRAMIFY_TRACE=1' '-rdc=true -DRAMIFY_CHECK=1'; do
      # shellcheck disable=SC2086
      "$nvcc" -E -DRAMIFY_COMPILED_SORTS=1 $options "${common[@]}" >"$work/has.txt"
      grep -q '^has 0$' "$work/has.txt" || { echo "with $options, calls of the library are compiled"; exit 1; }
    done
    "$nvcc" -E -DRAMIFY_COMPILED_SORTS=1 -rdc=true "${common[@]}" >"$work/has.txt"
    grep -q '^has 1$' "$work/has.txt" || { echo "calls of the library are never compiled"; exit 1; }
    common[-1]=$source/tests/consumers/project/kernel_user.cu
    "$nvcc" -rdc=true "${common[@]}" -o "$work/build/device_user" -lcudadevrt
    "$nvcc" "${common[@]}" -o "$work/build/flat_user"
    common[-1]=$source/tests/consumers/project/traced_user.cu
    "$nvcc" -rdc=true -DRAMIFY_TRACE=1 "${common[@]}" "$6/device_runtime/libramify_runtime.a" \
      -lboost_context -lcudadevrt -o "$work/build/traced_user"
    ;;
esac
for program in facade_user family_user executor_user sort_user device_user flat_user both_user traced_user; do
  [ ! -x "$work/build/$program" ] || try "$work/build/$program"
done
if [ ${#skipped[@]} -gt 0 ]; then
  echo "built, but not run without a GPU: ${skipped[*]}"
  exit 77
fi
