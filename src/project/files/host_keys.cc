// SPDX-License-Identifier: Apache-2.0
#include "project/files/host_keys.h"

#include <charconv>

#include "base/text.h"

namespace tenon::project {
namespace {

constexpr int64_t kLeastIdleUs = int64_t{60} * 1'000'000;

Error Found(const std::string& key, const std::string& expected, const std::string& text,
            const std::string& hint) {
  return Invalid(key + ": expected " + expected + ", found `" + ForTerminal(text) + "`")
      .WithHint(hint);
}

bool IsOneLine(const std::string& text) {
  return !Trim(text).empty() && text.find_first_of(std::string("\n\r\0", 3)) == std::string::npos;
}

}  // namespace

Result<int64_t> ParsePort(const std::string& text) {
  int64_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  const bool read = error == std::errc() && end == text.data() + text.size();
  if (read && port >= 1 && port <= 65535) return port;
  return Found("port", "a number from 1 to 65535", text, "write `22`");
}

Result<std::string> ParseTenonDirectory(const std::string& text) {
  if (text.starts_with('/') && IsOneLine(text) && Trim(text) == text) return text;
  return Found("tenonDirectory", "an absolute path on the machine", text,
               "write `/scratch/me/tenon`");
}

Result<std::string> ParseSetupLine(const std::string& text) {
  if (IsOneLine(text)) return text;
  return Found("setup", "a line for the shell", text, "write `module load cuda`");
}

Result<int64_t> ParseIdleAfter(const std::string& text) {
  const std::optional<int64_t> us = ParseDuration(text);
  if (us && *us >= kLeastIdleUs) return *us;
  return Found("whenIdle.after", "a time of a minute or more", text, "write `30m` or `2h`");
}

Result<std::string> ParseIdleCommand(const std::string& text) {
  if (IsOneLine(text)) return text;
  return Found("whenIdle.run", "a command", text, "write `sudo shutdown -h now`");
}

Status CheckHostKey(const std::string& key, const std::string& member, const std::string& value) {
  const auto check = [&](auto parse) -> Status {
    auto parsed = parse(value);
    if (!parsed.ok()) return std::move(parsed).error();
    return {};
  };
  if (key == "port") return check(ParsePort);
  if (key == "tenonDirectory") return check(ParseTenonDirectory);
  if (key == "setup") return check(ParseSetupLine);
  if (key != "whenIdle" || member.empty()) return {};
  if (member == "after") return check(ParseIdleAfter);
  if (member == "run") return check(ParseIdleCommand);
  return Invalid("whenIdle has no member `" + ForTerminal(member) + "`")
      .WithHint("it has after and run");
}

}  // namespace tenon::project
