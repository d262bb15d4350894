// SPDX-License-Identifier: Apache-2.0
// What a machine needs so that uv can be fetched.
#include "runner/environment/tools.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "runner/environment/environment_job.h"

namespace tenon::runner {
namespace {

class ToolsTest : public EnvironmentJobTest {
 protected:
  // Variables with which the Python in `bin` is the only one found.
  Environment Only(const std::string& bin) const {
    Environment environment = job_.environment;
    environment["PATH"] = bin;
    environment["HOME"] = folder_ / "home";
    environment.erase("PYENV_ROOT");
    return environment;
  }

  // A program that answers our probe like a Python with these modules and fails at anything else.
  std::string Pretender(const std::string& modules) {
    const std::string bin = folder_ / "pretender";
    Write(bin + "/python3",
          "#!/bin/sh\ncase \"$*\" in *tenon-has*) ;; *) echo \"cannot: $*\" >&2; exit 3 ;; esac\n"
          "echo tenon-python 3.11.2\necho tenon-has " +
              modules + "\necho tenon-path \"$0\"\n");
    TENON_CHECK(::chmod((bin + "/python3").c_str(), 0755) == 0);
    return bin;
  }

  std::string Tools() const { return folder_ / "tools"; }
};

TEST_F(ToolsTest, APythonWithVenvAloneIsEnoughToFetchUv) {
  NeedNetwork();
  // A virtual environment without pip, whatever else the machine has.
  auto made = RunAndCapture({"python3", "-m", "venv", "--without-pip", folder_ / "bare"}, "/");
  ASSERT_TRUE(made.ok()) << made.error().message;
  ASSERT_EQ(made->status.code, 0) << made->err;
  const Environment environment = Only(folder_ / "bare/bin");
  auto asked = AskInterpreter({Tools(), environment, {}, stop_}, folder_ / "bare/bin/python3");
  ASSERT_TRUE(asked.ok()) << asked.error().message;
  ASSERT_FALSE(asked->has_pip);
  ASSERT_TRUE(asked->has_venv && asked->has_ensurepip) << "python3-venv is not installed";
  auto uv = EnsureStaticUv(Tools(), environment, stop_);
  ASSERT_TRUE(uv.ok()) << uv.error().message;
  EXPECT_EQ(*uv, FindToolsUv(Tools()));
  const auto names = ListDir(Tools());
  ASSERT_TRUE(names.ok());
  for (const std::string& name : *names) {
    EXPECT_FALSE(name.starts_with(".new-")) << "left behind: " << name;
  }
}

TEST_F(ToolsTest, APythonWithoutAnyWayToPipNamesThePackageToInstall) {
  auto uv = EnsureStaticUv(Tools(), Only(Pretender("venv")), stop_);
  ASSERT_FALSE(uv.ok());
  EXPECT_EQ(uv.error().kind, ErrorKind::kNotFound);
  EXPECT_NE(uv.error().message.find("python3"), std::string::npos) << uv.error().message;
  EXPECT_NE(uv.error().hint.find("apt-get install python3-venv"), std::string::npos)
      << uv.error().hint;
}

TEST_F(ToolsTest, AVenvThatCannotBeMadeIsSaidInItsOwnWords) {
  auto uv = EnsureStaticUv(Tools(), Only(Pretender("venv ensurepip")), stop_);
  ASSERT_FALSE(uv.ok());
  EXPECT_NE(uv.error().message.find("cannot: -m venv"), std::string::npos) << uv.error().message;
}

TEST_F(ToolsTest, WithoutAnyPythonItIsNotFound) {
  ASSERT_TRUE(MakeDirs(folder_ / "empty").ok());
  auto uv = EnsureStaticUv(Tools(), Only(folder_ / "empty"), stop_);
  ASSERT_FALSE(uv.ok());
  EXPECT_EQ(uv.error().kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace tenon::runner
