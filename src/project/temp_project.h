// SPDX-License-Identifier: Apache-2.0
// A project in a temporary folder, for tests.
#ifndef TENON_PROJECT_TEMP_PROJECT_H_
#define TENON_PROJECT_TEMP_PROJECT_H_

#include <gtest/gtest.h>
#include <limits.h>
#include <stdlib.h>

#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"
#include "project/resolve.h"

namespace tenon::project {

class TempProject : public testing::Test {
 protected:
  void SetUp() override {
    char path[] = "/tmp/tenon-project-XXXXXX";
    ASSERT_NE(mkdtemp(path), nullptr);
    char resolved[PATH_MAX];
    ASSERT_NE(realpath(path, resolved), nullptr);
    top_ = resolved;
    root_ = top_ + "/myproject";
    ASSERT_TRUE(MakeDirs(root_).ok());
  }
  void TearDown() override { EXPECT_TRUE(RemoveTree(top_).ok()); }

  void Write(const std::string& file, std::string_view bytes) {
    const std::string path = JoinPath(root_, file);
    ASSERT_TRUE(MakeDirs(DirName(path)).ok());
    ASSERT_TRUE(WriteFileAtomically(path, bytes, 0644, Durability::kProcess).ok());
  }
  // Writes a target and a run configuration named `local`, and a script.
  void WriteLocal() {
    Write("aml_config/local.compute", "type: local\npythonLocation: python3\n");
    Write("aml_config/local.runconfig",
          "ArgumentVector:\n- $file\nFramework: Python\nTarget: local\nTrackedRun: true\n");
    Write("train.py", "print(1)\n");
  }
  Request Submit(const std::string& script = "train.py") const {
    Request request;
    request.cwd = root_;
    if (!script.empty()) request.script = script;
    return request;
  }
  Resolved MustResolve(const Request& request) {
    Result<Resolved> resolved = Resolve(request);
    if (!resolved.ok()) {
      ADD_FAILURE() << resolved.error().message << " | " << resolved.error().hint;
      return {};
    }
    return std::move(resolved).value();
  }
  // "kind: message | hint"
  static std::string Complaint(const Error& error) {
    return std::string(ErrorKindName(error.kind)) + ": " + error.message + " | " + error.hint;
  }
  std::string Complaint(const Request& request) {
    const Result<Resolved> resolved = Resolve(request);
    return resolved.ok() ? "(accepted)" : Complaint(resolved.error());
  }

  std::string top_;
  std::string root_;
};

}  // namespace tenon::project

#endif  // TENON_PROJECT_TEMP_PROJECT_H_
