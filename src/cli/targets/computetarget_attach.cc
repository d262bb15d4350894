// SPDX-License-Identifier: Apache-2.0
// Attaching new targets. For a machine reached by SSH: reads its host key, logs in, then writes the
// files. If the login fails, everything stays as it was.
#include <sys/stat.h>

#include <cerrno>
#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/ask.h"
#include "cli/print/print.h"
#include "cli/projects/config_files.h"
#include "cli/targets/target_host.h"
#include "project/attach.h"
#include "project/files/target.h"
#include "secrets/store.h"

namespace tenon::cli {
namespace {

using engine::GivenSecrets;
using engine::HostRecord;

struct AttachOptions {
  project::AttachRequest request;
  std::string type_word;    // attach TYPE
  std::string type_option;  // --type TYPE, as until November 2017
  std::string password, key_file, key_passphrase;
  bool password_from_input = false;
  int port = 0;
  HostKeyOptions host_key;
  bool cluster = false, make_key = false, no_check = false, yes = false;
};

// The type: from a word, --type or --cluster. Without any, a container on a machine (remotedocker).
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

// Splits host:2222 and user@host. Without a user name, asks ssh's configuration.
Status UnderstandAddress(Session& session, AttachOptions* options) {
  project::AttachRequest& request = options->request;
  if (request.address.empty()) return {};  // CheckAttach() reports this
  Result<engine::MachineAddress> address = engine::ParseMachineAddress(request.address);
  if (!address.ok()) return std::move(address).error().Wrap("--address");
  request.address = address->host;
  request.port = options->port != 0 ? options->port : address->port;
  if (options->port != 0 && address->port != 0 && options->port != address->port) {
    return Invalid("two ports are named: " + std::to_string(address->port) + " and " +
                   std::to_string(options->port));
  }
  if (!request.username.empty() && !address->user.empty() && request.username != address->user) {
    return Invalid("two users are named: " + OneLine(address->user) + " and " +
                   OneLine(request.username));
  }
  if (request.username.empty()) request.username = address->user;
  if (request.username.empty()) {
    TENON_TRY(engine::Context * context, session.Context());
    TENON_TRY(engine::OtherMachines * others, context->Others());
    TENON_TRY(request.username, others->UsualUser(request.address));
  }
  if (request.username.empty()) return {};
  const Status good = engine::CheckLoginName(request.username);
  return good.ok() ? Status() : Status(Error(good.error()).Wrap("--username"));
}

Result<std::string> KeyFilePath(const std::string& file) {
  if (file.empty()) return std::string();
  TENON_TRY(const std::string cwd, CurrentFolder());
  const std::string path = JoinPath(cwd, file);
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return FromErrno("--private-key-file " + file, errno);
  if (!S_ISREG(info.st_mode)) return Invalid("--private-key-file " + file + ": not a file");
  if (file.ends_with(".pub")) {
    return Invalid("--private-key-file " + file + ": this is the public half")
        .WithHint("name the file without .pub");
  }
  return path;
}

// The machine that the existing file of this target leads to; nullopt if there is no file or it
// leads to no machine.
Result<std::optional<HostRecord>> BeforeAttach(Session& session, const project::Project& project,
                                               const std::string& name) {
  const auto before = project::ReadTarget(project, name);
  if (!before.ok() || before->password_reference.empty()) return std::optional<HostRecord>();
  TENON_TRY(engine::Context * context, session.Context());
  HostRecord host;
  host.id = HostIdForTarget(context->home, *before);
  host.address = before->address.value;
  host.port = static_cast<int>(before->port.value);
  host.user = before->username.value;
  return std::optional<HostRecord>(std::move(host));
}

Result<GivenSecrets> SecretsOf(const AttachOptions& options) {
  GivenSecrets given;
  if (!options.password.empty() && options.password_from_input) {
    return Invalid("--password and --password-stdin exclude each other");
  }
  if (!options.password.empty() || !options.key_passphrase.empty()) {
    PrintErr(
        "warning: a secret on the command line can be seen by others on this machine and stays in "
        "the shell's history; without it you are asked, and --password-stdin reads it\n");
  }
  if (!options.password.empty()) given.password = options.password;
  if (!options.key_passphrase.empty()) given.passphrase = options.key_passphrase;
  if (options.password_from_input) {
    TENON_TRY(given.password, ReadSecretFromInput("--password-stdin"));
  }
  return given;
}

HostRecord NewHost(const project::Project& project, const AttachOptions& options,
                   const std::string& id) {
  const project::AttachRequest& request = options.request;
  HostRecord host;
  host.id = id;
  host.target = request.name;
  host.project_root = project.root;
  host.address = request.address;
  host.port = static_cast<int>(request.port);
  host.user = request.username;
  return host;
}

// For a denied password: `secrets set` can't be the hint, because the target does not exist yet.
// Uses `hint` instead.
Error ForAttach(Error error, std::string hint) {
  if (engine::WantsPassword(error)) error.hint = std::move(hint);
  return error;
}

// For -k: makes a key pair and puts the public key on the machine if the user wants that. Returns
// the line that the user has to append there, or "" if it was put there.
Result<std::string> UseOwnKey(Session& session, const AttachOptions& options, HostRecord* host,
                              GivenSecrets* given) {
  TENON_TRY(engine::Context * context, session.Context());
  TENON_TRY(const engine::KeyPair pair, engine::MakeKeyPair(*context, *host));
  const std::string where = host->user + " on " + host->address;
  if (!given->password && HasTerminal()) {
    auto typed =
        AskLine("Password of " + where + ", to put a new key there (Enter: you do it): ", true);
    if (typed && !typed->empty()) given->password = std::move(typed);
  }
  bool install = given->password.has_value();
  if (install && !options.yes) {
    install = HasTerminal() &&
              AskYesOnTerminal("Append the key to ~/.ssh/authorized_keys of " + where + "?");
  }
  if (install) {
    TENON_TRY(engine::OtherMachines * others, context->Others());
    Status put = others->InstallPublicKey(*context, *host, given, pair.public_line);
    if (!put.ok()) {
      Error error = std::move(put).error();
      if (engine::TakesKeysOnly(error)) {
        error.hint =
            "this server takes keys only: attach with `-k` and no password, and append the line "
            "yourself; or --private-key-file FILE";
      }
      return ForAttach(std::move(error),
                       "attach again with the right password (`--password-stdin`), or with none "
                       "and append the key yourself");
    }
    PrintErr("the key was put into ~/.ssh/authorized_keys of " + OneLine(where) + "\n");
  } else {
    PrintErr("Append this line to ~/.ssh/authorized_keys of " + OneLine(where) + ":\n");
    if (session.WantsJson()) {
      PrintErr(pair.public_line + "\n");
    } else {
      PrintOut(pair.public_line + "\n");
      FlushOut();
    }
    PrintErr("for instance there: echo " + ShellQuote(pair.public_line) +
             " >> ~/.ssh/authorized_keys\n");
  }
  host->identity_file = pair.file;
  given->password.reset();  // it was only needed to put the key there
  return install ? std::string() : pair.public_line;
}

// Why runs can't create files in the user's home folder on the machine; "" if they can.
std::string HomeProblem(const HostRecord& host) {
  return json::DecodeBytes(json::GetString(host.facts, "home_problem"));
}

struct Outcome {
  project::Attached attached;
  std::optional<HostRecord> host;
  bool checked = false;
  std::string public_key;  // -k: the line that the user has to append there
};

// Contacts the machine: agrees on its host key, logs in and learns what it offers.
Result<HostRecord> GetToKnow(Session& session, const AttachOptions& options, HostRecord host,
                             GivenSecrets* given, Outcome* out) {
  TENON_TRY(engine::Context * context, session.Context());
  if (!options.no_check) {
    TENON_TRY_VOID(AgreeOnHostKey(session, options.host_key, &host));
    // The key is agreed to: from here on secrets may be asked for and sent.
  }
  out->checked = !options.no_check;
  if (options.make_key) {
    if (options.no_check) given->password.reset();
    TENON_TRY(out->public_key, UseOwnKey(session, options, &host, given));
    out->checked = out->public_key.empty();
  }
  if (!out->checked) return host;
  Result<HostRecord> learned = engine::TryHost(*context, std::move(host), given);
  if (learned.ok()) return learned;
  return ForAttach(std::move(learned).error(),
                   options.make_key
                       ? "attach again with the password, without `-k`"
                       : "attach again with the right password (`--password-stdin`), or with `-k`");
}

// Contacts the machine, then records what was learned, then writes the files.
Result<Outcome> AddMachine(Session& session, const AttachOptions& options,
                           const project::Project& project, const HostRecord& host,
                           GivenSecrets* given) {
  Outcome out;
  TENON_TRY(out.host, GetToKnow(session, options, host, given, &out));
  TENON_TRY(engine::Context * context, session.Context());
  TENON_TRY_VOID(engine::RememberHost(*context, *out.host, *given));
  project::AttachRequest request = options.request;
  // The default shared folder is in the user's home, which can't be used.
  if (!HomeProblem(*out.host).empty()) request.shared_directory = out.host->root + "/share/";
  TENON_TRY(out.attached, project::Attach(project, request));
  return out;
}

Result<Outcome> AttachMachine(Session& session, AttachOptions& options,
                              const project::Project& project) {
  project::AttachRequest& request = options.request;
  TENON_TRY_VOID(UnderstandAddress(session, &options));
  TENON_TRY(const std::string key_file, KeyFilePath(options.key_file));
  if (!key_file.empty() && options.make_key) {
    return Invalid("-k and --private-key-file exclude each other");
  }
  TENON_TRY(const auto before, BeforeAttach(session, project, request.name));
  TENON_TRY(engine::Context * context, session.Context());
  TENON_TRY(const std::string id,
            engine::IdForAttach(*context, before, NewHost(project, options, ""),
                                request.force && !options.no_check));
  request.password_reference = project::PasswordReference(request.name, request.username, id);
  TENON_TRY(const project::Attached planned, project::CheckAttach(project, request));
  TENON_TRY(GivenSecrets given, SecretsOf(options));
  HostRecord host = NewHost(project, options, id);
  host.type = planned.type;
  host.identity_file = key_file;
  const bool known = engine::ReadHost(context->home, id).ok();
  auto done = AddMachine(session, options, project, host, &given);
  if (!done.ok()) {
    if (!known) engine::ForgetTrial(*context, host);
    return done;
  }
  if (given.password || given.passphrase) {
    PrintErr("the " + std::string(given.password ? "password" : "passphrase") +
             " is stored: " + OneLine(secrets::Store(context->home.root()).Where()) + "\n");
  }
  return done;
}

void PrintOutcome(const Session& session, const std::string& name, const Outcome& outcome) {
  const project::Attached& attached = outcome.attached;
  if (!session.WantsJson()) {
    if (outcome.checked) PrintOut(FactsText(*outcome.host));
    for (const std::string& file : attached.files) PrintOut("wrote " + OneLine(file) + "\n");
    FlushOut();
    return;
  }
  json::Array files;
  for (const std::string& file : attached.files) files.emplace_back(json::EncodeBytes(file));
  json::Object object{{"name", json::EncodeBytes(name)},
                      {"type", attached.type},
                      {"framework", attached.framework},
                      {"files", std::move(files)}};
  if (outcome.host) {
    object["checked"] = outcome.checked;
    object["host_key"] = outcome.host->host_key.empty() ? json::Value(nullptr)
                                                        : json::Value(HostKeyJson(*outcome.host));
    if (outcome.checked) object["host"] = FactsJson(*outcome.host);
    if (!outcome.public_key.empty()) {
      object["public_key"] = json::EncodeBytes(outcome.public_key);
    }
  }
  PrintListing(session, object, Table({}));
  FlushOut();
}

void PrintNotes(const AttachOptions& options, const Outcome& outcome) {
  const std::string name = ShellQuote(options.request.name);
  if (outcome.host && !HomeProblem(*outcome.host).empty()) {
    PrintErr("note: nothing can be made in your home folder there (" +
             OneLine(HomeProblem(*outcome.host)) + "); runs use " + OneLine(outcome.host->root) +
             ". tenonDirectory and nativeSharedDirectory of the target name other folders\n");
  }
  if (outcome.host && !outcome.checked) {
    PrintErr("note: nobody has logged in to the machine yet; `tenon computetarget test " + name +
             "` does\n");
  }
  if (outcome.attached.framework == "PySpark") {
    PrintErr(
        "note: the run configuration says Framework: PySpark; for a plain Python script: tenon "
        "config set Framework Python -c " +
        name + "\n");
  }
}

Result<int> DoAttach(Session& session, AttachOptions options) {
  TENON_TRY(options.request.type, TypeSaid(options));
  TENON_TRY(const project::Project project, OpenFiles(session));
  Outcome outcome;
  if (project::IsFarType(options.request.type)) {
    TENON_TRY(outcome, AttachMachine(session, options, project));
  } else {
    TENON_TRY(outcome.attached, project::Attach(project, options.request));
  }
  PrintOutcome(session, options.request.name, outcome);
  PrintNotes(options, outcome);
  return 0;
}

void DeclareLogin(OptionTable& table, AttachOptions* options) {
  table
      .Add("-w,--password", &options->password,
           "Its password, visible to others; better is to be asked, or --password-stdin")
      .Type("PASSWORD");
  table.Flag("--password-stdin", &options->password_from_input,
             "Read the password from standard input");
  table.Flag("-k,--use-azureml-ssh-key", &options->make_key,
             "Make a key pair for this target; with a password it is put there");
  table.Add("--private-key-file", &options->key_file, "Log in with this key").Type("FILE");
  table
      .Add("--private-key-passphrase", &options->key_passphrase,
           "The key's passphrase, visible to others; better is to be asked")
      .Type("TEXT");
  AddHostKeyOptions(table, &options->host_key);
  table.Flag("--no-check", &options->no_check, "Write the files only; contact nobody");
  table.Flag("-y,--yes", &options->yes, "With -k: put the key there without asking");
}

void DeclareAttach(OptionTable& table, AttachOptions* options) {
  project::AttachRequest& request = options->request;
  table.Add("TYPE", &options->type_word, "local, docker, remotedocker, remote or cluster");
  table.Add("-n,--name", &request.name, "The target's name; also of its run configuration")
      .Type("NAME")
      .Required();
  table.Add("-t,--type", &options->type_option, "The type, as it was said to November 2017")
      .Type("TYPE");
  table.Flag("--cluster", &options->cluster, "The same as --type cluster, as said in mid-2017");
  table
      .Add("-a,--address", &request.address,
           "IP address or name of the machine, HOST:PORT, or a name of ~/.ssh/config")
      .Type("HOST");
  table.Add("--port", &options->port, "Port of its SSH server").Between(1, 65535).Type("PORT");
  table
      .Add("-u,--username", &request.username,
           "User on that machine; else the one of ~/.ssh/config, or yours")
      .Type("USER");
  DeclareLogin(table, options);
  table
      .Add("--setup", &request.setup,
           "A shell line there before everything else, as `module load cuda` (may be repeated)")
      .Type("LINE")
      .OneEach();
  table.Add("--python", &request.python, "pythonLocation of a local or remote target").Type("PATH");
  table
      .Add("--framework", &request.framework,
           "Python or PySpark (Python here, PySpark on other machines, as it was)")
      .Type("NAME");
  table.Flag("--force", &request.force, "Overwrite files of that name");
}

}  // namespace

Command ComputeTargetAttachCommand() {
  return {
      {{"computetarget", "attach"}, {"computecontext", "attach"}},
      "Make a machine known to the project as a target",
      "Writes NAME.compute and NAME.runconfig into aml_config/, in the form of 2018; files that "
      "are there are left alone unless --force. Without a type, remotedocker is meant. A machine "
      "reached by SSH shows its host key, which you agree to before any secret is asked for or "
      "sent; then it is logged in to and looked at. Secrets go into an encrypted store, never "
      "into a file of the project.",
      {"tenon computetarget attach docker -n docker",
       "tenon computetarget attach local -n py36 --python /opt/py36/bin/python",
       "tenon computetarget attach remotedocker -n my_dsvm -a 203.0.113.7 -u me",
       "tenon computetarget attach remote -n gpu1 -a gpu1 --private-key-file ~/.ssh/id_gpu",
       "tenon computetarget attach remote -n gpu1 -a 203.0.113.7:2222 -u me --password-stdin "
       "--host-key SHA256:…",
       "tenon computetarget attach --name my_dsvm --address 203.0.113.7 --username me --type "
       "remotedocker"},
      [](OptionTable& table, const std::vector<std::string>&) -> Action {
        auto options = std::make_shared<AttachOptions>();
        DeclareAttach(table, options.get());
        return [options](Session& session) { return DoAttach(session, *options); };
      }};
}

}  // namespace tenon::cli
