// SPDX-License-Identifier: Apache-2.0
#include <poll.h>

#include <algorithm>
#include <map>

#include "base/clock.h"
#include "base/text.h"
#include "docker/call.h"
#include "docker/engine.h"
#include "docker/image_name.h"

namespace tenon::docker {
namespace {

constexpr int kAskStoppedMs = 100;
constexpr size_t kLineLimit = 1 << 20;

struct Rule {
  std::string_view words;
  ErrorKind kind;
};
// The first rule that fits counts. Of an image that is private or does not exist, registries say
// both "not found" and "denied"; that is kDenied.
constexpr Rule kRules[] = {
    {"unauthorized", ErrorKind::kDenied},
    {"denied", ErrorKind::kDenied},
    {"authentication required", ErrorKind::kDenied},
    {"forbidden", ErrorKind::kDenied},
    {"manifest unknown", ErrorKind::kNotFound},
    {"no such host", ErrorKind::kUnavailable},
    {"server misbehaving", ErrorKind::kUnavailable},
    {"timeout", ErrorKind::kUnavailable},
    {"deadline exceeded", ErrorKind::kUnavailable},
    {"connection refused", ErrorKind::kUnavailable},
    {"connection reset", ErrorKind::kUnavailable},
    {"network is unreachable", ErrorKind::kUnavailable},
    {"no route to host", ErrorKind::kUnavailable},
    {"temporary failure in name resolution", ErrorKind::kUnavailable},
    {"toomanyrequests", ErrorKind::kUnavailable},
    {"no space left on device", ErrorKind::kUnavailable},
    {"unexpected eof", ErrorKind::kUnavailable},
    {"not found", ErrorKind::kNotFound},
    {"does not exist", ErrorKind::kNotFound},
    {"no such image", ErrorKind::kNotFound},
    {"name unknown", ErrorKind::kNotFound},
};

Error RegistryError(std::string words, ErrorKind otherwise) {
  const std::string lower = ToLower(words);
  for (const Rule& rule : kRules) {
    if (lower.find(rule.words) != std::string::npos) return {rule.kind, std::move(words), {}};
  }
  return {otherwise, std::move(words), {}};
}

// Sums up the lines of all layers.
class Progress {
 public:
  void Take(const json::Object& line) {
    sum_.what = json::GetString(line, "status");
    const std::string id = json::GetString(line, "id");
    if (!IsLayer(id, sum_.what)) return;
    Layer& layer = layers_[id];
    if (sum_.what == "Pull complete" || sum_.what == "Already exists") layer.done = true;
    const json::Object* detail = json::GetObject(line, "progressDetail");
    // Extracting counts the same bytes once more.
    if (detail && sum_.what == "Downloading") {
      layer.bytes = static_cast<uint64_t>(std::max<int64_t>(json::GetInt(*detail, "current"), 0));
      layer.total = static_cast<uint64_t>(std::max<int64_t>(json::GetInt(*detail, "total"), 0));
    } else if (sum_.what == "Download complete" || layer.done) {
      layer.bytes = std::max(layer.bytes, layer.total);
    }
  }

  const PullProgress& Sum() {
    sum_.layers = layers_.size();
    sum_.layers_done = sum_.bytes = sum_.total = 0;
    for (const auto& [id, layer] : layers_) {
      sum_.layers_done += layer.done ? 1 : 0;
      if (layer.total == 0) continue;
      sum_.bytes += std::min(layer.bytes, layer.total);
      sum_.total += layer.total;
    }
    return sum_;
  }

 private:
  struct Layer {
    bool done = false;
    uint64_t bytes = 0, total = 0;
  };
  // "Pulling from library/debian" has the tag for an id.
  static bool IsLayer(const std::string& id, const std::string& status) {
    return !id.empty() && !status.starts_with("Pulling from");
  }

  std::map<std::string, Layer> layers_;
  PullProgress sum_;
};

// Reads the stream of JSON lines, whose pieces may be cut anywhere.
class PullLines {
 public:
  explicit PullLines(const std::function<void(const PullProgress&)>& progress)
      : progress_(progress) {}

  Status Feed(std::string_view bytes) {
    unfinished_.append(bytes);
    size_t begin = 0;
    for (size_t end; (end = unfinished_.find('\n', begin)) != std::string::npos; begin = end + 1) {
      TENON_TRY_VOID(Line(std::string_view(unfinished_).substr(begin, end - begin)));
    }
    unfinished_.erase(0, begin);
    if (unfinished_.size() > kLineLimit) return Corrupt("the engine's progress has no line ends");
    return {};
  }
  Status End() { return Line(unfinished_); }

 private:
  Status Line(std::string_view text) {
    if (Trim(text).empty()) return {};
    TENON_TRY(const json::Object line, ParseObject(text));
    std::string words = json::GetString(line, "error");
    if (const json::Object* detail = json::GetObject(line, "errorDetail");
        detail && words.empty()) {
      words = json::GetString(*detail, "message");
    }
    if (!words.empty()) return RegistryError(std::move(words), ErrorKind::kInvalid);
    sum_.Take(line);
    if (progress_) progress_(sum_.Sum());
    return {};
  }

  const std::function<void(const PullProgress&)>& progress_;
  std::string unfinished_;
  Progress sum_;
};

// Waits for the engine's next bytes. Fails when the engine is silent for too long or the caller
// wants to stop.
class Patience {
 public:
  Patience(int fd, const std::function<bool()>& stopped) : fd_(fd), stopped_(stopped) {}

  Status Wait() {
    if (stopped_ && stopped_()) return Unavailable("stopped");
    pollfd item{fd_, POLLIN, 0};
    if (::poll(&item, 1, kAskStoppedMs) > 0) {
      since_us_ = SystemClock().MonotonicUs();
      return {};
    }
    if (SystemClock().MonotonicUs() - since_us_ > int64_t{kPullIdleMs} * 1000) {
      return Unavailable("the engine has said nothing for " +
                         HumanDuration(int64_t{kPullIdleMs} * 1000));
    }
    return {};
  }

 private:
  int fd_;
  const std::function<bool()>& stopped_;
  int64_t since_us_ = SystemClock().MonotonicUs();
};

Result<net::HttpResponse> ReadHead(net::HttpExchange& exchange, Patience& patience) {
  for (;;) {
    TENON_TRY(auto head, exchange.TryReadHead());
    if (head) return *std::move(head);
    TENON_TRY_VOID(patience.Wait());
  }
}

Status ReadLines(net::HttpExchange& exchange, Patience& patience, PullLines& lines) {
  for (;;) {
    TENON_TRY(const auto piece, exchange.TryReadSome());
    if (!piece) {
      TENON_TRY_VOID(patience.Wait());
      continue;
    }
    if (piece->empty()) return lines.End();
    TENON_TRY_VOID(lines.Feed(*piece));
  }
}

Status PullImage(net::HttpExchange exchange,
                 const std::function<void(const PullProgress&)>& progress,
                 const std::function<bool()>& stopped) {
  Patience patience(exchange.fd(), stopped);
  TENON_TRY(const net::HttpResponse head, ReadHead(exchange, patience));
  if (head.status >= 400) {
    TENON_TRY(const Reply reply, ReadReply({std::move(exchange), head}));
    Error error = EngineError(reply);
    return RegistryError(std::move(error.message), error.kind);
  }
  PullLines lines(progress);
  return ReadLines(exchange, patience, lines);
}

}  // namespace

Status Engine::Pull(const std::string& name,
                    const std::function<void(const PullProgress&)>& progress,
                    const std::function<bool()>& stopped) {
  const ImageName parts = SplitImageName(name);
  Call call{.method = "POST", .path = "/images/create", .idle_ms = kPullIdleMs};
  call.query = {{"fromImage", parts.repository}, {"tag", parts.version}};
  const std::string doing = "pulling the image " + name;
  auto exchange = Send(socket_, version_.api, call);
  if (!exchange.ok()) return std::move(exchange).error().Wrap(doing);
  auto status = PullImage(*std::move(exchange), progress, stopped);
  if (!status.ok()) return std::move(status).error().Wrap(doing);
  return {};
}

}  // namespace tenon::docker
