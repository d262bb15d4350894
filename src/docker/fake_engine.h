// SPDX-License-Identifier: Apache-2.0
// An engine for tests: a Unix socket in a folder of its own. A function gives the answers, and all
// requests are recorded.
#ifndef TENON_DOCKER_FAKE_ENGINE_H_
#define TENON_DOCKER_FAKE_ENGINE_H_

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/fd.h"
#include "base/temp_folder.h"
#include "base/text.h"
#include "docker/engine.h"

namespace tenon::docker {

struct FakeRequest {
  std::string method;
  std::string target;                          // as it was sent
  std::string version;                         // "1.41"; empty when the target has none
  std::string path;                            // without version and query, unescaped
  std::map<std::string, std::string> query;    // unescaped; of equal names the last
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;                            // put together when it came in chunks
};

struct FakeAnswer {
  int status = 200;  // 0: the engine's usual answer (FakeEngine::Usual)
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
  bool with_length = true;  // false: the end of the body is the end of the connection
  // Called after the head and the body are sent; may send more. The connection is closed when it
  // returns. It must return when the peer is gone; Stop() cuts the connection for that.
  std::function<void(int fd)> then = {};
};

class FakeEngine {
 public:
  // Called on the fake engine's threads, several at once.
  using Handler = std::function<FakeAnswer(const FakeRequest&)>;

  explicit FakeEngine(Handler handler, std::string name = "docker.sock")
      : handler_(std::move(handler)), socket_(folder_ / name) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    TENON_CHECK(socket_.size() < sizeof address.sun_path);
    std::memcpy(address.sun_path, socket_.data(), socket_.size());
    listener_ = UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    TENON_CHECK(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) ==
                0);
    TENON_CHECK(::listen(listener_.get(), 64) == 0);
    thread_ = std::thread([this] { Listen(); });
  }
  FakeEngine(const FakeEngine&) = delete;
  FakeEngine& operator=(const FakeEngine&) = delete;
  ~FakeEngine() { Stop(); }

  const std::string& socket() const { return socket_; }
  std::vector<FakeRequest> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

  // As if the engine were killed: connections are cut; the socket stays, but nobody listens.
  void Stop() {
    if (!thread_.joinable()) return;
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
    listener_.Reset();
    {
      const std::lock_guard lock(mutex_);
      for (Connection& connection : connections_) ::shutdown(connection.fd.get(), SHUT_RDWR);
    }
    for (Connection& connection : connections_) connection.thread.join();
    connections_.clear();
  }

  static FakeAnswer Json(std::string body, int status = 200) {
    return {status, std::move(body), {{"Content-Type", "application/json"}}, true, {}};
  }
  static FakeAnswer Failure(int status, const std::string& message) {
    return Json("{\"message\":\"" + message + "\"}", status);
  }
  static FakeAnswer Version(const std::string& api, const std::string& least = "1.12",
                            const std::string& component = "Engine") {
    return Json("{\"Components\":[{\"Name\":\"" + component +
                "\"}],\"Version\":\"20.10.24\",\"ApiVersion\":\"" + api +
                "\",\"MinAPIVersion\":\"" + least + "\"}");
  }
  // The answer of an engine that has no images and no containers.
  static FakeAnswer Usual(const FakeRequest& request) {
    if (request.path == "/version") return Version("1.41");
    if (request.path == "/info") {
      return Json(R"({"CgroupVersion":"2","Architecture":"x86_64","MemTotal":8000000000,)"
                  R"("Runtimes":{"runc":{}},"SecurityOptions":["name=seccomp"]})");
    }
    if (request.path == "/images/json" || request.path == "/containers/json") return Json("[]");
    return Failure(404, "no such thing: " + request.path);
  }
  // One frame of a multiplexed stream.
  static std::string Frame(int stream, std::string_view bytes) {
    std::string frame(8, '\0');
    frame[0] = static_cast<char>(stream);
    for (int i = 0; i < 4; ++i) frame[4 + i] = static_cast<char>(bytes.size() >> (24 - 8 * i));
    return frame += bytes;
  }
  static void Say(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
  }
  // Reads until the peer is gone.
  static void Hang(int fd) {
    char byte[4096];
    while (::recv(fd, byte, sizeof byte, 0) > 0) {
    }
  }

 private:
  struct Connection {
    UniqueFd fd;
    std::thread thread;
  };

  void Listen() {
    for (;;) {
      const int fd = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      const std::lock_guard lock(mutex_);
      Connection& connection = connections_.emplace_back();
      connection.fd.Reset(fd);
      connection.thread = std::thread([this, fd] {
        Serve(fd);
        ::shutdown(fd, SHUT_RDWR);
      });
    }
  }

  void Serve(int fd) {
    FakeRequest request;
    std::string rest;
    if (!ReadRequest(fd, &request, &rest)) return;
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
    }
    FakeAnswer answer = handler_ ? handler_(request) : FakeAnswer{.status = 0};
    if (answer.status == 0) answer = Usual(request);
    std::string text = "HTTP/1.1 " + std::to_string(answer.status) + " Fake\r\n";
    for (const auto& [name, value] : answer.headers) text += name + ": " + value + "\r\n";
    if (answer.status == 101) text += "Connection: Upgrade\r\nUpgrade: tcp\r\n";
    if (answer.with_length && answer.status != 101 && answer.status != 204) {
      text += "Content-Length: " + std::to_string(answer.body.size()) + "\r\n";
    }
    Say(fd, text + "\r\n" + answer.body);
    if (answer.then) answer.then(fd);
  }

  static bool ReadMore(int fd, std::string* text) {
    char piece[65536];
    const ssize_t n = ::recv(fd, piece, sizeof piece, 0);
    if (n > 0) text->append(piece, static_cast<size_t>(n));
    return n > 0;
  }

  static bool ReadRequest(int fd, FakeRequest* request, std::string* text) {
    size_t end;
    while ((end = text->find("\r\n\r\n")) == std::string::npos) {
      if (!ReadMore(fd, text)) return false;
    }
    std::vector<std::string> lines = Split(text->substr(0, end), '\n');
    text->erase(0, end + 4);
    const std::vector<std::string> words = Split(Trim(lines[0]), ' ');
    TENON_CHECK(words.size() == 3);
    request->method = words[0];
    TakeTarget(words[1], request);
    for (size_t i = 1; i < lines.size(); ++i) {
      const size_t colon = lines[i].find(':');
      TENON_CHECK(colon != std::string::npos);
      request->headers[ToLower(lines[i].substr(0, colon))] =
          std::string(Trim(std::string_view(lines[i]).substr(colon + 1)));
    }
    if (request->headers.contains("transfer-encoding")) return ReadChunks(fd, request, text);
    const auto length = request->headers.find("content-length");
    const size_t size = length == request->headers.end() ? 0 : std::stoul(length->second);
    while (text->size() < size) {
      if (!ReadMore(fd, text)) return false;
    }
    request->body = text->substr(0, size);
    text->erase(0, size);
    return true;
  }

  static bool ReadChunks(int fd, FakeRequest* request, std::string* text) {
    for (;;) {
      size_t end;
      while ((end = text->find("\r\n")) == std::string::npos) {
        if (!ReadMore(fd, text)) return false;
      }
      const size_t size = std::stoul(text->substr(0, end), nullptr, 16);
      text->erase(0, end + 2);
      while (text->size() < size + 2) {
        if (!ReadMore(fd, text)) return false;
      }
      request->body += text->substr(0, size);
      text->erase(0, size + 2);
      if (size == 0) return true;
    }
  }

  static std::string Unescape(std::string_view text) {
    std::string out;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '%' && i + 2 < text.size()) {
        out += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
        i += 2;
      } else {
        out += text[i];
      }
    }
    return out;
  }

  static void TakeTarget(const std::string& target, FakeRequest* request) {
    request->target = target;
    const size_t mark = target.find('?');
    std::string path = target.substr(0, mark);
    if (path.starts_with("/v1.")) {
      const size_t slash = path.find('/', 1);
      request->version = path.substr(2, slash - 2);
      path.erase(0, slash);
    }
    request->path = Unescape(path);
    if (mark == std::string::npos) return;
    for (const std::string& part : Split(target.substr(mark + 1), '&')) {
      const size_t equals = part.find('=');
      request->query[part.substr(0, equals)] = Unescape(part.substr(equals + 1));
    }
  }

  Handler handler_;
  TempFolder folder_;
  std::string socket_;
  UniqueFd listener_;
  std::thread thread_;
  mutable std::mutex mutex_;  // guards the rest
  std::vector<FakeRequest> requests_;
  std::list<Connection> connections_;
};

// Gives `answer` to every request but /version.
inline FakeEngine::Handler Always(FakeAnswer answer) {
  return [answer](const FakeRequest& request) {
    return request.path == "/version" ? FakeAnswer{.status = 0} : answer;
  };
}

inline Engine ConnectTo(const FakeEngine& fake) {
  auto engine = Engine::Connect(fake.socket());
  TENON_CHECK(engine.ok());
  return *std::move(engine);
}

}  // namespace tenon::docker

#endif  // TENON_DOCKER_FAKE_ENGINE_H_
