#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# two_machines_test.sh <program> [arguments...]
# Runs a test program with a rank on each of two machines, which TCP connects. The machines are
# network namespaces of this one with host names of their own, so MPI uses no shared memory. Skipped
# without root, iproute2 and Open MPI 4.
set -euo pipefail

skip() {
  echo "SKIPPED: $1"
  exit 77
}
[ "$(id -u)" -eq 0 ] || skip 'only root can create network namespaces'
command -v ip >/dev/null && command -v unshare >/dev/null || skip 'there is no ip or no unshare'
mpirun=${MPIRUN:-mpirun}
version=$("$mpirun" --version 2>/dev/null || true)
[[ $version =~ \((Open MPI|OpenRTE)\)\ 4\. ]] || skip 'this is not Open MPI 4'

# 1. Two machines and a cable.
machines=("ramify-$$-a" "ramify-$$-b")
folder=$(mktemp -d)
remove() {
  for machine in "${machines[@]}"; do ip netns delete "$machine" 2>/dev/null || true; done
  rm -rf "$folder"
}
trap remove EXIT
trap 'exit 1' HUP INT TERM
for machine in "${machines[@]}"; do
  ip netns add "$machine" 2>/dev/null || skip 'network namespaces are not permitted here'
  ip -n "$machine" link set lo up
done
ip -n "${machines[0]}" link add cable type veth peer name cable netns "${machines[1]}" ||
  skip 'virtual network devices are not permitted here'
for i in 0 1; do
  ip -n "${machines[i]}" address add "10.0.0.$((i + 1))/24" dev cable
  ip -n "${machines[i]}" link set cable up
done

# 2. What mpirun calls in place of ssh: agent <address> <command>...
cat >"$folder/agent" <<AGENT
#!/bin/sh
case \$1 in
  10.0.0.1) machine=${machines[0]} ;;
  *) machine=${machines[1]} ;;
esac
shift
exec ip netns exec "\$machine" unshare --uts sh -c "hostname '\$machine'; \$*"
AGENT
chmod +x "$folder/agent"

# 3. Two ranks.
"$folder/agent" 10.0.0.1 exec "$mpirun" --allow-run-as-root --oversubscribe --bind-to none \
  --mca plm_rsh_agent "$folder/agent" --mca btl tcp,vader,self \
  --mca btl_tcp_if_include cable --mca oob_tcp_if_include cable \
  --host 10.0.0.1,10.0.0.2 -n 2 "$@"
