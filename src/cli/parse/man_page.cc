// SPDX-License-Identifier: Apache-2.0
#include "cli/parse/man_page.h"

#include <cstdio>

#include "base/text.h"
#include "cli/parse/command_tree.h"
#include "cli/parse/parser.h"
#include "version.h"

namespace tenon::cli {
namespace {

// The date that each page must show: when the manual's text outside the table last changed.
constexpr std::string_view kDate = "2025-11-15";

std::string Bold(std::string_view text) { return "\\fB" + ManText(text) + "\\fR"; }
std::string Italic(std::string_view text) { return "\\fI" + ManText(text) + "\\fR"; }

// Lines of text, with blank lines as paragraph breaks.
std::string Paragraph(std::string_view text) {
  std::string page;
  for (const std::string& part : Split(text, '\n')) {
    page += part.empty() ? ".PP\n" : ManText(part) + "\n";
  }
  return page;
}

std::string Head(const std::string& name, const std::string& summary) {
  std::string title;
  for (const char c : name) {
    title += c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  }
  return ".TH " + ManText(title) + " 1 " + std::string(kDate) +
         " \"tenon " TENON_VERSION "\" \"Tenon\"\n.SH NAME\n" + ManText(name) + " \\- " +
         ManText(summary) + "\n";
}

std::string Synopsis(const CommandNode& node, const std::string& said) {
  const std::string usage = UsageLine(node);
  const std::string_view rest =
      usage.starts_with(said) ? std::string_view(usage).substr(said.size()) : usage;
  return ".SH SYNOPSIS\n" + Bold(said) + " " + ManText(Trim(rest)) + "\n";
}

std::string OptionItem(const Option& option) {
  std::string names;
  if (option.is_option()) {
    for (const std::string& name : option.short_names()) {
      names += (names.empty() ? "" : ", ") + Bold("-" + name);
    }
    for (const std::string& name : option.long_names()) {
      names += (names.empty() ? "" : ", ") + Bold("--" + name);
    }
    if (option.takes_value()) names += " " + Italic(option.type());
  } else {
    names = Italic(option.argument());
  }
  return ".TP\n" + names + "\n" + ManText(option.help()) + "\n";
}

std::string OptionItems(const CommandNode& node, bool global) {
  std::string arguments, options;
  for (const Option& option : node.options.options()) {
    if (option.global() != global) continue;
    (option.is_option() ? options : arguments) += OptionItem(option);
  }
  return arguments + options;
}

std::string ExamplesOf(const Command& command) {
  if (command.examples.empty()) return "";
  std::string page = ".SH EXAMPLES\n.nf\n";
  for (const std::string& example : command.examples) page += ManText(example) + "\n";
  return page + ".fi\n";
}

std::string AlsoCalled(const Command& command) {
  if (command.words.size() < 2) return "";
  std::string page = ".PP\nThe same is said by\n";
  for (size_t i = 1; i < command.words.size(); ++i) {
    const bool last = i + 1 == command.words.size();
    page += Bold("tenon " + Join(command.words[i], " ")) + (last ? ".\n" : ",\n");
  }
  return page;
}

constexpr std::string_view kExitCodes =
    ".SH EXIT STATUS\n"
    ".TP\n0\nDone.\n.TP\n1\nFailed.\n.TP\n2\nWrong words, or wrong input.\n"
    ".TP\n3\nNot found.\n.TP\n4\nNot available now; may work later.\n.TP\n5\nNot allowed.\n"
    ".PP\nsubmit and rerun exit with the code of the script; 125 when it could not be started,\n"
    "143 when it was canceled, 124 after \\-\\-timeout, 130 after Ctrl\\-C.\n";

constexpr std::string_view kFiles =
    ".SH ENVIRONMENT\n"
    ".TP\nTENON_HOME\nWhere everything is kept; ~/.tenon without it.\n"
    ".TP\nNO_COLOR\nSet and not empty: no colours.\n"
    ".SH FILES\n"
    ".TP\naml_config/NAME.runconfig\nHow a script runs.\n"
    ".TP\naml_config/NAME.compute\nWhere it runs.\n"
    ".TP\n~/.tenon\nThe record of all runs.\n";

std::string PageName(const Command& command) { return "tenon-" + Join(command.words[0], "-"); }

std::string RootPage(const CommandNode& root, const std::vector<Command>& commands) {
  std::string page = Head("tenon", "run Python projects and keep a record of every run");
  page += ".SH SYNOPSIS\n" + Bold("tenon") + " " + Italic("COMMAND") +
          " [OPTIONS]\n.SH DESCRIPTION\n" + Paragraph(root.description);
  page += "Every command has a page of its own, and says the same with\n" + Bold("--help") + ".\n";
  page += ".SH COMMANDS\n";
  for (const Command& command : commands) {
    page += ".TP\n" + Bold("tenon " + Join(command.words[0], " ")) + "\n" +
            ManText(command.summary + ".") + "\n";
  }
  page += ".SH OPTIONS OF EVERY COMMAND\n";
  if (!root.children.empty()) page += OptionItems(*root.children.front(), true);
  page += std::string(kExitCodes) + std::string(kFiles) + ".SH SEE ALSO\n";
  for (size_t i = 0; i < commands.size(); ++i) {
    page +=
        ".BR " + ManText(PageName(commands[i])) + (i + 1 == commands.size() ? " (1)\n" : " (1),\n");
  }
  return page;
}

const CommandNode* Find(const CommandNode& root, const std::vector<std::string>& words) {
  const CommandNode* node = &root;
  for (const std::string& word : words) {
    node = node->Find(word);
    if (!node) return nullptr;
  }
  return node;
}

std::string CommandPage(const CommandNode& node, const Command& command) {
  const std::string said = "tenon " + Join(command.words[0], " ");
  std::string page = Head(PageName(command), command.summary);
  page += Synopsis(node, said) + ".SH DESCRIPTION\n" + ManText(command.summary + ".") + "\n";
  if (!command.description.empty()) page += ".PP\n" + Paragraph(command.description);
  page += AlsoCalled(command);
  page += ".SH OPTIONS\n" + OptionItems(node, false) + ".SH GLOBAL OPTIONS\n" +
          OptionItems(node, true) + ExamplesOf(command);
  return page + ".SH SEE ALSO\n.BR tenon (1)\n";
}

// Breaks lines at 78 characters. In examples a backslash ends the broken line, so that roff joins
// it.
std::string Wrapped(const std::string& page) {
  constexpr size_t kWidth = 78;
  std::string out;
  bool filled = true;
  for (std::string line : Split(page, '\n')) {
    if (line == ".nf" || line == ".fi") filled = line == ".fi";
    while (line.size() > kWidth && !line.starts_with('.')) {
      size_t at = line.rfind(' ', kWidth);
      if (at == std::string::npos || at == 0) at = line.find(' ', kWidth);
      if (at == std::string::npos) break;
      out += filled ? line.substr(0, at) + "\n" : line.substr(0, at + 1) + "\\\n";
      line.erase(0, at + 1);
      if (filled && (line.starts_with('.') || line.starts_with('\''))) line = "\\&" + line;
    }
    out += line + "\n";
  }
  out.pop_back();
  return out;
}

}  // namespace

std::string ManText(std::string_view text) {
  std::string out;
  bool line_start = true;
  while (!text.empty()) {
    const Utf8Char next = NextUtf8(text);
    const char c = text.front();
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    line_start = c == '\n';
    if (next.code >= 0x80) {
      char buffer[16];
      std::snprintf(buffer, sizeof buffer, "\\[u%04X]", static_cast<unsigned>(next.code));
      out += buffer;
    } else if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '`') {
      out += "\\(ga";
    } else if (c == '\'') {
      out += "\\(aq";
    } else if (c == '^') {
      out += "\\(ha";
    } else if (c == '~') {
      out += "\\(ti";
    } else if (c == '"') {
      out += "\\(dq";
    } else {
      out += c;
    }
    text.remove_prefix(next.length);
  }
  return out;
}

std::vector<ManPage> MakeManPages(const CommandNode& root, const std::vector<Command>& commands) {
  std::vector<ManPage> pages = {{"tenon.1", Wrapped(RootPage(root, commands))}};
  for (const Command& command : commands) {
    if (const CommandNode* node = Find(root, command.words[0])) {
      pages.push_back({PageName(command) + ".1", Wrapped(CommandPage(*node, command))});
    }
  }
  return pages;
}

}  // namespace tenon::cli
