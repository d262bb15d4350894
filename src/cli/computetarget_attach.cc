// SPDX-License-Identifier: Apache-2.0
// New targets, and changes to those that are there: attach, update.
#include <CLI/CLI.hpp>
#include <map>
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/config_files.h"
#include "cli/print.h"
#include "project/attach.h"
#include "project/target.h"

namespace tenon::cli {
namespace {

struct AttachOptions {
  project::AttachRequest request;
  std::string type_word;    // attach TYPE
  std::string type_option;  // --type TYPE, to November 2017
  std::string password, key_file, key_passphrase;
  bool cluster = false, make_key = false;
};

// Two grammars, and none at all: then a container on a machine was meant.
Result<std::string> TypeSaid(const AttachOptions& options) {
  std::vector<std::string> said;
  if (!options.type_word.empty()) said.push_back(options.type_word);
  if (!options.type_option.empty()) said.push_back(options.type_option);
  if (options.cluster) said.push_back("cluster");
  for (const std::string& word : said) {
    if (word != said.front()) {
      return Invalid("two types are named: " + said.front() + " and " + word);
    }
  }
  return said.empty() ? std::string("remotedocker") : said.front();
}

void SayAboutSecrets(const AttachOptions& options) {
  std::vector<std::string> given;
  if (!options.password.empty()) given.push_back("the password");
  if (!options.key_file.empty()) given.push_back("the private key");
  if (!options.key_passphrase.empty()) given.push_back("the passphrase");
  if (!given.empty()) {
    PrintErr("note: " + Join(given, " and ") + (given.size() > 1 ? " were" : " was") +
             " not stored: secrets come with SSH support, and never go into a project's file\n");
  }
  if (options.make_key) {
    PrintErr("note: no key was made: keys come with SSH support\n");
  }
}

Result<int> DoAttach(Session& session, AttachOptions options) {
  TENON_TRY(options.request.type, TypeSaid(options));
  TENON_TRY(const project::Project project, OpenFiles(session));
  TENON_TRY(const project::Attached attached, project::Attach(project, options.request));
  const std::string& name = options.request.name;
  if (session.WantsJson()) {
    json::Array files;
    for (const std::string& file : attached.files) files.emplace_back(json::EncodeBytes(file));
    PrintListing(session,
                 json::Object{{"name", json::EncodeBytes(name)},
                              {"type", attached.type},
                              {"framework", attached.framework},
                              {"files", std::move(files)}},
                 Table({}));
  } else {
    for (const std::string& file : attached.files) PrintOut("wrote " + ForTerminal(file) + "\n");
  }
  FlushOut();
  SayAboutSecrets(options);
  const bool here = options.request.address.empty();
  if (!here) PrintErr("note: the machine was not contacted; that comes with SSH support\n");
  if (attached.framework == "PySpark") {
    PrintErr(
        "note: the run configuration says Framework: PySpark; for a plain Python script: tenon "
        "config set Framework Python -c " +
        ShellQuote(name) + "\n");
  }
  return 0;
}

void DeclareAttach(CLI::App& app, AttachOptions* options) {
  project::AttachRequest& request = options->request;
  app.add_option("TYPE", options->type_word, "local, docker, remotedocker, remote or cluster");
  app.add_option("-n,--name", request.name, "The target's name; also of its run configuration")
      ->type_name("NAME")
      ->required();
  app.add_option("-t,--type", options->type_option, "The type, as it was said to November 2017")
      ->type_name("TYPE");
  app.add_flag("--cluster", options->cluster, "The same as --type cluster, as said in mid-2017");
  app.add_option("-a,--address", request.address, "IP address or name of the machine")
      ->type_name("HOST");
  app.add_option("-u,--username", request.username, "User on that machine")->type_name("USER");
  app.add_option("-w,--password", options->password,
                 "Its password; never written into a project's file")
      ->type_name("PASSWORD");
  app.add_flag("-k,--use-azureml-ssh-key", options->make_key, "Make a key pair for this target");
  app.add_option("--private-key-file", options->key_file, "Log in with this key")
      ->type_name("FILE");
  app.add_option("--private-key-passphrase", options->key_passphrase, "The key's passphrase")
      ->type_name("TEXT");
  app.add_option("--python", request.python, "pythonLocation of a local or remote target")
      ->type_name("PATH");
  app.add_option("--framework", request.framework,
                 "Python or PySpark (Python here, PySpark on other machines, as it was)")
      ->type_name("NAME");
  app.add_flag("--force", request.force, "Overwrite files of that name");
}

// ---- update ------------------------------------------------------------------------------------

struct UpdateOptions {
  std::string name;
  std::map<std::string, std::string> values;  // by key, for the parser
  std::vector<std::pair<std::string, CLI::Option*>> keys;
  std::vector<std::string> unset;
};

Result<int> Update(Session& session, const UpdateOptions& options) {
  std::vector<std::pair<std::string, std::optional<std::string>>> values;
  for (const auto& [key, option] : options.keys) {
    if (option->count() > 0) values.emplace_back(key, options.values.at(key));
  }
  for (const std::string& key : options.unset) values.emplace_back(key, std::nullopt);
  if (values.empty()) {
    return Invalid("nothing is to be changed")
        .WithHint("name a key of the file: `tenon computetarget update " + options.name +
                  " --nvidiaDocker true`");
  }
  TENON_TRY(const project::Project project, OpenFiles(session));
  TENON_TRY(const auto changes, project::UpdateTarget(project, options.name, values));
  PrintChanges(session, changes);
  return 0;
}

}  // namespace

Command ComputeTargetAttachCommand() {
  return {
      {{"computetarget", "attach"}, {"computecontext", "attach"}},
      "Make a machine known to the project as a target",
      "Writes NAME.compute and NAME.runconfig into aml_config/, in the form of 2018; files that "
      "are there are left alone unless --force. Without a type, remotedocker is meant. No "
      "password is written.",
      {"tenon computetarget attach docker -n docker",
       "tenon computetarget attach local -n py36 --python /opt/py36/bin/python",
       "tenon computetarget attach remotedocker -n my_dsvm -a 203.0.113.7 -u me",
       "tenon computetarget attach --name my_dsvm --address 203.0.113.7 --username me --type "
       "remotedocker"},
      [](CLI::App& app, const std::vector<std::string>&) -> Action {
        auto options = std::make_shared<AttachOptions>();
        DeclareAttach(app, options.get());
        return [options](Session& session) { return DoAttach(session, *options); };
      }};
}

Command ComputeTargetUpdateCommand() {
  return {{{"computetarget", "update"}},
          "Change settings of a target",
          "Any key of its file, several at once: all are written or none. Every other byte of the "
          "file stays.",
          {"tenon computetarget update my_dsvm --nvidiaDocker true",
           "tenon computetarget update my_dsvm --address 203.0.113.8 --username me",
           "tenon computetarget update my_dsvm --unset password"},
          [](CLI::App& app, const std::vector<std::string>&) -> Action {
            auto options = std::make_shared<UpdateOptions>();
            app.add_option("NAME,-n,--name", options->name, "The target")->required();
            for (const project::Key& key : project::TargetKeys()) {
              const std::string name(key.name);
              if (name == "cluster" || name == "native") continue;  // of the oldest files
              const bool boolean = key.expected == project::Expected::kBool;
              CLI::Option* option =
                  app.add_option("--" + name, options->values[name], "New value of " + name)
                      ->type_name(boolean ? "true|false" : "TEXT")
                      ->ignore_case();
              options->keys.emplace_back(name, option);
            }
            app.add_option("--unset", options->unset, "Take this key away (may be repeated)")
                ->type_name("KEY")
                ->allow_extra_args(false);
            return [options](Session& session) { return Update(session, *options); };
          }};
}

}  // namespace tenon::cli
