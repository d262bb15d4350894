// SPDX-License-Identifier: Apache-2.0
#include "run/verbs.h"

#include <charconv>

namespace tenon::run {
namespace {

constexpr std::string_view kGreeting = "tenon-runner ";

// Parses "1 0.1.0", the protocol and the version; nullopt for any other text.
std::optional<Hello> ParseGreeting(std::string_view rest) {
  if (!rest.empty() && rest.back() == '\r') rest.remove_suffix(1);
  Hello hello;
  auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), hello.protocol);
  if (error != std::errc() || hello.protocol <= 0) return std::nullopt;
  rest.remove_prefix(static_cast<size_t>(end - rest.data()));
  if (rest.size() < 2 || rest[0] != ' ') return std::nullopt;
  hello.version = rest.substr(1);
  return hello;
}

}  // namespace

std::string HelloLine(std::string_view version) {
  return std::string(kGreeting) + std::to_string(kProtocol) + " " + std::string(version) + "\n";
}

Result<Hello> ParseHello(std::string_view output, size_t* after) {
  for (size_t begin = 0; begin < output.size();) {
    size_t end = output.find('\n', begin);
    if (end == std::string_view::npos) break;
    std::string_view line = output.substr(begin, end - begin);
    if (line.substr(0, kGreeting.size()) == kGreeting) {
      if (std::optional<Hello> hello = ParseGreeting(line.substr(kGreeting.size()))) {
        if (after != nullptr) *after = end + 1;
        return *hello;
      }
    }
    begin = end + 1;
  }
  return Unavailable("the runner did not say hello");
}

std::optional<Error> ProtocolMismatch(int ours, int theirs, std::string_view their_version) {
  if (ours == theirs) return std::nullopt;
  std::string message = "the other side (version " + std::string(their_version) +
                        ") speaks runner protocol " + std::to_string(theirs) +
                        ", this side speaks " + std::to_string(ours) + ": ";
  if (theirs > ours) {
    return Invalid(message + "this side is the older one")
        .WithHint("install version " + std::string(their_version) + " or newer here");
  }
  return Invalid(message + "the other side is the older one")
      .WithHint("submit with the newer version; a run started by version " +
                std::string(their_version) + " is reached with that version");
}

}  // namespace tenon::run
