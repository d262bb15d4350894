// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "cli/projects/config_files.h"
#include "cli/projects/samples.h"
#include "project/create.h"

namespace tenon::cli {
namespace {

struct CreateOptions {
  std::string name, path, template_name, template_url, repository, token;
  project::Scope scope;
  bool force = false;
  const Option* with_template = nullptr;
};

// Makes a path absolute and removes "." from it.
Result<std::string> Absolute(const std::string& path) {
  TENON_TRY(const std::string current, CurrentFolder());
  std::string absolute;
  for (const std::string& part : Split(JoinPath(current, path), '/')) {
    if (!part.empty() && part != ".") absolute += "/" + part;
  }
  return absolute.empty() ? std::string("/") : absolute;
}

// Prints a note for each option of the cloud that has no effect here.
void SayWhatIsNotHere(const CreateOptions& options) {
  const project::Scope& scope = options.scope;
  if (!scope.workspace.empty() || !scope.account.empty() || !scope.resource_group.empty()) {
    PrintErr(
        "note: there is no cloud here; account, workspace and resource group are only written into "
        ".azureml/project.json\n");
  }
  if (!options.repository.empty() || !options.token.empty()) {
    PrintErr(
        "note: no repository is attached; `git init` and `git remote add origin URL` in the "
        "project's folder do that\n");
  }
}

void PrintMade(const Session& session, const std::string& folder, const std::string& script,
               const std::vector<std::string>& files, json::Object object) {
  if (session.WantsJson()) {
    json::Array list;
    for (const std::string& file : files) list.emplace_back(json::EncodeBytes(file));
    object["path"] = json::EncodeBytes(folder);
    object["script"] = script.empty() ? json::Value(nullptr) : json::Value(script);
    object["files"] = std::move(list);
    PrintValue(session, object);
    return;
  }
  PrintOut(OneLine(folder) + "\n");
  FlushOut();
  PrintErr(Count(files.size(), "file", "files") + " written; go on with:\n  cd " +
           OneLine(ShellQuote(folder)) + "\n  tenon submit -c local " +
           (script.empty() ? "SCRIPT.py" : OneLine(ShellQuote(script))) + "\n");
}

Result<int> Create(Session& session, const CreateOptions& options) {
  if (options.name.empty()) {
    return Invalid("what is the project to be called?").WithHint("-n NAME says it");
  }
  TENON_TRY_VOID(project::CheckProjectName(options.name));
  if (!options.template_url.empty()) {
    return Invalid("--template-url: templates are not fetched from elsewhere")
        .WithHint("`git clone " + OneLine(options.template_url) + " " +
                  OneLine(ShellQuote(options.name)) +
                  "` brings that project here, and it works as it is; `tenon project sample list` "
                  "shows what --template knows");
  }
  std::vector<project::NewFile> files;
  std::string script;
  if (!options.template_name.empty()) {
    TENON_TRY(const Sample* sample, FindSample(options.template_name));
    files = sample->files;
    script = sample->script;
  } else {
    const bool with_scripts = options.with_template->given();
    files = BlankProject(with_scripts);
    if (with_scripts) script = "train.py";
  }
  const std::string id = NewUuid();
  const std::string identity = project::ProjectJson(id, options.scope, options.name);
  files.push_back({".azureml/project.json", identity, false});
  TENON_TRY(const std::string parent, Absolute(options.path));
  const std::string folder = JoinPath(parent, options.name);
  SayWhatIsNotHere(options);
  TENON_TRY(const auto written, project::WriteNewFolder(folder, files, options.force));
  PrintMade(session, folder, script, written, {{"name", options.name}, {"id", id}});
  return 0;
}

Result<int> List(Session& session) {
  json::Array list;
  Table table({{"Name"}, {"What"}});
  for (const Sample& sample : AllSamples()) {
    table.Add({sample.name, sample.summary});
    list.push_back(json::Object{
        {"name", sample.name}, {"summary", sample.summary}, {"script", sample.script}});
  }
  PrintListing(session, list, table);
  return 0;
}

struct GetOptions {
  std::string name, folder;
  bool force = false;
};

Result<int> Get(Session& session, const GetOptions& options) {
  TENON_TRY(const Sample* sample, FindSample(options.name));
  TENON_TRY(const std::string folder,
            Absolute(options.folder.empty() ? options.name : options.folder));
  TENON_TRY(const auto written, project::WriteNewFolder(folder, sample->files, options.force));
  PrintMade(session, folder, sample->script, written, {{"name", sample->name}});
  return 0;
}

}  // namespace

Command ProjectCreateCommand() {
  return {
      {{"project", "create"}},
      "Make a new project folder",
      "In the current folder or below --path. A bare --template adds a train.py and a score.py; "
      "--template NAME starts from a sample of `tenon project sample list`. The words for the "
      "cloud (-w, -a, -g, --repo, --vststoken) are accepted as Workbench had them.",
      {"tenon project create -n my-digits --template digits", "tenon project create -n empty",
       "tenon project create -n first --template --path ~/projects"},
      [](OptionTable& table, const std::vector<std::string>&) -> Action {
        auto options = std::make_shared<CreateOptions>();
        table.Add("-n,--name", &options->name, "The project's name, and its folder's").Type("NAME");
        table.Add("--path", &options->path, "The folder to make it in (the current one)")
            .Type("DIR");
        options->with_template =
            &table
                 .Add("--template", &options->template_name,
                      "A sample to start from; without a name, two scripts to begin with")
                 .Type("[SAMPLE]")
                 .ValueMayBeMissing();
        table
            .Add("--template-url", &options->template_url,
                 "Nothing is fetched from elsewhere; says what to do instead")
            .Type("URL");
        table.Flag("--force", &options->force,
                   "Also into a folder that is not empty, replacing files of the same names");
        table.Add("-w,--workspace", &options->scope.workspace, "Only written down").Type("NAME");
        table.Add("-a,--account", &options->scope.account, "Only written down").Type("NAME");
        table.Add("-g,--resource-group", &options->scope.resource_group, "Only written down")
            .Type("NAME");
        table.Add("-r,--repo", &options->repository, "Accepted; no repository is attached")
            .Type("URL");
        table.Add("--vststoken", &options->token, "Accepted; not used and not kept").Type("TOKEN");
        return [options](Session& session) { return Create(session, *options); };
      }};
}

Command ProjectSampleListCommand() {
  return {{{"project", "sample", "list"}},
          "Show the samples that projects can start from",
          "They are inside this program.",
          {"tenon project sample list", "tenon project sample list --json"},
          [](OptionTable&, const std::vector<std::string>&) -> Action { return List; }};
}

Command ProjectSampleGetCommand() {
  return {{{"project", "sample", "get"}},
          "Write a sample into a folder",
          "The folder is made if needed; it is called like the sample unless DIR is given.",
          {"tenon project sample get iris", "tenon project sample get mnist-pytorch my-digits"},
          [](OptionTable& table, const std::vector<std::string>&) -> Action {
            auto options = std::make_shared<GetOptions>();
            table.Add("NAME", &options->name, "A name of `tenon project sample list`").Required();
            table.Add("DIR", &options->folder, "The folder");
            table.Flag("--force", &options->force,
                       "Also into a folder that is not empty, replacing files of the same names");
            return [options](Session& session) { return Get(session, *options); };
          }};
}

}  // namespace tenon::cli
