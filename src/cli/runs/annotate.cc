// SPDX-License-Identifier: Apache-2.0
// `tag` and `note`: the user's remarks on a run.
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "engine/run/runs.h"

namespace tenon::cli {
namespace {

struct TagOptions {
  std::string run;
  std::vector<std::string> tags;
  std::vector<std::string> remove;
};

void PrintTags(const Session& session, const journal::RunView& run) {
  json::Object object;
  Table table({{"Tag"}, {"Value"}});
  for (const auto& [name, value] : run.tags) {
    object[json::EncodeBytes(name)] = json::EncodeBytes(value);
    table.Add({OneLine(name), OneLine(value)});
  }
  if (run.tags.empty() && !session.WantsJson()) {
    PrintErr("the run " + run.spec.id + " has no tags\n");
    return;
  }
  PrintListing(session, object, table);
}

Result<int> Tag(Session& session, const TagOptions& options) {
  TENON_TRY(const std::string run_id, session.ResolveRun(options.run));
  TENON_TRY(engine::Context * context, session.Context());
  run::Annotation annotation;
  for (const std::string& tag : options.tags) {
    const size_t equals = tag.find('=');
    if (tag.empty() || equals == 0) return Invalid("a tag needs a name: NAME or NAME=VALUE");
    annotation.set_tags.emplace_back(tag.substr(0, equals),
                                     equals == std::string::npos ? "" : tag.substr(equals + 1));
  }
  annotation.remove_tags = options.remove;
  if (!annotation.set_tags.empty() || !annotation.remove_tags.empty()) {
    TENON_TRY_VOID(engine::Annotate(*context, run_id, annotation));
  }
  TENON_TRY(const journal::RunView run, engine::GetRun(*context, run_id));
  PrintTags(session, run);
  return 0;
}

struct NoteOptions {
  std::string run;
  std::vector<std::string> words;
  std::string name;
  bool hide = false, unhide = false;
};

Result<int> Note(Session& session, const NoteOptions& options) {
  TENON_TRY(const std::string run_id, session.ResolveRun(options.run));
  TENON_TRY(engine::Context * context, session.Context());
  run::Annotation annotation;
  if (!options.words.empty()) annotation.note = Join(options.words, " ");
  if (!options.name.empty()) annotation.name = options.name;
  if (options.hide || options.unhide) annotation.hidden = options.hide;
  if (annotation.note || annotation.name || annotation.hidden) {
    TENON_TRY_VOID(engine::Annotate(*context, run_id, annotation));
  }
  TENON_TRY(const journal::RunView run, engine::GetRun(*context, run_id));
  if (session.WantsJson()) {
    PrintJsonText(json::PrintPretty(json::Object{{"run_id", json::EncodeBytes(run_id)},
                                                 {"name", json::EncodeBytes(run.name)},
                                                 {"note", json::EncodeBytes(run.note)},
                                                 {"hidden", run.hidden}}) +
                  "\n");
  } else if (!run.note.empty()) {
    PrintOut(run.note + "\n");
  }
  return 0;
}

}  // namespace

Command TagCommand() {
  return {{{"tag"}},
          "Show or change the tags of a run",
          "Without tags it lists them.",
          {"tenon tag last best", "tenon tag 12 dataset=v3 best", "tenon tag 12 --remove best"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            auto options = std::make_shared<TagOptions>();
            table.Add("RUN", &options->run, "The run: id, number, beginning of an id, or `last`")
                .Required();
            table.Add("TAG", &options->tags, "NAME or NAME=VALUE");
            table.Add("--remove", &options->remove, "Take this tag off (may be repeated)")
                .Type("NAME")
                .OneEach();
            return [options](Session& session) { return Tag(session, *options); };
          }};
}

Command NoteCommand() {
  return {{{"note"}},
          "Show or change the note of a run; name or hide it",
          "",
          {"tenon note last \"learning rate too high\"", "tenon note 12 --name baseline",
           "tenon note 12 --hide"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            auto options = std::make_shared<NoteOptions>();
            table.Add("RUN", &options->run, "The run: id, number, beginning of an id, or `last`")
                .Required();
            table.Add("TEXT", &options->words, "The note; replaces the old one");
            table.Add("--name", &options->name, "Give the run a name").Type("NAME");
            Option& hide = table.Flag("--hide", &options->hide, "Leave it out of listings");
            table.Flag("--unhide", &options->unhide, "Show it in listings again").Excludes(hide);
            return [options](Session& session) { return Note(session, *options); };
          }};
}

}  // namespace tenon::cli
