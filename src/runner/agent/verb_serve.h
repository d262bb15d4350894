// SPDX-License-Identifier: Apache-2.0
// The verb `serve`: the agent of one client, for as long as its connection lasts. It carries out
// requests one after the other (docs/runner.md). It holds nothing that a run needs, so it may end
// at any moment.
#ifndef TENON_RUNNER_AGENT_VERB_SERVE_H_
#define TENON_RUNNER_AGENT_VERB_SERVE_H_

namespace tenon::runner {

// Runs until `in` ends. Returns the exit code: 0, also when the client is gone; 1 when the client
// sent nonsense.
int Serve(int in, int out);

}  // namespace tenon::runner

#endif  // TENON_RUNNER_AGENT_VERB_SERVE_H_
