#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# install_packages.sh [more packages...]
# Installs the Debian or Ubuntu packages that Ramify requires, and the given packages, if they are
# missing.
set -euo pipefail

installed() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'ok installed'; }

missing=()
# A compiler and CMake from any source are accepted. Libraries must be packages.
command -v c++ >/dev/null || missing+=(g++)
command -v cmake >/dev/null || missing+=(cmake)
command -v ninja >/dev/null || missing+=(ninja-build)
if command -v dpkg-query >/dev/null; then
  for package in libboost-context-dev libboost-test-dev libtbb-dev libcli11-dev nlohmann-json3-dev \
    libnanoflann-dev libpng-dev zlib1g-dev "$@"; do
    installed "$package" || missing+=("$package")
  done
fi
[ ${#missing[@]} -eq 0 ] && exit 0

echo "Installing ${missing[*]}"
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
if ! command -v apt-get >/dev/null || { [ ${#as_root[@]} -gt 0 ] && ! command -v sudo >/dev/null; }; then
  echo "Please install: ${missing[*]}" >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get -qq update
"${as_root[@]}" apt-get -qq install -y --no-install-recommends "${missing[@]}" >/dev/null
