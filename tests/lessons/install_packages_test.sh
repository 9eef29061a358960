#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests install_packages.sh with substitutes for apt-get, dpkg-query, id and sudo. The script must name
# the packages before it installs them, and if it cannot.
#
#   install_packages_test.sh <install_packages.sh> <work folder>
set -euo pipefail
script=$1 work=$2
rm -rf "$work"
mkdir -p "$work/bin"
cd "$work"
for tool in bash env grep c++ cmake ninja; do
  ln -s "$(command -v "$tool" || command -v true)" "bin/$tool"
done
substitute() { # name, script
  printf '#!/bin/sh\n%s\n' "$2" >"bin/$1"
  chmod +x "bin/$1"
}
expect() { # status, text of the output; calls the script
  local status=0 output
  output=$(PATH=$work/bin bash "$script" some-package 2>&1) || status=$?
  if [ $status != "$1" ] || [[ $output != *"$2"* ]]; then
    echo "expected status $1 and '$2', but got $status and '$output'"
    exit 1
  fi
}

# The package is missing, and cannot be installed: no apt-get; neither root nor sudo; not wanted.
substitute dpkg-query 'case $3 in some-package) exit 1 ;; esac; echo "install ok installed"'
substitute id 'echo 1000'
expect 1 'There is no apt-get. Please install the packages: apt-get install --no-install-recommends some-package'
substitute apt-get 'echo "$*" >>calls; exit 0'
expect 1 'You are not root, and there is no sudo. Please install the packages: '
[ ! -e calls ]
substitute id 'echo 0'
RAMIFY_INSTALL=no expect 1 'RAMIFY_INSTALL is no. Please install the packages: '
[ ! -e calls ]
# Root installs it.
expect 0 'Installing with apt-get: some-package'
grep -q 'install .*some-package' calls
# apt-get fails, for root and with sudo.
substitute apt-get 'case $* in *install*) exit 100 ;; esac'
expect 1 'apt-get install failed. Please install the packages: '
substitute id 'echo 1000'
substitute sudo 'exit 1'
expect 1 'apt-get update failed. Please install the packages: '
# The package is already installed.
substitute dpkg-query 'echo "install ok installed"'
expect 0 ''
