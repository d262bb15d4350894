// SPDX-License-Identifier: Apache-2.0
#include "project/files/host_keys.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "project/attach.h"
#include "project/files/config_set.h"
#include "project/files/password.h"
#include "project/files/target.h"
#include "project/temp_project.h"

namespace tenon::project {
namespace {

class HostKeys : public TempProject {
 protected:
  // Reads a target whose file has these lines.
  Result<Target> Read(const std::string& lines) {
    Write("aml_config/vm.compute", "address: h\ntype: remote\n" + lines);
    return ReadTarget(*OpenProject(root_, std::nullopt), "vm");
  }
  std::string Complaint(const std::string& lines) {
    const Result<Target> target = Read(lines);
    return target.ok() ? "" : target.error().message;
  }
  Project Here() { return *OpenProject(root_, std::nullopt); }
};

TEST_F(HostKeys, AreReadWithTheirPlaces) {
  const auto target = Read(
      "port: 2222\nsetup:\n- module load cuda\n- 'export A=\"b c\"'\nwhenIdle: {after: 30m, run: "
      "sudo "
      "shutdown -h now}\ntenonDirectory: /scratch/me\n"
      "password: AzureMlSecret=vm#u#0123456789abcdef0123456789abcdef\n");
  ASSERT_TRUE(target.ok()) << target.error().message;
  EXPECT_EQ(target->port.value, 2222);
  EXPECT_EQ(target->port.origin.Text(), "aml_config/vm.compute:3:7");
  EXPECT_EQ(target->setup.value,
            (std::vector<std::string>{"module load cuda", "export A=\"b c\""}));
  EXPECT_EQ(target->idle_after_us.value, int64_t{30} * 60 * 1'000'000);
  EXPECT_EQ(target->idle_command, "sudo shutdown -h now");
  EXPECT_EQ(target->tenon_directory.value, "/scratch/me");
  EXPECT_EQ(target->password_reference, "AzureMlSecret=vm#u#0123456789abcdef0123456789abcdef");
  EXPECT_TRUE(target->notices.empty());
}

TEST_F(HostKeys, AWrongValueIsSaidWithItsLine) {
  const struct {
    const char *lines, *words;
  } kCases[] = {
      {"port: ssh\n", "aml_config/vm.compute:3:7: port: expected a number"},
      {"port: 0\n", "aml_config/vm.compute:3:7"},
      {"port: 65536\n", "aml_config/vm.compute:3:7"},
      {"setup: module load cuda\n", "setup: expected a list"},
      {"setup:\n- a\n- ''\n", "aml_config/vm.compute:5:3: setup: expected a line"},
      {"whenIdle: 30m\n", "whenIdle: expected names with values"},
      {"whenIdle: {after: 30m}\n", "whenIdle: `run` is missing"},
      {"whenIdle: {run: x}\n", "whenIdle: `after` is missing"},
      {"whenIdle: {after: 5s, run: x}\n", "a time of a minute or more"},
      {"whenIdle: {after: soon, run: x}\n", "a time of a minute or more"},
      {"whenIdle: {after: 30m, run: x, when: y}\n", "no member `when`"},
      {"tenonDirectory: scratch\n", "tenonDirectory: expected an absolute path"},
      {"tenonDirectory: ~/x\n", "tenonDirectory: expected an absolute path"},
  };
  for (const auto& c : kCases) {
    EXPECT_NE(Complaint(c.lines).find(c.words), std::string::npos)
        << c.lines << ": " << Complaint(c.lines);
  }
}

TEST_F(HostKeys, AClearTextPasswordIsNoReference) {
  const auto target = Read("password: hunter2\n");
  ASSERT_TRUE(target.ok());
  EXPECT_EQ(target->password_reference, "");
}

TEST_F(HostKeys, ConfigSetChecksThem) {
  (void)Read("").ok();
  const auto set = [&](const char* key, const char* value) {
    SetRequest request;
    request.key = key;
    request.value = value;
    request.target = "vm";
    return SetKey(Here(), request);
  };
  EXPECT_TRUE(set("port", "2222").ok());
  EXPECT_FALSE(set("port", "many").ok());
  EXPECT_TRUE(set("whenIdle.after", "1h").ok());
  EXPECT_TRUE(set("whenIdle.run", "poweroff").ok());
  EXPECT_FALSE(set("whenIdle.what", "x").ok());
  EXPECT_FALSE(set("tenonDirectory", "here").ok());
  EXPECT_EQ(ReadTarget(Here(), "vm")->idle_command, "poweroff");
}

TEST_F(HostKeys, TheSecretOfAFileIsHandedOutAndReplacedAlone) {
  const std::string before =
      "# mine\naddress: h  # there\r\npassword: 'hun#ter2'\t# do not tell\ntype: remote";
  Write("aml_config/vm.compute", before);
  EXPECT_EQ(**ReadClearTextPassword(Here(), "vm"), "hun#ter2");
  ASSERT_TRUE(ReplaceClearTextPassword(Here(), "vm", "AzureMlSecret=vm#u#00").ok());
  EXPECT_EQ(
      *ReadFile(JoinPath(root_, "aml_config/vm.compute")),
      "# mine\naddress: h  # there\r\npassword: 'AzureMlSecret=vm#u#00'\t# do not tell\ntype: "
      "remote");
  EXPECT_EQ(*ReadClearTextPassword(Here(), "vm"), std::nullopt);
  EXPECT_EQ(ReplaceClearTextPassword(Here(), "vm", "x").error().kind, ErrorKind::kNotFound);
}

TEST_F(HostKeys, AttachWritesPortReferenceAndSetup) {
  AttachRequest request;
  request.type = "remote";
  request.name = "gpu";
  request.address = "gpu1";
  request.username = "ann";
  request.port = 2222;
  request.password_reference = PasswordReference("gpu", "ann", std::string(32, 'a'));
  request.setup = {"module load \"cuda\""};
  ASSERT_TRUE(CheckAttach(Here(), request).ok());
  EXPECT_FALSE(Exists(JoinPath(root_, "aml_config/gpu.compute")));
  ASSERT_TRUE(Attach(Here(), request).ok());
  EXPECT_EQ(*ReadFile(JoinPath(root_, "aml_config/gpu.compute")),
            "address: gpu1\nnativeSharedDirectory: ~/.azureml/share/\npassword: "
            "AzureMlSecret=gpu#ann#" +
                std::string(32, 'a') +
                "\nport: 2222\npythonLocation: python3\nsetup:\n- \"module load "
                "\\\"cuda\\\"\"\ntype: remote\nuserManagedEnvironment: true\nusername: ann\n");
  const auto target = ReadTarget(Here(), "gpu");
  ASSERT_TRUE(target.ok()) << target.error().message;
  EXPECT_EQ(target->port.value, 2222);
  EXPECT_EQ(target->setup.value, request.setup);
  EXPECT_NE(ReadFile(JoinPath(root_, "aml_config/gpu.runconfig"))->find("PrepareEnvironment: true"),
            std::string::npos);
}

}  // namespace
}  // namespace tenon::project
