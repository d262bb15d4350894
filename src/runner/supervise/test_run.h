// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_RUNNER_SUPERVISE_TEST_RUN_H_
#define TENON_RUNNER_SUPERVISE_TEST_RUN_H_

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "journal/reader.h"
#include "journal/segments.h"
#include "journal/writer.h"
#include "runner/supervise/executor.h"
#include "runner/supervise/supervisor.h"
#include "snapshot/freeze/freeze.h"
#include "snapshot/store/object_store.h"

namespace tenon::runner {

// For tests: one run in a home of its own, carried out by a real supervisor with the test's
// executor.
class TestRun {
 public:
  TestRun() {
    char name[] = "/tmp/tenon-supervisor-XXXXXX";
    TENON_CHECK(::mkdtemp(name) != nullptr);
    request.run.home = name;
    request.run.run_id = request.spec.id = "proj_1";
    request.spec.key = NewUuid();
    request.spec.python = "sh";
    request.spec.grace_us = 30'000'000;
    request.environment = CurrentEnvironment();
    TENON_CHECK(MakeDirs(Folder().path()).ok());
    SetScript("main.py", "x");
  }
  ~TestRun() { EXPECT_TRUE(RemoveTree(request.run.home).ok()); }
  TestRun(const TestRun&) = delete;
  TestRun& operator=(const TestRun&) = delete;

  // Replaces the project's files by this one.
  void SetScript(const std::string& name, const std::string& text) {
    const std::string project = request.run.home + "/project";
    TENON_CHECK(RemoveTree(project).ok() && MakeDirs(project).ok());
    TENON_CHECK(
        WriteFileAtomically(JoinPath(project, name), text, 0644, Durability::kProcess).ok());
    auto store = snapshot::ObjectStore::Open(run::Home(request.run.home).objects());
    TENON_CHECK(store.ok());
    snapshot::FreezeOptions freeze;
    freeze.folder = project;
    auto frozen = snapshot::Freeze(*store, freeze);
    TENON_CHECK(frozen.ok());
    request.spec.tree = frozen->root.Hex();
    request.spec.script = name;
  }
  run::RunFolder Folder() const { return request.run.Folder(); }

  // Carries out the run. `meanwhile` is called every few milliseconds, and once after the run.
  void Run(std::unique_ptr<Executor> executor,
           const std::function<void(Supervisor&)>& meanwhile = {}) {
    auto writer = journal::Writer::Open({Folder().host_segment(), request.spec.key,
                                         std::string(run::kHostSegment), nullptr, false});
    ASSERT_TRUE(writer.ok());
    Recorder recorder(std::move(*writer), request.SecretValues(), Folder().runner_log());
    Syncer syncer(recorder.writer());
    PollLoop loop;
    Supervisor supervisor(request, recorder, syncer, loop, std::move(executor));
    // Nothing handles signals in this test, and a fake script has no process whose end could raise
    // SIGCHLD.
    const std::function<void()> look = [&] {
      supervisor.OnSignal(SIGCHLD);
      if (meanwhile) meanwhile(supervisor);
      loop.AddTimer(2'000, look);
    };
    loop.AddTimer(0, look);
    supervisor.Run();
    if (meanwhile) meanwhile(supervisor);
    Read();
  }
  const run::End& end() const { return ends[0]; }

  StartRequest request;
  // What the supervisor has recorded.
  std::vector<run::End> ends;
  std::vector<std::string> notices;
  std::vector<run::State> states;
  std::string out, err;
  // What other writers have recorded.
  std::vector<std::string> others;  // their segments
  std::string others_out, others_err;
  std::vector<run::ScriptEnded> others_ended;

 private:
  void Read() {
    for (const std::string& segment : journal::FarSegments(Folder())) {
      auto reader = journal::Reader::Open(Folder().segment(segment));
      ASSERT_TRUE(reader.ok());
      const bool ours = segment == run::kHostSegment;
      if (!ours) others.push_back(segment);
      for (;;) {
        auto record = reader->Next();
        ASSERT_TRUE(record.ok());
        if (!*record) break;
        auto event = run::DecodeEvent((*record)->type, (*record)->payload);
        ASSERT_TRUE(event.ok() && event->has_value());
        Take(ours, **event);
      }
    }
    ASSERT_EQ(ends.size(), 1u);
  }
  void Take(bool ours, const run::Event& event) {
    if (auto* end = std::get_if<run::End>(&event)) ends.push_back(*end);
    if (auto* notice = std::get_if<run::Notice>(&event)) notices.push_back(notice->text);
    if (auto* state = std::get_if<run::StateChange>(&event)) states.push_back(state->state);
    if (auto* ended = std::get_if<run::ScriptEnded>(&event)) others_ended.push_back(*ended);
    if (auto* output = std::get_if<run::Output>(&event)) {
      std::string& to = output->stream == run::Stream::kStdout ? (ours ? out : others_out)
                                                               : (ours ? err : others_err);
      to += output->bytes;
    }
  }
};

}  // namespace tenon::runner

#endif  // TENON_RUNNER_SUPERVISE_TEST_RUN_H_
