// SPDX-License-Identifier: Apache-2.0
// Names of environment variables that Tenon reads or sets. docs/guide/environment-variables.md
// describes them, and a few more, for users. Keep the two in step.
#ifndef TENON_RUN_ENV_VARS_H_
#define TENON_RUN_ENV_VARS_H_

namespace tenon::run::env {

// Read by `tenon`.
inline constexpr const char* kHome = "TENON_HOME";               // the Tenon home; ~/.tenon
inline constexpr const char* kNoColor = "NO_COLOR";              // set and not empty: no colours
inline constexpr const char* kDockerHost = "DOCKER_HOST";        // where the engine is (src/docker)
inline constexpr const char* kDockerContext = "DOCKER_CONTEXT";  // else: the context of that name
inline constexpr const char* kDockerConfig = "DOCKER_CONFIG";    // Docker's folder; ~/.docker
inline constexpr const char* kAzDepth = "TENON_AZ_DEPTH";  // how often `az` has been passed on
inline constexpr const char* kTestClockOffset = "TENON_TEST_CLOCK_OFFSET_FILE";  // tests only
inline constexpr const char* kTestBootId = "TENON_TEST_BOOT_ID";                 // tests only
inline constexpr const char* kTestDurableSteps = "TENON_TEST_DURABLE_STEPS";     // base/durable.h
inline constexpr const char* kTestMachineRoot = "TENON_TEST_MACHINE_ROOT";       // tests only

// Set between our own programs only, never kept: TENON_ASKPASS (transport/askpass.h) names the
// socket on which our process answers the questions of ssh. TENON_LOGIN_PROGRAM and
// TENON_SETUP_RESULT (runner/verbs/login_shell.cc) tell a login shell that the runner started where
// the runner is and where to write its environment.

// Set for the script.
inline constexpr const char* kRunKey = "TENON_RUN_KEY";  // UUID; marks every process of the run
inline constexpr const char* kRunId = "TENON_RUN_ID";
inline constexpr const char* kMetricsDir = "TENON_METRICS_DIR";  // where the shim writes
inline constexpr const char* kRankDoor = "TENON_RANK_DOOR";  // for `rank` alone, which removes it
inline constexpr const char* kOutputsDir = "TENON_OUTPUTS_DIR";          // outputs/ of the run
inline constexpr const char* kShare = "AZUREML_NATIVE_SHARE_DIRECTORY";  // ends with a slash
inline constexpr const char* kPythonPath = "PYTHONPATH";        // begins with the shim's folder
inline constexpr const char* kPycache = "PYTHONPYCACHEPREFIX";  // in a container: shared per image
inline constexpr const char* kVirtualEnv = "VIRTUAL_ENV";       // an environment that Tenon made
inline constexpr const char* kPythonUnbuffered = "PYTHONUNBUFFERED";  // 1

}  // namespace tenon::run::env

#endif  // TENON_RUN_ENV_VARS_H_
