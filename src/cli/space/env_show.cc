// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "base/clock.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/facts.h"
#include "cli/print/print.h"
#include "cli/space/env_name.h"

namespace tenon::cli {
namespace {

constexpr size_t kRunsShown = 20;

struct Options {
  std::string name = "last";
};

json::Object ToJson(const NamedEnvironment& found) {
  json::Object object;
  if (found.listed) object = found.listed->ToJson();
  object["ready"] = run::EventToJson(found.ready);
  if (found.run) object["run_id"] = json::EncodeBytes(found.run->spec.id);
  object["present"] = found.listed.has_value();
  return object;
}

std::string FactsText(const NamedEnvironment& found, int64_t now_us) {
  const run::EnvironmentReady& ready = found.ready;
  Facts facts;
  facts.Add("Key", ready.key);
  facts.Add("Kind", ready.kind);
  facts.Add("Name", OneLine(ready.name));
  facts.Add("Base", OneLine(ready.base) +
                        (ready.base_id.empty() ? "" : " (" + OneLine(ready.base_id) + ")"));
  facts.Add("Python", OneLine(ready.python_version));
  facts.Add("Asked for by", OneLine(ready.file));
  facts.Add("Packages", std::to_string(ready.packages.size()));
  if (ready.bytes > 0) facts.Add("Size", HumanBytes(ready.bytes));
  if (found.listed) {
    const run::ListedEnvironment& listed = *found.listed;
    facts.Add("Engine", OneLine(listed.record.socket));
    facts.Add("Made", TimeLine(listed.record.created_us, now_us) + ", in " +
                          HumanDuration(listed.record.duration_us));
    facts.Add("Last use", listed.in_use ? "in use now" : TimeLine(listed.last_used_us, now_us));
  } else if (!ready.key.empty()) {
    facts.Add("Still there", "no; the next run that needs it makes it again");
  }
  return facts.ToText();
}

std::string AskedText(const run::Packages& asked) {
  Facts facts;
  if (!asked.python.empty()) facts.Add("python" + OneLine(asked.python), asked.python_where);
  for (const std::string& channel : asked.channels) facts.Add(OneLine(channel), "channel");
  for (const auto* list : {&asked.conda, &asked.pip_options, &asked.pip}) {
    for (const run::Package& package : *list) {
      facts.Add(OneLine(package.text), package.where.empty() ? asked.file : OneLine(package.where));
    }
  }
  for (const run::PackageFile& file : asked.files) {
    facts.Add(OneLine(file.path), "sha256 " + file.hash.substr(0, kKeyDigits));
  }
  return facts.ToText();
}

void PrintPage(const NamedEnvironment& found, int64_t now_us) {
  const bool color = ColorOut();
  auto heading = [&](const char* title) {
    return "\n" + Styled(title, Style::kBold, color) + "\n";
  };
  std::string text = Styled(found.name, Style::kBold, color) + "\n" + FactsText(found, now_us);
  const run::Packages* asked = found.run      ? &found.run->spec.packages
                               : found.listed ? &found.listed->record.packages
                                              : nullptr;
  if (asked) {
    const std::string lines = AskedText(*asked);
    if (!lines.empty()) text += heading("Asked for") + lines;
  }
  if (!found.ready.packages.empty()) {
    Table table({{"Package"}, {"Version"}, {"From"}});
    for (const run::InstalledPackage& package : found.ready.packages) {
      table.Add({OneLine(package.name), OneLine(package.version), OneLine(package.source)});
    }
    text += heading("Installed") + table.ToText(TerminalWidth(), color);
  }
  if (found.listed && !found.listed->runs.empty()) {
    const auto& runs = found.listed->runs;
    text += heading("Runs");
    const size_t first = runs.size() > kRunsShown ? runs.size() - kRunsShown : 0;
    if (first > 0) text += "  " + Count(first, "older one", "older ones") + "\n";
    for (size_t i = first; i < runs.size(); ++i) text += "  " + OneLine(runs[i]) + "\n";
  }
  PrintOut(text);
}

Result<int> Act(Session& session, const Options& options) {
  TENON_TRY(const NamedEnvironment found, FindNamedEnvironment(session, options.name));
  TENON_TRY(engine::Context * context, session.Context());
  if (session.WantsJson()) {
    PrintValue(session, ToJson(found));
  } else {
    PrintPage(found, context->clock->NowUs());
  }
  return 0;
}

}  // namespace

Command EnvShowCommand() {
  return {{{"env", "show"}},
          "Show what is in an environment, what was asked for, and which runs used it",
          "Named by its key, or by a run: then the packages are those recorded with that run. "
          "Without a name: the newest run's.",
          {"tenon env show 3f9a1c", "tenon env show last", "tenon env show 12 --json"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            auto options = std::make_shared<Options>();
            table.Add("NAME", &options->name, "Key (or its beginning), run, or `last`");
            return [options](Session& session) { return Act(session, *options); };
          }};
}

}  // namespace tenon::cli
