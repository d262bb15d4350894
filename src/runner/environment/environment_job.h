// SPDX-License-Identifier: Apache-2.0
// For tests: a job in a temporary folder, tools shared by all tests of a program, and wheels made
// on the fly.
#ifndef TENON_RUNNER_ENVIRONMENT_ENVIRONMENT_JOB_H_
#define TENON_RUNNER_ENVIRONMENT_ENVIRONMENT_JOB_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/temp_folder.h"
#include "base/text.h"
#include "runner/environment/make_environment.h"

namespace tenon::runner {

class RecordingReporter : public BuildReporter {
 public:
  void OnStep(const run::Step& step) override { steps.push_back(step); }
  void OnProgress(const std::string& step, const std::string& detail, uint64_t done,
                  uint64_t total) override {
    progress.push_back(step + "|" + detail + "|" + std::to_string(done) + "/" +
                       std::to_string(total));
  }
  void OnOutput(std::string_view bytes) override { output += bytes; }

  std::vector<run::Step> steps;
  std::vector<std::string> progress;
  std::string output;
};

class EnvironmentJobTest : public testing::Test {
 protected:
  EnvironmentJobTest() {
    job_.prefix = folder_ / "envs/e";
    job_.cache = folder_ / "cache";
    job_.tools = SharedTools();
    job_.scratch = folder_ / "scratch";
    job_.project = folder_ / "project";
    job_.packages.file = "aml_config/c.yml";
    job_.packages.format = "conda";
    job_.environment = BuildEnvironment(CurrentEnvironment());
    job_.ca_bundle = FindCaBundle(job_.environment);
    TENON_CHECK(MakeDirs(job_.project + "/wheels").ok());
  }

  // One folder for the whole program: fetching uv for every test would take minutes.
  static const std::string& SharedTools() {
    static TempFolder folder;
    static std::string tools = folder / "tools";
    return tools;
  }
  static const Result<std::string>& SharedUv() {
    static std::atomic<bool> never = false;
    static Result<std::string> uv =
        EnsureStaticUv(SharedTools(), BuildEnvironment(CurrentEnvironment()), never);
    return uv;
  }
  static std::string Uv() { return SharedUv().value(); }

#define NeedUv() \
  if (!SharedUv().ok()) GTEST_SKIP() << "no uv to be had: " << SharedUv().error().message
#define NeedNetwork() NeedUv()

  Result<MadeEnvironment> Make() { return MakeEnvironment(job_, reporter_, stop_); }

  static std::string VersionOf(const MadeEnvironment& made, const std::string& name) {
    for (const run::InstalledPackage& package : made.installed) {
      if (package.name == name) return package.version;
    }
    return "";
  }

  static std::string Ask(const MadeEnvironment& made, const std::string& code) {
    auto ran = RunAndCapture({made.python, "-I", "-c", code}, "/");
    if (!ran.ok()) return ran.error().message;
    return std::string(Trim(ran->out + ran->err));
  }

  static void Write(const std::string& path, const std::string& text) {
    TENON_CHECK(MakeDirs(DirName(path)).ok());
    TENON_CHECK(WriteFileAtomically(path, text, 0644, Durability::kProcess).ok());
  }

  static void RunPython(const std::string& code, const std::vector<std::string>& arguments) {
    std::vector<std::string> argv = {"python3", "-c", code};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    auto ran = RunAndCapture(argv, "/");
    ASSERT_TRUE(ran.ok()) << ran.error().message;
    ASSERT_EQ(ran->status.code, 0) << ran->err;
  }

  // Makes a wheel in the project's folder and asks for it by its path.
  void AddWheel(const std::string& name, const std::string& version, const std::string& where) {
    std::string module = name;
    std::replace(module.begin(), module.end(), '-', '_');
    std::string file = "wheels/" + module + "-" + version + "-py3-none-any.whl";
    RunPython(
        "import sys, zipfile\n"
        "path, module, name, version = sys.argv[1:]\n"
        "info = '%s-%s.dist-info/' % (module, version)\n"
        "parts = {module + '.py': 'x = 1\\n',\n"
        "  info + 'METADATA': 'Metadata-Version: 2.1\\nName: %s\\nVersion: %s\\n' % (name, "
        "version),\n"
        "  info + 'WHEEL': 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\n'\n"
        "                  'Tag: py3-none-any\\n'}\n"
        "record = info + 'RECORD'\n"
        "parts[record] = ''.join(n + ',,\\n' for n in list(parts) + [record])\n"
        "with zipfile.ZipFile(path, 'w') as z:\n"
        "    for n, text in parts.items(): z.writestr(n, text)\n",
        {job_.project + "/" + file, module, name, version});
    job_.packages.pip.push_back({"./" + file, name, where});
  }

  TempFolder folder_;
  EnvironmentJob job_;
  RecordingReporter reporter_;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> finished_ = false;
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_ENVIRONMENT_ENVIRONMENT_JOB_H_
