// SPDX-License-Identifier: Apache-2.0
// The commands set, list, remove and import of the encrypted store. They never print a value.
#include <memory>

#include "base/clock.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/ask.h"
#include "cli/print/print.h"
#include "cli/projects/config_files.h"
#include "cli/targets/target_host.h"
#include "project/attach.h"
#include "project/files/password.h"
#include "project/files/target.h"
#include "secrets/store.h"

namespace tenon::cli {
namespace {

using secrets::Store;

// The meaning of a secret's name: the login of a target's machine, or a name of the user's own.
struct Meaning {
  std::string name;   // its name in the store
  std::string about;  // description for people
  std::string host_id;
};

Result<Meaning> MeaningOf(Session& session, const std::string& word, bool passphrase) {
  const auto project = OpenFiles(session);
  if (project.ok() && project::ConfigFile(*project, word, ".compute")) {
    TENON_TRY(const project::Target target, project::ReadTarget(*project, word));
    TENON_TRY(engine::Context * context, session.Context());
    const std::string id = HostIdForTarget(context->home, target);
    if (!id.empty()) {
      const std::string who =
          target.username.value + " on " + target.address.value + " (" + word + ")";
      return passphrase ? Meaning{secrets::PassphraseName(id), "passphrase for " + who, id}
                        : Meaning{secrets::PasswordName(id), "password of " + who, id};
    }
    if (!target.unfinished.empty()) return target.unfinished.front();
  }
  if (passphrase) return NotFound("there is no target `" + OneLine(word) + "` of a machine");
  if (word.empty() || word.find_first_of("/#\n") != std::string::npos) {
    return Invalid("`" + OneLine(word) + "` is neither a target nor can it be a secret's name");
  }
  return Meaning{word, "", ""};
}

Result<Store> OpenStore(Session& session) {
  TENON_TRY(const std::string home, session.HomePath());
  return Store(home);
}

// ---- set ---------------------------------------------------------------------------------------

struct SetOptions {
  std::string name;
  bool from_input = false, passphrase = false;
};

Result<std::string> ReadValue(const SetOptions& options, const Meaning& meaning) {
  if (options.from_input || !HasTerminal()) return ReadSecretFromInput("--stdin");
  const std::string what = meaning.about.empty() ? meaning.name : meaning.about;
  const auto typed = AskLine("Secret (" + what + "): ", true);
  if (!typed || typed->empty()) return Invalid("nothing was typed, so nothing was stored");
  return *typed;
}

Result<int> Set(Session& session, const SetOptions& options) {
  TENON_TRY(const Meaning meaning, MeaningOf(session, options.name, options.passphrase));
  TENON_TRY(const std::string value, ReadValue(options, meaning));
  TENON_TRY(engine::Context * context, session.Context());
  TENON_TRY_VOID(engine::EnsureHome(context->home));
  TENON_TRY(Store store, OpenStore(session));
  TENON_TRY_VOID(store.Set(meaning.name, value, meaning.about));
  if (!meaning.host_id.empty() && !options.passphrase) {
    const Status known = engine::UpdateHost(
        context->home, meaning.host_id, [](engine::HostRecord& host) { host.has_password = true; });
    if (!known.ok() && known.error().kind != ErrorKind::kNotFound) return known.error();
  }
  if (session.WantsJson()) {
    PrintListing(session, json::Object{{"name", json::EncodeBytes(meaning.name)}}, Table({}));
  }
  PrintErr("stored " + OneLine(meaning.about.empty() ? meaning.name : meaning.about) + ": " +
           OneLine(store.Where()) + "\n");
  return 0;
}

// ---- list, remove -------------------------------------------------------------------------------

Result<int> List(Session& session) {
  TENON_TRY(Store store, OpenStore(session));
  TENON_TRY(const auto entries, store.List());
  json::Array array;
  Table table({{"Name"}, {"About"}, {"Set"}});
  for (const Store::Entry& entry : entries) {
    const std::string when = FormatUtc(entry.set_us);
    array.push_back(json::Object{{"name", json::EncodeBytes(entry.name)},
                                 {"about", json::EncodeBytes(entry.about)},
                                 {"set_utc", when}});
    table.Add({OneLine(entry.name), OneLine(entry.about), when});
  }
  PrintListing(session, array, table);
  FlushOut();
  if (!session.WantsJson()) PrintErr(OneLine(store.Where()) + "\n");
  return 0;
}

Result<int> Remove(Session& session, const std::string& word, bool passphrase) {
  TENON_TRY(Store store, OpenStore(session));
  std::string name = word;
  const Result<Meaning> meaning = MeaningOf(session, word, passphrase);
  if (meaning.ok()) name = meaning->name;
  Status removed = store.Remove(name);
  if (!removed.ok()) return std::move(removed).error();
  if (meaning.ok() && !meaning->host_id.empty() && !passphrase) {
    TENON_TRY(engine::Context * context, session.Context());
    const Status known =
        engine::UpdateHost(context->home, meaning->host_id,
                           [](engine::HostRecord& host) { host.has_password = false; });
    if (!known.ok() && known.error().kind != ErrorKind::kNotFound) return known.error();
  }
  if (session.WantsJson()) {
    PrintListing(session, json::Object{{"removed", json::EncodeBytes(name)}}, Table({}));
  } else {
    PrintOut("removed " + OneLine(name) + "\n");
  }
  return 0;
}

// ---- import -------------------------------------------------------------------------------------

// Writes the store first and the file second, so that the password is never lost.
Result<bool> ImportOne(Session& session, const project::Project& project, const std::string& name) {
  TENON_TRY(const project::Target target, project::ReadTarget(project, name));
  if (target.password.value != project::PasswordForm::kClearText) return false;
  TENON_TRY(const engine::HostRecord host, HostForTarget(session, project, target));
  TENON_TRY(const auto password, project::ReadClearTextPassword(project, name));
  TENON_TRY(Store store, OpenStore(session));
  TENON_TRY_VOID(store.Set(secrets::PasswordName(host.id), *password,
                           "password of " + host.user + " on " + host.address + " (" + name + ")"));
  TENON_TRY_VOID(project::ReplaceClearTextPassword(
      project, name, project::PasswordReference(name, host.user, host.id)));
  return true;
}

Result<int> Import(Session& session, const std::vector<std::string>& asked) {
  TENON_TRY(const project::Project project, OpenFiles(session));
  std::vector<std::string> names = asked;
  if (names.empty()) {
    for (const auto& entry : project::ListTargets(project)) {
      if (!entry.file.empty() && !entry.error) names.push_back(entry.name);
    }
  }
  json::Array moved;
  for (const std::string& name : names) {
    TENON_TRY(const bool done, ImportOne(session, project, name));
    if (!done) {
      if (!asked.empty()) {
        return NotFound("the file of target `" + OneLine(name) + "` has no password in clear text");
      }
      continue;
    }
    moved.emplace_back(json::EncodeBytes(name));
    if (!session.WantsJson()) {
      PrintOut("moved the password of " + OneLine(name) + " into the store\n");
    }
  }
  if (session.WantsJson()) {
    PrintListing(session, moved, Table({}));
  } else if (moved.empty()) {
    PrintErr("no file has a password in clear text\n");
  } else {
    PrintErr(
        "note: copies of the files, and their history in Git, still have it: change the "
        "password on the machine, then `tenon secrets set`\n");
  }
  return 0;
}

}  // namespace

Command SecretsSetCommand() {
  return {{{"secrets", "set"}},
          "Store a secret, encrypted",
          "For a target of the project: the password of its login. Any other name is a secret of "
          "your own. It is asked for on the terminal, or read from standard input.",
          {"tenon secrets set my_dsvm", "tenon secrets set my_dsvm --stdin < file"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            auto options = std::make_shared<SetOptions>();
            table.Add("NAME", &options->name, "A target, or a name of your own").Required();
            table.Flag("--stdin", &options->from_input, "Read it from standard input");
            table.Flag("--passphrase", &options->passphrase,
                       "It is the passphrase of the target's private key");
            return [options](Session& session) { return Set(session, *options); };
          }};
}

Command SecretsListCommand() {
  return {{{"secrets", "list"}},
          "List what is stored, never the values",
          "",
          {"tenon secrets list", "tenon secrets list --json"},
          [](OptionTable&, const std::vector<std::string>&) -> Action {
            return [](Session& session) { return List(session); };
          }};
}

Command SecretsRemoveCommand() {
  return {
      {{"secrets", "remove"}},
      "Remove a secret from the store",
      "NAME is a target, or a name as `secrets list` shows it.",
      {"tenon secrets remove my_dsvm"},
      [](OptionTable& table, const std::vector<std::string>&) -> Action {
        auto name = std::make_shared<std::string>();
        auto passphrase = std::make_shared<bool>(false);
        table.Add("NAME", name.get(), "A target or a secret's name").Required();
        table.Flag("--passphrase", passphrase.get(), "The passphrase of the target's private key");
        return [name, passphrase](Session& session) { return Remove(session, *name, *passphrase); };
      }};
}

Command SecretsImportCommand() {
  return {{{"secrets", "import"}},
          "Move passwords in clear text out of the project's files",
          "Each goes into the encrypted store, and a reference takes its place in the .compute "
          "file; every other byte stays. Without a name: all targets of the project.",
          {"tenon secrets import", "tenon secrets import my_dsvm"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            auto names = std::make_shared<std::vector<std::string>>();
            table.Add("TARGET", names.get(), "The targets");
            return [names](Session& session) { return Import(session, *names); };
          }};
}

}  // namespace tenon::cli
