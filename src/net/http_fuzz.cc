// SPDX-License-Identifier: Apache-2.0
// Takes any bytes as a server's answer. They must give an answer or an Error, and the same one
// however the bytes are cut.
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "net/http_client.h"

namespace tenon::net {
namespace {

struct Outcome {
  int status = 0;
  size_t headers = 0;
  std::string body;
  bool whole = false;
  bool operator==(const Outcome&) const = default;
};

// Small enough for the socket's buffer, so nobody has to read while it is written.
constexpr size_t kMost = 32 << 10;

Outcome Take(std::string_view answer, size_t piece) {
  int ends[2];
  TENON_CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  UniqueFd peer(ends[1]);
  Outcome outcome;
  auto exchange = HttpExchange::Send(UniqueFd(ends[0]), "docker", {.target = "/"}, 1000);
  TENON_CHECK(exchange.ok());
  bool head = false, failed = false;
  for (bool more = true; more && !failed && !outcome.whole;) {
    more = !answer.empty();
    const size_t n = std::min(piece, answer.size());
    if (n > 0) {
      TENON_CHECK(::send(peer.get(), answer.data(), n, MSG_NOSIGNAL) == static_cast<ssize_t>(n));
    }
    answer.remove_prefix(n);
    if (answer.empty()) peer.Reset();
    if (!head) {
      const auto got = exchange->TryReadHead();
      failed = !got.ok();
      if (failed || !got->has_value()) continue;
      head = true;
      outcome.status = (*got)->status;
      outcome.headers = (*got)->headers.size();
    }
    for (;;) {
      auto some = exchange->TryReadSome();
      failed = !some.ok();
      if (failed || !some->has_value()) break;
      outcome.whole = (*some)->empty();
      if (outcome.whole) break;
      outcome.body += **some;
    }
  }
  TENON_CHECK(failed || outcome.whole);
  // How much of a bad answer is read before it fails depends on the pieces.
  return failed ? Outcome{} : outcome;
}

}  // namespace
}  // namespace tenon::net

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0 || size > tenon::net::kMost) return 0;
  const std::string_view answer(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto at_once = tenon::net::Take(answer, answer.size() + 1);
  const auto cut = tenon::net::Take(answer, size_t{data[0]} + 1);
  TENON_CHECK(at_once == cut);
  return 0;
}
