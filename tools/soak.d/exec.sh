#!/usr/bin/env bash
# The executor: a million simulated worlds, then native stress in the optimised build. HORAE_SOAK_SEEDS and
# HORAE_SOAK_STRESS shorten it.
. "$HORAE_ROOT/tools/common.sh"

need_tests
build release exec_sim_test exec_stress_test exec_regression_test
say "simulating"
HORAE_SIM_SEEDS=${HORAE_SOAK_SEEDS:-1000000} build/release/tests/sim/exec/exec_sim_test --gtest_brief=1
say "stressing: 10^5 workers added and removed, more than 10^4 shutdowns"
HORAE_STRESS=${HORAE_SOAK_STRESS:-334} build/release/tests/stress/exec/exec_stress_test --gtest_brief=1
build/release/tests/unit/exec/exec_regression_test --gtest_brief=1 --gtest_repeat=20
