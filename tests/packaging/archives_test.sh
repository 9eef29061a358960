#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes the packages and checks what they contain.
#   archives_test.sh SOURCE BUILD WORK CPACK
set -euo pipefail
source=$1 build=$2 work=$3 cpack=$4
rm -rf "$work"
make_package() { # generator, options...
  "$cpack" --config "$build/CPackConfig.cmake" -B "$work" -G "$@" >"$work.log" 2>&1 ||
    { cat "$work.log"; exit 1; }
}
expected=(include/ramify/quicksort.hpp include/ramify/runtime/launch.cuh lib/libramify_facade.a
  lib/libramify_facade_quicksort.a lib/cmake/ramify/ramify-config.cmake lib/pkgconfig/ramify.pc
  share/doc/ramify/LICENSE)
if grep -q '^RAMIFY_EXAMPLES:BOOL=ON' "$build/CMakeCache.txt"; then
  for name in $(sed '/^#/d; s/ .*//' "$source/examples/programs.txt"); do
    expected+=("bin/$name" "share/bash-completion/completions/$name")
  done
fi
check_contents() { # archive; standard input: its list of files
  local files file
  files=$(sed 's#lib/[a-z0-9_]*-linux-gnu[a-z0-9_]*/#lib/#')
  for file in "${expected[@]}"; do
    grep -q "/$file\$" <<<"$files" || { echo "$1 lacks $file"; exit 1; }
  done
  if grep -qE '\.(cpp|cu|o)$' <<<"$files"; then
    echo "$1 contains sources or objects"
    exit 1
  fi
  echo "$1: $(wc -l <<<"$files") files"
}

has_dpkg=no
command -v dpkg-deb >/dev/null && command -v dpkg-shlibdeps >/dev/null && has_dpkg=yes
# Libraries with device code take long to compress, so only one package is made of them.
if [ $has_dpkg = no ] || ! grep -q '^CMAKE_CUDA_COMPILER:' "$build/CMakeCache.txt"; then
  make_package TGZ
  archive=$(ls "$work"/ramify-*.tar.gz)
  tar -tzf "$archive" | check_contents "$(basename "$archive")"
fi
if [ $has_dpkg = no ]; then
  echo "not tested without dpkg-dev: the Debian package"
  exit 0
fi
make_package DEB
archive=$(ls "$work"/ramify_*.deb)
dpkg-deb -c "$archive" | check_contents "$(basename "$archive")"
dpkg-deb -f "$archive" Depends | grep -q 'libboost-context-dev' ||
  { echo "the Debian package does not depend on the libraries that it needs"; exit 1; }
