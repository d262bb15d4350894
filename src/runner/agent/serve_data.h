// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_AGENT_SERVE_DATA_H_
#define TENON_RUNNER_AGENT_SERVE_DATA_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "base/result.h"
#include "runner/agent/serve_link.h"
#include "snapshot/data/data_folder.h"
#include "snapshot/data/data_pieces.h"
#include "snapshot/data/data_scan.h"

namespace tenon::runner {

// Carries out the requests about data sets (`data-…`). Each method answers its request; an Error
// means that the link failed. A client can have one put at a time.
class ServeData {
 public:
  // `note_use` is called now and then while a request is carried out.
  ServeData(ServeLink& link, std::function<void()> note_use)
      : link_(link), note_use_(std::move(note_use)) {}

  static bool Knows(std::string_view op) { return op.starts_with("data-"); }
  Status Carry(const std::string& op, const json::Object& request, const std::string& body);

 private:
  Status Begin(const json::Object& request, const std::string& body);
  Status Piece(const json::Object& request, const std::string& body);
  Status Done();
  Status List(const json::Object& request);
  Status Files(const json::Object& request);
  Status Get(const json::Object& request, const std::string& body);
  Status Remove(const json::Object& request);
  Status Stat(const json::Object& request);
  Status Scan(const json::Object& request);
  Status SendSet(const json::Object& request, const std::string& body,
                 const snapshot::PutDataPiece& put);
  Status SendScanned(const std::string& body, const snapshot::PutDataPiece& put);
  std::function<Status(uint64_t)> Teller(Status* link);

  ServeLink& link_;
  std::function<void()> note_use_;
  std::unique_ptr<snapshot::DataReceiver> receiver_;  // of the current put
  std::optional<snapshot::DataScan> scan_;            // the last scan
  bool failed_ = false;                               // the put has failed, and the client was told
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_AGENT_SERVE_DATA_H_
