// SPDX-License-Identifier: Apache-2.0
// The Docker Engine API, as far as Tenon uses it: Docker from 20.10 (API 1.41) on, and Podman's
// compatible socket. Over Unix sockets only. Bodies are JSON values of the API; the caller decides
// what a container looks like.
#ifndef TENON_DOCKER_ENGINE_H_
#define TENON_DOCKER_ENGINE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/json.h"
#include "base/result.h"
#include "docker/frames.h"

namespace tenon::docker {

struct EngineVersion {
  std::string name;     // "Docker", "Podman"
  std::string version;  // "20.10.24"
  std::string api;      // the version in use, "1.41": the lower of the engine's and ours
};

struct EngineInfo {
  bool rootless = false;
  std::string cgroup_version;            // "1", "2"
  std::string architecture;              // "x86_64"
  std::string data_root;                 // DockerRootDir; "" when not told
  std::vector<std::string> runtimes;     // "runc", "nvidia"
  std::vector<std::string> cdi_devices;  // "nvidia.com/gpu=all", where the engine lists them
  int64_t memory_bytes = 0;
};

struct Image {
  std::string id;  // "sha256:…"
  std::vector<std::string> tags;
  uint64_t size = 0;
  std::string architecture, os;
  std::string user;  // of its configuration
  std::string working_dir;
  std::vector<std::string> entrypoint, command;
  std::vector<std::pair<std::string, std::string>> env;  // of its configuration
  std::vector<std::pair<std::string, std::string>> labels;
  int64_t created_us = 0;
};

struct Container {
  std::string id, name, image_id;
  std::vector<std::pair<std::string, std::string>> labels;
  std::string status;  // "created", "running", "exited", "dead", …
  bool running = false;
  int pid = 0;  // of its first process, in the engine's PID namespace
  int exit_code = 0;
  bool out_of_memory = false;
  std::string error;  // why the engine could not start it
};

// The value of a label; "" when there is none of that name.
std::string LabelOf(const std::vector<std::pair<std::string, std::string>>& labels,
                    std::string_view name);

// The progress of a pull, summed over all layers.
struct PullProgress {
  std::string what;  // "Downloading", "Extracting", …
  uint64_t layers = 0, layers_done = 0;
  uint64_t bytes = 0, total = 0;  // of the layers whose size is known
};

// A container's standard streams. Bytes are written raw and read in frames (docker/frames.h); with
// Tty they are read raw, too. Owns the connection.
struct Stream {
  UniqueFd fd;           // blocks, unless the caller changes that
  std::string buffered;  // bytes of the stream that came with the answer's head
};

// A wait for a container's end. fd() becomes readable when the container has ended or the engine is
// gone.
class Waiting {
 public:
  virtual ~Waiting() = default;
  virtual int fd() const = 0;
  // Returns the exit code as the engine tells it; nullopt while the container runs. Fails with
  // kUnavailable when the connection broke; the container may still run. Never blocks.
  virtual Result<std::optional<int>> Poll() = 0;
};

// Each thread has its own. Each call opens a connection of its own, has a deadline and may be
// repeated. Errors: kUnavailable when the engine cannot be reached or has gone, kDenied when we may
// not use its socket, kNotFound for the engine's 404, kInvalid for its 400 and 409, kInternal for
// its 500. The messages have the engine's words.
class Engine {
 public:
  // `socket` is a path from FindEngine() (engine_address.h). Asks for the engine's version and
  // chooses an API version. Fails with kInvalid when the two sides have none in common; 1.41 is our
  // oldest.
  static Result<Engine> Connect(std::string socket);

  const EngineVersion& version() const { return version_; }
  const std::string& socket() const { return socket_; }

  Result<EngineInfo> Info();

  // Finds an image by name, id or digest. nullopt: the engine has no such image.
  Result<std::optional<Image>> FindImage(const std::string& name);
  // Returns when the image is there. Fails with kNotFound, kDenied or kUnavailable, depending on
  // what the registry said. `stopped` is asked several times a second; true ends the pull with
  // kUnavailable.
  Status Pull(const std::string& name, const std::function<void(const PullProgress&)>& progress,
              const std::function<bool()>& stopped);
  Result<std::vector<Image>> ListImages(const std::string& label);  // "tenon.env" or "a=b"
  Status RemoveImage(const std::string& name);                      // not there = success
  // Gives an image (by id) a name. Another image that has the name loses it.
  Status Tag(const std::string& image, const std::string& repository, const std::string& tag);
  // Makes an image of a container and returns its id. With an empty repository the image has no
  // name. `config` is a container configuration (Env, Labels, …); what it leaves out is as in the
  // container.
  Result<std::string> Commit(const std::string& container, const std::string& repository,
                             const std::string& tag, const std::string& comment,
                             const json::Object& config);

  // Returns the id of the new container. Fails with kInvalid when the name is taken.
  Result<std::string> Create(const std::string& name, const json::Object& config);
  Status Start(const std::string& container);
  Result<std::optional<Container>> Find(const std::string& container);  // by id or name
  Result<std::vector<Container>> List(const std::string& label);        // stopped ones too
  Status Kill(const std::string& container, int signal);  // not running or not there = success
  Status Remove(const std::string& container);  // by force, with its volumes; not there = success
  // Call it after Start(): a container that has not been started counts as ended.
  Result<std::unique_ptr<Waiting>> Wait(const std::string& container);

  // Call it before Start(). The container must have been created with the same streams. Shutting
  // down the writing side of the connection ends the container's standard input.
  Result<Stream> Attach(const std::string& container, bool with_stdin);

  // Unpacks a tar archive below `path`, which must exist. Calls `body` for pieces until it returns
  // an empty one.
  Status PutArchive(const std::string& container, const std::string& path,
                    const std::function<Result<std::string>()>& body);
  // Passes the tar archive of `path` to `sink` in pieces. Fails with kNotFound when there is no
  // such path.
  Status GetArchive(const std::string& container, const std::string& path,
                    const std::function<Status(std::string_view)>& sink);

  // Runs another command in a running container. `config` is the API's exec configuration (Cmd,
  // Env, Tty, …). With Tty the stream has raw bytes, else frames.
  Result<std::string> CreateExec(const std::string& container, const json::Object& config);
  Result<Stream> StartExec(const std::string& exec, bool tty);
  Status ResizeExec(const std::string& exec, int rows, int columns);
  Result<int> ExecExitCode(const std::string& exec);  // kUnavailable while it runs

 private:
  Engine(std::string socket, EngineVersion version)
      : socket_(std::move(socket)), version_(std::move(version)) {}

  std::string socket_;
  EngineVersion version_;
};

}  // namespace tenon::docker

#endif  // TENON_DOCKER_ENGINE_H_
