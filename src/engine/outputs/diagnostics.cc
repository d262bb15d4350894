// SPDX-License-Identifier: Apache-2.0
#include "engine/outputs/diagnostics.h"

#include <sys/stat.h>
#include <sys/utsname.h>

#include <functional>

#include "base/file.h"
#include "base/hash.h"
#include "base/mask.h"
#include "base/text.h"
#include "engine/outputs/artifacts.h"
#include "engine/outputs/zip.h"
#include "run/layout.h"
#include "snapshot/freeze/unpack.h"

namespace tenon::engine {
namespace {

// The state while an archive is made.
struct Maker {
  Context& context;
  const journal::RunView& run;
  ZipWriter& zip;
  std::vector<std::string> secrets;
  Diagnostics result;

  void Problem(const std::string& what, const Error& error) {
    result.problems.push_back(Masker(secrets).Mask(what + ": " + error.message));
  }

  Status AddText(const std::string& name, const std::string& text) {
    return zip.AddFile(name, Masker(secrets).Mask(text));
  }

  // Adds one entry from a source that hands out pieces. If the source fails, the entry stays as far
  // as it came, and a problem is noted. If the archive fails, that is an Error.
  Status AddStream(
      const std::string& name, uint32_t mode, uint64_t size_hint,
      const std::function<Status(const std::function<Status(std::string_view)>&)>& read) {
    TENON_TRY_VOID(zip.Begin(name, mode, size_hint));
    Masker masker(secrets);
    Status archive;
    const Status source = read([&](std::string_view bytes) -> Status {
      archive = zip.Write(masker.Feed(bytes));
      return archive.ok() ? Status() : Status(Unavailable("the archive cannot be written"));
    });
    if (!archive.ok()) return archive;
    TENON_TRY_VOID(zip.Write(masker.Flush()));
    if (!source.ok()) Problem(name, source.error());
    return zip.End();
  }
};

std::vector<std::string> SecretValues(const run::RunSpec& spec) {
  std::vector<std::string> values;
  for (const auto& [name, value] : spec.environment) {
    if (SoundsSecret(name) && value.size() >= kShortestSecret) values.push_back(value);
  }
  return values;
}

std::string About(const Context& context, const journal::RunView& run) {
  std::string text = "tenon " + context.version + "\nrun " + run.spec.id +
                     " (submitted with tenon " + run.tenon_version + ")\n";
  utsname system;
  if (::uname(&system) == 0) {
    text += std::string(system.sysname) + " " + system.release + " " + system.machine + "\n";
  }
  return text;
}

Status AddLogs(Maker& maker) {
  using Sink = std::function<Status(std::string_view)>;
  const std::string& id = maker.run.spec.id;
  auto output = [&](bool standard) {
    return [&maker, &id, standard](const Sink& sink) {
      return ReadOutput(maker.context, id, standard, !standard,
                        [&](run::Stream, std::string_view bytes) { return sink(bytes); });
    };
  };
  TENON_TRY_VOID(
      maker.AddStream("logs/driver_log.txt", 0644, maker.run.stdout_bytes, output(true)));
  TENON_TRY_VOID(maker.AddStream("logs/stderr.txt", 0644, maker.run.stderr_bytes, output(false)));
  TENON_TRY_VOID(maker.AddStream("logs/control_log.txt", 0644, 0, [&](const Sink& sink) {
    return ReadArtifact(maker.context, maker.run, "control_log", sink);
  }));
  const std::string own = run::RunFolder(maker.context.home, id).runner_log();
  if (!Exists(own)) return {};
  auto text = ReadFile(own);
  if (text.ok()) return maker.AddText("logs/runner.log", *text);
  maker.Problem("logs/runner.log", text.error());
  return {};
}

Status AddProject(Maker& maker) {
  const auto root = Hash::FromHex(maker.run.spec.kept_tree);
  if (!root) {
    maker.Problem("project", NotFound("the run has no snapshot on record"));
    return {};
  }
  auto objects = maker.context.Objects();
  if (!objects.ok()) {
    maker.Problem("project", objects.error());
    return {};
  }
  Status archive;
  const Status walked =
      snapshot::Walk(**objects, *root, [&](const snapshot::Entry& entry) -> Status {
        const std::string name = "project/" + entry.path;
        switch (entry.type) {
          case snapshot::EntryType::kFolder:
            archive = maker.zip.AddFolder(name, entry.mode);
            break;
          case snapshot::EntryType::kSymlink:
            archive = maker.zip.AddSymlink(name, entry.target);
            break;
          case snapshot::EntryType::kFile:
            archive = maker.AddStream(name, entry.mode, entry.size, [&](const auto& sink) {
              return (*objects)->ReadTo(entry.hash, sink);
            });
            break;
        }
        return archive.ok() ? Status() : Status(Unavailable("the archive cannot be written"));
      });
  if (!archive.ok()) return archive;
  if (!walked.ok()) maker.Problem("project", walked.error());
  return {};
}

}  // namespace

bool SoundsSecret(std::string_view variable) {
  const std::string name = ToLower(variable);
  for (const char* word : {"key", "secret", "token", "password", "passwd", "pwd", "credential",
                           "connection_string", "connectionstring", "sas"}) {
    if (name.find(word) != std::string::npos) return true;
  }
  return false;
}

Result<Diagnostics> WriteDiagnostics(Context& context, const journal::RunView& run,
                                     const json::Object& record, const std::string& path) {
  TENON_TRY(ZipWriter zip, ZipWriter::Create(path, context.clock->NowUs()));
  Maker maker{context, run, zip, SecretValues(run.spec), {}};
  TENON_TRY_VOID(maker.AddText("about.txt", About(context, run)));
  TENON_TRY_VOID(maker.AddText("run.json", json::PrintPretty(record) + "\n"));
  TENON_TRY_VOID(maker.AddText("spec.json", json::PrintPretty(run.spec.ToJson()) + "\n"));
  TENON_TRY_VOID(AddLogs(maker));
  TENON_TRY_VOID(AddProject(maker));
  if (!maker.result.problems.empty()) {
    TENON_TRY_VOID(maker.AddText("problems.txt", Join(maker.result.problems, "\n") + "\n"));
  }
  maker.result.files = zip.entries();
  TENON_TRY_VOID(zip.Finish());
  struct stat st;
  if (::stat(path.c_str(), &st) == 0) maker.result.bytes = static_cast<uint64_t>(st.st_size);
  return std::move(maker.result);
}

}  // namespace tenon::engine
