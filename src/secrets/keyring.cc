// SPDX-License-Identifier: Apache-2.0
#include "secrets/keyring.h"

#include <cstdlib>

#include "base/process.h"
#include "base/text.h"

namespace tenon::secrets {
namespace {

constexpr const char* kTool = "secret-tool";

Error Locked(const std::string& what) {
  return Denied("the desktop's keyring " + what)
      .WithHint("unlock it, or log in to the desktop, and try again");
}

}  // namespace

bool KeyringMayBeThere() {
  const char* bus = std::getenv("DBUS_SESSION_BUS_ADDRESS");
  const char* path = std::getenv("PATH");
  return bus != nullptr && *bus != '\0' &&
         FindProgram(kTool, path != nullptr ? path : "/usr/bin").has_value();
}

Result<std::optional<std::string>> KeyringLookup(const std::string& id, int timeout_ms) {
  if (!KeyringMayBeThere()) return Locked("is not there");
  TENON_TRY(CaptureResult said,
            RunAndCapture({kTool, "lookup", "application", "tenon", "store", id}, "", "",
                          timeout_ms, 4096));
  if (said.timed_out) return Locked("gave no answer");
  // secret-tool exits with 1 both when there is no such entry and when something is wrong. Only
  // then does it say what is wrong.
  if (said.status.AsShell() != 0) {
    if (Trim(said.err).empty() && said.out.empty()) return std::optional<std::string>();
    return Locked("does not answer: " + ForTerminal(Trim(said.err.substr(0, 300))));
  }
  return std::optional<std::string>(Trim(said.out));
}

Status KeyringStore(const std::string& id, const std::string& value, int timeout_ms) {
  if (!KeyringMayBeThere()) return Locked("is not there");
  TENON_TRY(const CaptureResult said,
            RunAndCapture({kTool, "store", "--label=Tenon: key of the secrets", "application",
                           "tenon", "store", id},
                          "", value, timeout_ms, 4096));
  if (said.timed_out) return Locked("gave no answer");
  if (said.status.AsShell() == 0) return {};
  return Locked("does not take it: " + ForTerminal(Trim(said.err.substr(0, 300))));
}

}  // namespace tenon::secrets
