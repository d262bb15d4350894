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

// A file that says that a home belongs to other machines' clients: made by the agent.
inline constexpr const char* kHostedMark = "hosted";

// The requests about objects. Each answers by itself; an Error is the link's.
class ServeObjects {
 public:
  // `note_use`: called while it works.
  ServeObjects(ServeLink& link, std::function<void()> note_use)
      : link_(link), note_use_(std::move(note_use)) {}
  ~ServeObjects();

  // `objects` and `piece`: not answered; what goes wrong is told by the next Have().
  void Take(const json::Object& request, std::string_view body);
  Status Have(const json::Object& request);
  Status Get(const json::Object& request);

 private:
  // The store of one home, and what is on its way into it.
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
  std::unique_ptr<Store> store_;  // of the home asked for last
  std::optional<Error> went_wrong_;
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_AGENT_SERVE_OBJECTS_H_
