// SPDX-License-Identifier: Apache-2.0
#include "executor/sized_text.h"

#include <unistd.h>

#include <cerrno>
#include <charconv>

#include "base/file.h"

namespace tenon::executor {
namespace {

constexpr size_t kLongest = 64u << 20;

}  // namespace

Status WriteSized(int fd, std::string_view text) {
  return WriteAll(fd, std::to_string(text.size()) + "\n" + std::string(text));
}

Result<std::string> ReadSized(int fd) {
  auto read_byte = [fd](char* byte) -> Status {
    ssize_t count = 0;
    do {
      count = ::read(fd, byte, 1);
    } while (count < 0 && errno == EINTR);
    if (count < 0) return FromErrno("reading what to do", errno);
    if (count == 0) return Unavailable("reading what to do: it ended early");
    return {};
  };
  std::string length;
  for (char byte = 0; byte != '\n';) {
    TENON_TRY_VOID(read_byte(&byte));
    if (byte != '\n') length += byte;
    if (length.size() > 12) return Invalid("reading what to do: no length");
  }
  size_t size = 0;
  auto [end, code] = std::from_chars(length.data(), length.data() + length.size(), size);
  if (code != std::errc() || end != length.data() + length.size() || size > kLongest) {
    return Invalid("reading what to do: no length");
  }
  std::string text(size, '\0');
  for (size_t done = 0; done < size;) {
    ssize_t count = ::read(fd, text.data() + done, size - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return FromErrno("reading what to do", errno);
    if (count == 0) return Unavailable("reading what to do: it ended early");
    done += static_cast<size_t>(count);
  }
  return text;
}

}  // namespace tenon::executor
