#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the command line of the example program quadrature: quadrature_cli.sh <program> <work folder>
. "$(dirname "$0")/cli_checks.sh"
says() { grep -Eq -- "$1" out || fail "no '$1' in $(cat out)"; }

# Genz's families, and their integrals with a = (1.5, 2) and u = (0.5, 0.25), from a program in
# Python.
while read -r family exact; do
  expect 0 - --family $family --a 1.5 --u 0.5 --a 2 --u 0.25 --relative-tolerance 1e-5 --verify \
    --backend cpu --max-evaluations 200000
  says '^status: converged$'
  says "^exact: ${exact/./[.]}"
done <<'TABLE'
oscillatory 0.13631764919
product_peak 5.5847196066
corner_peak 0.08148148148
gaussian 0.55355257247
c0 0.41167339738
discontinuous 0.24154055671
TABLE

for route in automatic device flat; do
  expect 0 - --dimensions 4 --backend cpu --route $route --relative-tolerance 1e-4 --verify --pending-launches 64
  says '^backend: cpu \(requested\)$'
  says '^rounds: [1-9]'
  says '^true error: '
done
expect 0 - --dimensions 1 --family c0 --difficulty 3 --seed 4 --absolute-tolerance 1e-9 \
  --relative-tolerance 0 --min-evaluations 500 --backend cpu --route flat --flat-loop host --report json
says '"status": "converged",'
says '"dimensions": 1,'
says '"route": "flat",'
says '"evaluations_per_second": '
expect_trace --backend cpu --route device --relative-tolerance 1e-3
expect_trace --backend cpu --route flat --relative-tolerance 1e-3

# A tolerance that is not reached: the report has the best estimate, and the status is 1.
expect 1 'the tolerance was not reached (--max-evaluations)' --backend cpu --max-evaluations 1000 \
  --relative-tolerance 1e-9
says '^status: max_evaluations$'
says '^value: 0[.]2'

# An integrand that overflows: the report states a point at which it does.
overflows='--family discontinuous --a 1000 --u 1 --a 1000 --u 1 --backend cpu'
expect 1 'the tolerance was not reached (not_finite)' $overflows
says '^status: not_finite$'
says '^not finite at: 0[.][0-9]+ 0[.][0-9]+$'
expect 1 'the tolerance was not reached (not_finite)' $overflows --report json
says '"not_finite_at": [[]'

# Finite values up to 1.6e308 have a finite integral: (e^709.7 - 1) / 709.7.
expect 0 - --family discontinuous --a 709.7 --u 1 --backend cpu --relative-tolerance 1e-4 --verify
says '^status: converged$'
says '^value: 2[.]3319[0-9]*e[+]305$'
# Memory follows the regions, not the limit of evaluations.
expect 0 - --dimensions 2 --relative-tolerance 1e-3 --backend cpu --max-evaluations 10000000000 --report json
says '"scratch_bytes": [0-9]{1,8},'
# All points of the first region are outside of the box in which the function is not 0.
expect 0 - --family discontinuous --a 1 --u 0.02 --a 1 --u 0.03 --backend cpu --relative-tolerance 1e-3 --verify
says '^check evaluations: [1-9]'

refuses_bad_launch_options
expect 2 "family 'cubic' is none of oscillatory" --family cubic
expect 2 "'9' is too large; the maximum is 8" --dimensions 9
expect 2 "'0' is not a whole number" --dimensions 0
expect 2 '--relative-tolerance' --relative-tolerance 1
expect 2 '--relative-tolerance is 0; it must be greater than 0' --relative-tolerance 0 --backend cpu
expect 2 '--max-evaluations is 30; in 3 dimensions it must be at least 77' --max-evaluations 30 --backend cpu
expect 2 '--min-evaluations is 200; it must be at most' --min-evaluations 200 --max-evaluations 100 --backend cpu
expect 2 '--u' --a 3
expect 2 'excludes' --a 3 --u 0.5 --dimensions 1
expect 2 '--a is given 2 times and --u 1 times' --a 3 --a 4 --u 0.5
expect 2 "--flat-loop 'gpu' is none of automatic" --flat-loop gpu
if ! "$program" --backend cuda >out 2>err; then
  expect 4 'the cuda backend cannot run' --backend cuda
fi
echo "all as expected"
