// SPDX-License-Identifier: Apache-2.0
// Changing existing targets. What is known about a machine is kept when its address changes.
#include <map>
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/parse/options.h"
#include "cli/print/print.h"
#include "cli/projects/config_files.h"
#include "cli/targets/target_host.h"
#include "project/files/target.h"

namespace tenon::cli {
namespace {

using Values = std::vector<std::pair<std::string, std::optional<std::string>>>;

struct UpdateOptions {
  std::string name;
  std::map<std::string, std::string> values;  // by key, for the parser
  std::vector<std::pair<std::string, const Option*>> keys;
  std::vector<std::string> unset;
};

// Splits an address like user@host:2222 into the keys address, port and username.
Status SplitAddress(Values* values) {
  for (size_t i = 0; i < values->size(); ++i) {
    if ((*values)[i].first != "address" || !(*values)[i].second) continue;
    Result<engine::MachineAddress> address = engine::ParseMachineAddress(*(*values)[i].second);
    if (!address.ok()) return std::move(address).error().Wrap("--address");
    (*values)[i].second = address->host;
    if (address->port != 0) values->emplace_back("port", std::to_string(address->port));
    if (!address->user.empty()) values->emplace_back("username", address->user);
  }
  return {};
}

std::string IdNow(const run::Home& home, const project::Project& project, const std::string& name) {
  const auto target = project::ReadTarget(project, name);
  return target.ok() ? HostIdForTarget(home, *target) : std::string();
}

// Whether two records are of the same target and the same machine.
bool IsSame(const engine::HostRecord& a, const engine::HostRecord& b) {
  return a.target == b.target && a.project_root == b.project_root && a.host_key == b.host_key &&
         a.user == b.user && a.address == b.address && a.port == b.port;
}

// If the file has no password reference, a machine's id comes from its address. Then the record is
// copied to the new id. Runs keep the id they were sent to, so the address in old records changes
// too.
Status TakeAlong(Session& session, const project::Project& project, const std::string& name,
                 const std::string& before) {
  TENON_TRY(engine::Context * context, session.Context());
  const auto target = project::ReadTarget(project, name);
  const std::string now = target.ok() ? HostIdForTarget(context->home, *target) : std::string();
  if (before.empty() || now.empty()) return {};
  Result<engine::HostRecord> known = engine::ReadHost(context->home, before);
  if (!known.ok()) return {};
  if (now != before && engine::IsDetached(context->home, now)) {
    engine::HostRecord next = *known;
    next.id = now;
    next.user = target->username.value;
    next.asked_root = target->tenon_directory.value;
    TENON_TRY_VOID(engine::InheritHost(*context, *known, next));
  }
  TENON_TRY(const engine::HostRecord host, HostForTarget(session, project, *target));
  if (host.user != known->user) {  // another account has other runs
    if (known->has_password && !host.has_password) {
      PrintErr("the password of " + OneLine(host.user) + " is not known yet: `tenon secrets set " +
               ShellQuote(name) + "` stores it\n");
    }
    return {};
  }
  if (host.address == known->address && host.port == known->port) return {};
  std::vector<std::string> unreadable;
  TENON_TRY(const auto hosts, engine::ListHosts(context->home, &unreadable));
  for (const engine::HostRecord& other : hosts) {
    if (other.id == host.id || !IsSame(other, *known)) continue;
    TENON_TRY_VOID(engine::UpdateHost(context->home, other.id, [&](engine::HostRecord& record) {
      record.address = host.address;
      record.port = host.port;
    }));
  }
  return {};
}

Result<int> Update(Session& session, const UpdateOptions& options) {
  Values values;
  for (const auto& [key, option] : options.keys) {
    if (option->given()) values.emplace_back(key, options.values.at(key));
  }
  for (const std::string& key : options.unset) values.emplace_back(key, std::nullopt);
  if (values.empty()) {
    return Invalid("nothing is to be changed")
        .WithHint("name a key of the file: `tenon computetarget update " + options.name +
                  " --nvidiaDocker true`");
  }
  TENON_TRY_VOID(SplitAddress(&values));
  TENON_TRY(const project::Project project, OpenFiles(session));
  TENON_TRY(engine::Context * context, session.Context());
  const std::string before = IdNow(context->home, project, options.name);
  TENON_TRY(const auto changes, project::UpdateTarget(project, options.name, values));
  PrintChanges(session, changes);
  FlushOut();
  TENON_TRY_VOID(TakeAlong(session, project, options.name, before));
  return 0;
}

}  // namespace

Command ComputeTargetUpdateCommand() {
  return {
      {{"computetarget", "update"}},
      "Change settings of a target",
      "Any key of its file, several at once: all are written or none. Every other byte of the "
      "file stays. A new address is the same machine as long as it shows the same host key.",
      {"tenon computetarget update my_dsvm --nvidiaDocker true",
       "tenon computetarget update my_dsvm --address 203.0.113.8 --username me",
       "tenon computetarget update my_dsvm --unset password"},
      [](OptionTable& table, const std::vector<std::string>&) -> Action {
        auto options = std::make_shared<UpdateOptions>();
        table.Add("NAME,-n,--name", &options->name, "The target").Required();
        for (const project::Key& key : project::TargetKeys()) {
          const std::string name(key.name);
          if (name == "cluster" || name == "native") continue;  // keys of the oldest files
          // A list or a mapping is more than one value. `config set` changes values in them.
          if (key.expected == project::Expected::kList || key.expected == project::Expected::kMap) {
            continue;
          }
          const bool boolean = key.expected == project::Expected::kBool;
          const Option& option =
              table.Add("--" + name, &options->values[name], "New value of " + name)
                  .Type(boolean ? "true|false" : "TEXT")
                  .AnyCase();
          options->keys.emplace_back(name, &option);
        }
        table.Add("--unset", &options->unset, "Take this key away (may be repeated)")
            .Type("KEY")
            .OneEach();
        return [options](Session& session) { return Update(session, *options); };
      }};
}

}  // namespace tenon::cli
