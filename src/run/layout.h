// SPDX-License-Identifier: Apache-2.0
// Where files lie below a Tenon home (~/.tenon, TENON_HOME), on the client and on the host. On the
// `local` target client and host share one home, so nothing is copied.
//
//   bin/tenon-runner-<hash>      runners, by content
//   client-id                    id of this client
//   objects/                     contents by hash (snapshots, outputs)
//   stat-cache/<project>         what the last Freeze() learned of the files
//   shim/<hash>/                 the shim, on the Python path of scripts, by content
//   history.db                   index over runs/*/; can be dropped
//   numbers/<project>            last run number of a project
//   kept-trees/<root hash>       snapshots that are kept without a run
//   environments/<key>/          an environment: environment.json, and prefix/ if it is no image
//   environments/<key>.lock      lock: held while the environment is made or removed
//   pins/<key>.txt               versions an environment had when it was last made
//   cache/                       caches of package tools, shared by all builds
//   tools/                       uv, py-rattler
//   hosts/<host id>.json         what the client knows of another machine; .known_hosts: its
//                                pinned key
//   keys/<host id>               the key pair made for that machine, if any
//   ssh/                         sockets of kept connections, if the path is short enough
//   secrets.json, secrets.key    encrypted passwords; their key, unless a keyring has it
//   incoming/<hash>              parts of large objects that another machine is sending
//   complete-trees/<root hash>   marks of trees whose objects are all here
//   hosted                       mark: clients on other machines use this home
//   cleaned                      when the cleaning policy was last applied
//   retries/<run id>             id of the run that took its place after a restart of the machine
//   used                         when a client last sent or fetched data
//   idle.json, idle.lock, idle.log
//                                orders, lock and log of the watcher of an idle machine
//   runs.lock                    lock: held while a folder is made in runs/
//   runs/<run id>/
//     near-<client>.tj           near segment
//     host.tj                    the runner's segment; for a run on another host, the copy so far
//     script.tj                  the segment of the init in a container: output, metrics, exit
//     rank-<K>.tj, sampler-<name>.tj
//                                segments of one of several processes, and of a sampler
//                                (run/segment.h)
//     spec.json                  what the runner was asked to do
//     cancel.json                a request to stop, until the runner has recorded it
//     metrics, work              links into work/<run id>/
//     masks                      one half of the kept secrets, until the run is over
//     container/                 mounts of its container (passwd, group, home/), scratch files
//     engine                     socket of the engine that may have a container of the run;
//                                removed with the container
//     build.log                  output of the tools that made the environment
//     fetched                    mark: the client has all outputs and logs of a far run
//     retried                    id of the run that was started in its place
//     runner.log                 messages of the runner when it cannot write the journal
//   work/<run id>/               the script's folders, apart from the record (script_folders.h)
//     metrics/                   its metric files
//     work/                      the copy of the project; its working directory
#ifndef TENON_RUN_LAYOUT_H_
#define TENON_RUN_LAYOUT_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace tenon::run {

class Home {
 public:
  explicit Home(std::string root) : root_(std::move(root)) {}
  const std::string& root() const { return root_; }
  std::string bin() const { return root_ + "/bin"; }
  std::string client_id() const { return root_ + "/client-id"; }
  std::string objects() const { return root_ + "/objects"; }
  std::string stat_cache(std::string_view project_key) const;
  std::string history_db() const { return root_ + "/history.db"; }
  std::string number_file(std::string_view project_key) const;
  std::string runs() const { return root_ + "/runs"; }
  std::string script_folders() const { return root_ + "/work"; }
  std::string runs_lock() const { return root_ + "/runs.lock"; }
  std::string environments() const { return root_ + "/environments"; }
  std::string environment(std::string_view key) const;
  std::string pins() const { return root_ + "/pins"; }
  std::string cache() const { return root_ + "/cache"; }
  std::string tools() const { return root_ + "/tools"; }
  std::string hosts() const { return root_ + "/hosts"; }
  std::string used() const { return root_ + "/used"; }
  std::string incoming() const { return root_ + "/incoming"; }
  std::string complete_trees() const { return root_ + "/complete-trees"; }
  std::string retry_of(std::string_view run_id) const;

 private:
  std::string root_;
};

// The suffix of segment files. The rest of a file name is the name of the segment.
inline constexpr std::string_view kSegmentSuffix = ".tj";
inline constexpr std::string_view kHostSegment = "host";
inline constexpr std::string_view kScriptSegment = "script";

class RunFolder {
 public:
  RunFolder(const Home& home, std::string_view run_id);
  explicit RunFolder(std::string path) : path_(std::move(path)) {}
  const std::string& path() const { return path_; }
  std::string segment(std::string_view name) const;
  std::string host_segment() const { return segment(kHostSegment); }
  std::string script_segment() const { return segment(kScriptSegment); }
  std::string near_segment(std::string_view client) const;
  std::string spec() const { return path_ + "/spec.json"; }
  std::string cancel_request() const { return path_ + "/cancel.json"; }
  // Where the run's folder has links, these are the folders that the links lead to. Otherwise they
  // are paths inside the run's folder: for runs of Tenon 0.1.0, and for runs on other machines,
  // where the machine follows the links.
  std::string metrics() const { return ScriptPlace("metrics"); }
  std::string work() const { return ScriptPlace("work"); }
  std::string outputs() const { return work() + "/outputs"; }
  std::string script_folder() const;
  std::string runner_log() const { return path_ + "/runner.log"; }
  std::string container() const { return path_ + "/container"; }
  std::string engine_mark() const { return path_ + "/engine"; }
  std::string build_log() const { return path_ + "/build.log"; }

 private:
  std::string ScriptPlace(std::string_view name) const;
  std::string path_;
};

// Whether a text can be a run id: 1 to 255 bytes, no slash, no control character, not "." or "..".
bool IsValidRunId(std::string_view id);
// The milliseconds since 1970 at the end of a run id; 0 if it has none.
int64_t TimeInRunId(std::string_view id);
// A project's name as the first part of a run id: bytes that do not suit a file name become '_'.
std::string RunIdStem(std::string_view project);

}  // namespace tenon::run

#endif  // TENON_RUN_LAYOUT_H_
