// SPDX-License-Identifier: Apache-2.0
// Where things lie below a Tenon home (~/.tenon, TENON_HOME), near and far. On the `local` target
// both sides share one home, so nothing is copied.
//
//   bin/tenon-runner-<hash>      runners, by content
//   client-id                    this client
//   objects/                     contents by hash (snapshots, outputs)
//   stat-cache/<project>         what Freeze() knew last time
//   shim/<hash>/                 Python path of scripts, by content
//   history.db                   index over runs/*/; can be dropped
//   numbers/<project>            last run number of a project
//   kept-trees/<root hash>       snapshots that are kept without a run
//   environments/<key>/          one that was made: environment.json, and prefix/ unless it is an
//                                image
//   environments/<key>.lock      held by who makes it
//   pins/<key>.txt               versions an environment had when it was last made
//   cache/                       of package tools, shared by all builds
//   tools/                       uv, py-rattler
//   hosts/<host id>.json         what is known of another machine; .known_hosts: its key, pinned
//   keys/<host id>               the key pair made for it, if one was
//   ssh/                         sockets of kept connections, where the path is short enough
//   secrets.json, secrets.key    passwords, encrypted; the key, unless a keyring has it
//   incoming/<hash>              parts of large objects that another machine is sending
//   complete-trees/<root hash>   trees of which every object is here
//   hosted                       clients of other machines use this home
//   cleaned                      when its policy was last applied
//   retries/<run id>             as which run it was started again after the machine's restart
//   used                         when data was last sent here, or fetched
//   idle.json, idle.lock, idle.log
//                                the watcher that stops an idle machine
//   runs.lock                    held while a folder is made in runs/
//   runs/<run id>/
//     near-<client>.tj           near segment
//     host.tj                    the runner's segment (of other hosts: a copy as far as heard)
//     script.tj                  the segment of the init in a container: output, metrics, exit
//     rank-<K>.tj, sampler-<name>.tj
//                                those of one of several processes, and of what was measured
//                                (run/segment.h)
//     spec.json                  what the runner was asked to do
//     cancel.json                a request to stop, until the runner has recorded it
//     metrics, work              links to those below
//     masks                      half of what masks its secrets, until it is over
//     container/                 what a container gets beside it: passwd, group, home/
//     engine                     socket of the engine that may have a container of the run; gone
//                                when it has none any more
//     build.log                  the words of the tools that made the environment
//     fetched                    outputs and logs of another machine's run are all here
//     retried                    it has been started again, after the machine's restart
//     runner.log                 the runner's own words when it cannot write the journal
//   work/<run id>/               what the script is given, apart from the record (script_folders.h)
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

// Segment files end in this; the rest of the name is the segment.
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
  // The places themselves where the run's folder has links to them, else in the run's folder: runs
  // of Tenon 0.1.0, and those of other machines, where the links are followed.
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

// Whether a string can be a run id: 1 to 255 bytes, no slash, no control, not "." or "..".
bool IsValidRunId(std::string_view id);
// The milliseconds since 1970 that a run id ends with; 0: it ends with none.
int64_t TimeInRunId(std::string_view id);
// A project's name as the first part of a run id: bytes that do not suit a file name become '_'.
std::string RunIdStem(std::string_view project);

}  // namespace tenon::run

#endif  // TENON_RUN_LAYOUT_H_
