// SPDX-License-Identifier: Apache-2.0
// Reads and checks the request on standard input (docs/runner.md).
#ifndef TENON_RUNNER_VERBS_REQUEST_H_
#define TENON_RUNNER_VERBS_REQUEST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/process.h"
#include "base/result.h"
#include "run/described.h"
#include "run/layout.h"
#include "run/requests.h"
#include "run/spec.h"

namespace tenon::runner {

// The run that a verb is about.
struct RunName {
  std::string home;
  std::string run_id;
  run::RunFolder Folder() const { return run::RunFolder(run::Home(home), run_id); }
};

struct StartRequest {
  RunName run;
  run::RunSpec spec;
  Environment environment;
  Environment secrets;
  std::string client_version;
  std::string retry_of;  // run being retried; "": no retry

  std::vector<std::string> SecretValues() const;
  // `variables` plus what every process of this run gets: the secrets and the run's key.
  Environment WithOwn(Environment variables) const;
};

// A request (run/requests.h) and the home it is about.
template <typename T>
struct Asked {
  std::string home;
  T what;
};

// Reads `fd` to its end. kInvalid: it has more than 64 MiB.
Result<std::string> ReadRequest(int fd);

// All of these fail with kInvalid when the text is no request, has another protocol or lacks
// something.
Result<StartRequest> ParseStart(std::string_view text);
Result<RunName> ParseRunName(std::string_view text);   // of a request that names only a run
Result<std::string> ParseHome(std::string_view text);  // of a request that names no run
template <Described T>
Result<Asked<T>> ParseRequest(std::string_view text);

// Parts of ParseRequest. ParseObject returns the request's members and puts its home into `home`.
Result<json::Object> ParseObject(std::string_view text, std::string* home);
Error NotUnderstood(Error why);

template <Described T>
Result<Asked<T>> ParseRequest(std::string_view text) {
  Asked<T> asked;
  TENON_TRY(const json::Object object, ParseObject(text, &asked.home));
  auto what = run::FromJsonObject<T>(object);
  if (!what.ok()) return NotUnderstood(std::move(what).error());
  asked.what = std::move(*what);
  return asked;
}

}  // namespace tenon::runner

#endif  // TENON_RUNNER_VERBS_REQUEST_H_
