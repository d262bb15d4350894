// SPDX-License-Identifier: Apache-2.0
// Makes real environments with real tools. Packages come from the index or are made here. A test
// skips itself, and says so, when the machine lacks what it needs (an old Python, a network).
#include "runner/environment/make_environment.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "base/file.h"
#include "base/source_tree.h"
#include "base/temp_folder.h"
#include "base/text.h"
#include "runner/environment/environment_job.h"
#include "runner/environment/tools.h"

namespace tenon::runner {
namespace {

class MakeEnvironmentTest : public EnvironmentJobTest {};

TEST_F(MakeEnvironmentTest, PipLinesAreInstalledByUvAndTheListTellsWhatIsThere) {
  NeedUv();
  job_.packages.pip = {{"six==1.16.0", "six", "aml_config/c.yml:4"}};
  AddWheel("tenon-demo", "1.2", "aml_config/c.yml:5");
  auto made = Make();
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(made->python, job_.prefix + "/bin/python");
  EXPECT_EQ(VersionOf(*made, "six"), "1.16.0");
  EXPECT_EQ(VersionOf(*made, "tenon-demo"), "1.2");
  EXPECT_GT(made->bytes, 10'000u);
  EXPECT_EQ(Ask(*made, "import six, tenon_demo; print(six.__version__)"), "1.16.0");
  EXPECT_FALSE(Exists(job_.scratch)) << "the recipe's own files are left behind";
  ASSERT_EQ(reporter_.steps.size(), 3u);
  EXPECT_EQ(reporter_.steps[1].name, "pip packages");
  EXPECT_EQ(reporter_.steps[2].name, "pip itself");
  EXPECT_NE(reporter_.output.find("six==1.16.0"), std::string::npos);
}

TEST_F(MakeEnvironmentTest, WithoutUvVenvAndPipMakeTheSame) {
  NeedNetwork();
  job_.tools = folder_ / "no-tools/none";
  // Makes it impossible to fetch uv: no folder can be made below a file.
  ASSERT_TRUE(WriteFileAtomically(folder_ / "no-tools", "", 0644, Durability::kProcess).ok());
  job_.packages.pip = {{"six==1.16.0", "six", "aml_config/c.yml:4"}};
  auto made = Make();
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(VersionOf(*made, "six"), "1.16.0");
  EXPECT_EQ(VersionOf(*made, "pip").empty(), false) << "venv puts pip in";
  EXPECT_EQ(Ask(*made, "import six; print(six.__version__)"), "1.16.0");
}

TEST_F(MakeEnvironmentTest, AnOldPythonIsFoundWhereItLies) {
  NeedUv();
  // An interpreter that is not on PATH but where pyenv puts them: this machine's own, under its
  // version.
  auto any = environment::PythonConstraint::Parse(">=3.6");
  auto here = FindInterpreters({job_.tools, job_.environment, {}, stop_}, *any);
  ASSERT_FALSE(here.empty()) << "no Python 3.6 or later";
  const std::string version = here[0].version;
  const std::string bin = folder_ / "pyenv/versions/" + version + "/bin";
  ASSERT_TRUE(MakeDirs(bin).ok());
  ASSERT_EQ(::symlink(here[0].path.c_str(), (bin + "/python3").c_str()), 0);
  ASSERT_TRUE(MakeDirs(folder_ / "empty").ok());
  job_.environment["PATH"] = folder_ / "empty";
  job_.environment["PYENV_ROOT"] = folder_ / "pyenv";
  job_.packages.python = "==" + version;
  job_.packages.python_where = "aml_config/c.yml:3";
  AddWheel("tenon-demo", "1.2", "aml_config/c.yml:5");
  auto made = Make();
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(made->python_version, version);
  EXPECT_EQ(Ask(*made, "import tenon_demo; print(1)"), "1");
}

TEST_F(MakeEnvironmentTest, APythonOf2017MakesAnEnvironment) {
  NeedUv();
  job_.packages.python = "=3.6";
  job_.packages.python_where = "aml_config/c.yml:3";
  auto constraint = environment::PythonConstraint::Parse("=3.6");
  const auto here = FindInterpreters({job_.tools, job_.environment, {}, stop_}, *constraint);
  if (environment::ChoosePython(here, *constraint) == nullptr) {
    GTEST_SKIP() << "planned: no Python 3.6 on this machine";
  }
  AddWheel("tenon-demo", "1.2", "aml_config/c.yml:5");
  auto made = Make();
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_TRUE(made->python_version.starts_with("3.6.")) << made->python_version;
  EXPECT_EQ(Ask(*made, "import sys, tenon_demo; print(sys.version_info[:2])"), "(3, 6)");
}

TEST_F(MakeEnvironmentTest, APackageThatIsNotThereIsAnErrorThatNamesItsLine) {
  NeedUv();
  job_.packages.pip = {{"six", "six", "aml_config/c.yml:4"},
                       {"numpyy-of-tenon==1.0", "numpyy-of-tenon", "aml_config/c.yml:7"}};
  auto made = Make();
  ASSERT_FALSE(made.ok());
  EXPECT_TRUE(made.error().message.starts_with(
      "aml_config/c.yml:7: numpyy-of-tenon==1.0 could not be installed"))
      << made.error().message;
  EXPECT_NE(made.error().message.find("not found in the package registry"), std::string::npos)
      << "the tool's own words: " << made.error().message;
  EXPECT_FALSE(made.error().hint.empty());
  EXPECT_FALSE(Exists(job_.prefix)) << "something that looks finished was left";
}

TEST_F(MakeEnvironmentTest, WhatAnEarlierTryLeftIsNotUsed) {
  NeedUv();
  ASSERT_TRUE(MakeDirs(job_.prefix + "/bin").ok());
  ASSERT_TRUE(MakeDirs(job_.scratch + "/tmp").ok());
  ASSERT_TRUE(
      WriteFileAtomically(job_.prefix + "/bin/python", "rubbish", 0755, Durability::kProcess).ok());
  ASSERT_TRUE(
      WriteFileAtomically(job_.prefix + "/old", "rubbish", 0755, Durability::kProcess).ok());
  AddWheel("tenon-demo", "1.2", "aml_config/c.yml:5");
  auto made = Make();
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_FALSE(Exists(job_.prefix + "/old"));
  EXPECT_EQ(Ask(*made, "import tenon_demo; print(1)"), "1");
}

TEST_F(MakeEnvironmentTest, AHomeThatCannotBeWrittenDoesNotMatter) {
  NeedUv();
  job_.environment["HOME"] = "/nonexistent";
  AddWheel("tenon-demo", "1.2", "aml_config/c.yml:5");
  auto made = Make();
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(VersionOf(*made, "tenon-demo"), "1.2");
}

TEST_F(MakeEnvironmentTest, AStopInTheMiddleEndsEverythingThatWasStarted) {
  NeedUv();
  // A source package whose setup writes its process id, ignores SIGTERM and does not end.
  std::string source = job_.project + "/slow";
  std::string started = folder_ / "started";
  ASSERT_TRUE(MakeDirs(source).ok());
  Write(source + "/setup.py",
        "import os, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "open('" +
            started +
            ".new', 'w').write(str(os.getpid()))\n"
            "os.rename('" +
            started + ".new', '" + started + "')\ntime.sleep(600)\n");
  Write(source + "/pyproject.toml",
        "[build-system]\nrequires = []\nbuild-backend = \"backend\"\nbackend-path = [\".\"]\n");
  Write(source + "/backend.py", "import setup\n");
  job_.packages.pip = {{source, "slow", "aml_config/c.yml:4"}};
  std::thread stopper([&] {
    while (!Exists(started) && !finished_) ::usleep(10'000);
    stop_ = true;
  });
  auto made = Make();
  finished_ = true;
  stopper.join();
  ASSERT_FALSE(made.ok());
  ASSERT_TRUE(Exists(started)) << made.error().message;
  EXPECT_EQ(made.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(made.error().message, "stopped");
  pid_t pid = std::stoi(ReadFile(started).value());
  // The signal was sent before Make returned, but the process may need a moment to die and be
  // reaped.
  auto gone = [pid] {
    auto id = IdentifyProcess(pid);
    return !id || CheckProcess(*id) == Liveness::kGone;
  };
  for (int i = 0; i < 1000 && !gone(); ++i) ::usleep(10'000);
  EXPECT_TRUE(gone()) << "process " << pid << " goes on";
  EXPECT_FALSE(Exists(job_.prefix));
}

TEST_F(MakeEnvironmentTest, SecretsAreMaskedInOutputAndErrors) {
  NeedUv();
  job_.masked = {"s3cr3t-canary"};
  job_.environment["INDEX_TOKEN"] = "s3cr3t-canary";
  job_.environment["UV_HTTP_RETRIES"] = "0";
  job_.packages.pip_options = {
      {"--index-url http://user:${INDEX_TOKEN}@127.0.0.1:9/simple", "", "aml_config/c.yml:3"}};
  job_.packages.pip = {{"six", "six", "aml_config/c.yml:4"}};
  auto made = Make();
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().message.find("s3cr3t"), std::string::npos) << made.error().message;
  EXPECT_EQ(reporter_.output.find("s3cr3t"), std::string::npos);
  EXPECT_EQ(made.error().kind, ErrorKind::kUnavailable) << made.error().message;
}

TEST_F(MakeEnvironmentTest, APasswordInAnAddressIsASecretToo) {
  NeedUv();
  job_.environment["UV_HTTP_RETRIES"] = "0";
  job_.environment["UV_INDEX_URL"] = "http://user:p4ssw0rd-a@127.0.0.1:9/simple";
  job_.packages.pip = {
      {"http://user:p4ssw0rd-b@127.0.0.1:9/x-1.0-py3-none-any.whl", "x", "aml_config/c.yml:4"}};
  auto made = Make();
  ASSERT_FALSE(made.ok());
  for (const std::string& text : {made.error().message, made.error().hint, reporter_.output}) {
    EXPECT_EQ(text.find("p4ssw0rd"), std::string::npos) << text;
  }
  EXPECT_TRUE(made.error().message.starts_with("aml_config/c.yml:4: ")) << made.error().message;
}

TEST_F(MakeEnvironmentTest, TheNamedInterpreterMustBeWhatTheFileAsksFor) {
  NeedUv();
  job_.python = "python3";
  job_.packages.python = "=3.5.2";
  job_.packages.python_where = "aml_config/c.yml:3";
  AddWheel("tenon-demo", "1.2", "aml_config/c.yml:5");
  auto made = Make();
  ASSERT_FALSE(made.ok());
  EXPECT_TRUE(made.error().message.starts_with("aml_config/c.yml:3: python=3.5.2"))
      << made.error().message;
}

TEST_F(MakeEnvironmentTest, WithoutAnIndexAFolderOfWheelsIsEnough) {
  NeedUv();
  AddWheel("tenon-demo", "1.2", "");
  job_.packages.pip = {{"tenon-demo==1.2", "tenon-demo", "aml_config/c.yml:4"}};
  job_.packages.pip_options = {{"--find-links ./wheels", "", "aml_config/c.yml:3"}};
  job_.environment["PIP_NO_INDEX"] = "1";
  job_.environment["UV_FIND_LINKS"] = "/nonexistent/wheels";
  job_.environment.erase("PIP_FIND_LINKS");
  auto made = Make();
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(VersionOf(*made, "tenon-demo"), "1.2");
  ASSERT_EQ(made->notices.size(), 1u) << "a folder that is not there is said";
  EXPECT_NE(made->notices[0].text.find("/nonexistent/wheels"), std::string::npos);
  job_.packages.pip = {{"six", "six", "aml_config/c.yml:5"}};
  EXPECT_FALSE(Make().ok()) << "the index was asked after all";
}

TEST_F(MakeEnvironmentTest, ACondaThatReachesNoChannelLeavesPypi) {
  NeedUv();
  std::string sample = SourcePath("tests/data/tools/conda-offline.txt");
  Write(folder_ / "bin/micromamba", "#!/bin/sh\ncat " + sample + " >&2\nexit 1\n");
  ASSERT_EQ(::chmod((folder_ / "bin/micromamba").c_str(), 0755), 0);
  job_.environment["PATH"] = folder_ / "bin:" + job_.environment["PATH"];
  job_.packages.conda = {{"six=1.16", "six", "aml_config/c.yml:4", "six"}};
  auto made = Make();
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(VersionOf(*made, "six"), "1.16.0");
  EXPECT_EQ(made->notices.size(), 1u);
  EXPECT_NE(reporter_.output.find("CondaHTTPError"), std::string::npos) << "it was not asked";
}

TEST_F(MakeEnvironmentTest, ALockFileGivesExactlyWhatItNames) {
  NeedUv();
  Write(job_.project + "/pyproject.toml",
        "[project]\nname = \"p\"\nversion = \"0\"\nrequires-python = \">=3.8\"\n"
        "dependencies = [\"six\"]\n");
  auto locked = RunAndCapture(
      {Uv(), "lock", "--upgrade-package", "six==1.15.0", "--project", job_.project, "--quiet"},
      job_.project);
  ASSERT_TRUE(locked.ok());
  ASSERT_EQ(locked->status.code, 0) << locked->err;
  job_.packages.format = "uv-lock";
  job_.packages.file = "pyproject.toml";
  job_.packages.python = ">=3.8";
  job_.packages.files = {{"pyproject.toml", "1"}, {"uv.lock", "2"}};
  auto made = Make();
  ASSERT_TRUE(made.ok()) << made.error().message;
  ASSERT_EQ(made->installed.size(), 1u) << "the project itself or tools were installed too";
  EXPECT_EQ(VersionOf(*made, "six"), "1.15.0");
}

TEST_F(MakeEnvironmentTest, TenAtOnceFetchOneUv) {
  NeedNetwork();
  std::string tools = folder_ / "fresh-tools";
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 10; ++i) {
    threads.emplace_back([&] {
      auto uv = EnsureStaticUv(tools, job_.environment, stop_);
      if (uv.ok() && ::access(uv->c_str(), X_OK) == 0) ++good;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 10);
  auto names = ListDir(tools).value();
  EXPECT_EQ(std::count_if(names.begin(), names.end(),
                          [](const std::string& name) { return name.starts_with("uv-"); }),
            1);
  EXPECT_EQ(names.size(), 2u) << "the version's folder and the lock: " << Join(names, " ");
}

TEST_F(MakeEnvironmentTest, PipsConfigurationReachesUv) {
  Write(folder_ / "home/.config/pip/pip.conf",
        "[global]\n# a comment\nindex-url = https://u:p@index.example/simple\n"
        "extra-index-url =\n    https://a.example/simple\n    https://b.example/simple\n"
        "trusted-host = h.example\nproxy = http://proxy.example:3128\ncert = /ca.pem\n"
        "[install]\nfind-links = /one /two\n");
  Environment users = {{"HOME", folder_ / "home"},  {"PATH", "/bin"},       {"SECRET_KEY", "x"},
                       {"https_proxy", "http://p"}, {"PIP_RETRIES", "1"},   {"CONDA_PREFIX", "/c"},
                       {"UV_HTTP_TIMEOUT", "9"},    {"PIP_CONFIG_FILE", ""}};
  Environment env = BuildEnvironment(users);
  EXPECT_EQ(env["UV_INDEX_URL"], "https://u:p@index.example/simple");
  EXPECT_EQ(env["UV_EXTRA_INDEX_URL"], "https://a.example/simple https://b.example/simple");
  EXPECT_EQ(env["UV_FIND_LINKS"], "/one,/two");
  EXPECT_EQ(env["https_proxy"], "http://p");
  EXPECT_FALSE(env.contains("HTTPS_PROXY")) << "the environment's proxy wins";
  EXPECT_EQ(env["HTTP_PROXY"], "http://proxy.example:3128");
  EXPECT_EQ(env["UV_INSECURE_HOST"], "h.example");
  EXPECT_EQ(env["PIP_CERT"], "/ca.pem");
  EXPECT_EQ(env["PIP_RETRIES"], "1");
  EXPECT_EQ(env["UV_HTTP_TIMEOUT"], "9");
  EXPECT_FALSE(env.contains("SECRET_KEY"));
  EXPECT_FALSE(env.contains("CONDA_PREFIX"));
  users["LD_LIBRARY_PATH"] = "/host/lib";
  EXPECT_EQ(BuildEnvironment(users)["LD_LIBRARY_PATH"], "/host/lib");
  Environment inside = BuildEnvironmentInside(users);
  EXPECT_EQ(inside["UV_INDEX_URL"], env["UV_INDEX_URL"]) << "the user's pip.conf counts there too";
  for (const char* name : {"PATH", "HOME", "LD_LIBRARY_PATH"}) {
    EXPECT_FALSE(inside.contains(name)) << name << " is this machine's";
  }
  users["UV_INDEX_URL"] = "https://own.example/simple";
  EXPECT_EQ(BuildEnvironment(users)["UV_INDEX_URL"], "https://own.example/simple");
}

TEST_F(MakeEnvironmentTest, AJobAndItsOutcomeSurviveTheWire) {
  job_.packages.pip = {{"six", "six", "f:1"}};
  job_.no_channel = true;
  job_.staged = "/staged \xff";
  auto job = EnvironmentJob::FromJson(job_.ToJson());
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(json::Print(job->ToJson()), json::Print(job_.ToJson()));
  EXPECT_EQ(job->staged, job_.staged);
  EXPECT_FALSE(EnvironmentJob::FromJson({}).ok());
  MadeEnvironment made;
  made.python = "/p/bin/python";
  made.python_version = "3.11.7";
  made.installed = {{"six", "1.16.0", "pypi"}};
  made.notices = {{run::Level::kWarning, "text", "hint"}};
  made.bytes = 12;
  auto back = MadeEnvironment::FromJson(made.ToJson());
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(json::Print(back->ToJson()), json::Print(made.ToJson()));
  EXPECT_EQ(back->notices[0].level, run::Level::kWarning);
}

}  // namespace
}  // namespace tenon::runner
