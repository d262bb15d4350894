// SPDX-License-Identifier: Apache-2.0
// Any words as a command line, one word per line. The first byte chooses the name of the program
// and whether only the commands that the words can mean get their options. Words are either
// understood or refused with a sentence. No action is called, so nothing is carried out.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/text.h"
#include "cli/parse/command_line.h"
#include "cli/parse/not_here.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  using tenon::cli::Line;
  const auto program = data[0] % 2 ? tenon::cli::Program::kAz : tenon::cli::Program::kTenon;
  std::vector<std::string> words;
  for (std::string& word :
       tenon::Split(std::string_view(reinterpret_cast<const char*>(data) + 1, size - 1), '\n')) {
    // an argument of a program can't contain a NUL
    word.resize(std::min(word.size(), word.find('\0')));
    words.push_back(std::move(word));
  }
  if (words.size() > 64) return 0;
  (void)tenon::cli::FindNotHere(words, program);
  tenon::cli::Session session;
  tenon::cli::CommandLine command_line(session, program, data[0] & 2 ? &words : nullptr);
  const Line line = command_line.Parse(words);
  switch (line.kind) {
    case Line::Kind::kAct:
      TENON_CHECK(line.action);
      break;
    case Line::Kind::kPrint:
    case Line::Kind::kWhich:
      TENON_CHECK(!line.text.empty() && !line.action);
      break;
    case Line::Kind::kUsage:
      TENON_CHECK(!line.error.message.empty() && !line.error.hint.empty() && !line.action);
      break;
  }
  return 0;
}
