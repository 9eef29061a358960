#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# install_packages.sh [more packages...]
# Installs the Debian or Ubuntu packages that Ramify requires, and the given packages, if they are
# missing. Prints their names first. If it cannot install them, or if RAMIFY_INSTALL=no, it prints
# the command that does, and ends with status 1.
set -euo pipefail

installed() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'ok installed'; }

missing=()
# A compiler and CMake from any source are accepted. Libraries must be packages.
command -v c++ >/dev/null || missing+=(g++)
command -v cmake >/dev/null || missing+=(cmake)
command -v ninja >/dev/null || missing+=(ninja-build)
if command -v dpkg-query >/dev/null; then
  for package in libboost-context-dev libboost-test-dev libcli11-dev nlohmann-json3-dev \
    libnanoflann-dev libpng-dev zlib1g-dev "$@"; do
    installed "$package" || missing+=("$package")
  done
fi
[ ${#missing[@]} -eq 0 ] && exit 0

refuse() {
  echo "$1 Please install the packages: apt-get install --no-install-recommends ${missing[*]}" >&2
  exit 1
}
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
[ "${RAMIFY_INSTALL-yes}" != no ] || refuse 'RAMIFY_INSTALL is no.'
command -v apt-get >/dev/null || refuse 'There is no apt-get.'
[ ${#as_root[@]} -eq 0 ] || command -v sudo >/dev/null || refuse 'You are not root, and there is no sudo.'
echo "Installing with ${as_root[*]:+sudo }apt-get: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get -qq update || refuse 'apt-get update failed.'
"${as_root[@]}" apt-get -qq install -y --no-install-recommends "${missing[@]}" >/dev/null ||
  refuse 'apt-get install failed.'
