// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_AGENT_SERVE_OBJECTS_H_
#define TENON_RUNNER_AGENT_SERVE_OBJECTS_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "base/result.h"
#include "runner/agent/serve_link.h"
#include "snapshot/store/object_store.h"
#include "snapshot/transfer/transfer.h"

namespace tenon::runner {

// Marks a home as one that clients of other machines use. The agent makes this file in the home.
inline constexpr const char* kHostedMark = "hosted";

// Carries out the requests about objects. Have() and Get() answer their request; an Error means
// that the link failed.
class ServeObjects {
 public:
  // `note_use` is called while objects are sent to the client.
  ServeObjects(ServeLink& link, std::function<void()> note_use)
      : link_(link), note_use_(std::move(note_use)) {}
  ~ServeObjects();

  // Carries out `objects` and `piece`. Does not answer; the next Have() tells what went wrong.
  void Take(const json::Object& request, std::string_view body);
  Status Have(const json::Object& request);
  Status Get(const json::Object& request);

 private:
  // The object store of one home, and the receiver that puts objects into it.
  struct Store {
    explicit Store(snapshot::ObjectStore opened, const std::string& home);
    std::string home;
    snapshot::ObjectStore objects;
    snapshot::ObjectReceiver receiver;
  };
  Result<Store*> StoreOf(const json::Object& request);
  Status SendObjects(const json::Object& request);

  ServeLink& link_;
  std::function<void()> note_use_;
  std::unique_ptr<Store> store_;  // of the home in the last request
  std::optional<Error> went_wrong_;
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_AGENT_SERVE_OBJECTS_H_
