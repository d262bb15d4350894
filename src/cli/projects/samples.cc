// SPDX-License-Identifier: Apache-2.0
#include "cli/projects/samples.h"

#include <algorithm>

#include "base/json.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/projects/embedded_samples.h"

namespace tenon::cli {
namespace {

constexpr std::string_view kDescription = "sample.json";

const EmbeddedSampleFile& Embedded(std::string_view path) {
  const auto files = EmbeddedSampleFiles();
  const auto found = std::find_if(files.begin(), files.end(), [&](const EmbeddedSampleFile& file) {
    return file.path == path;
  });
  TENON_CHECK(found != files.end());
  return *found;
}

// The files below `folder`, with paths relative to it.
std::vector<project::NewFile> FilesBelow(const std::string& folder) {
  std::vector<project::NewFile> files;
  for (const EmbeddedSampleFile& file : EmbeddedSampleFiles()) {
    if (!file.path.starts_with(folder + "/")) continue;
    files.push_back(
        {std::string(file.path.substr(folder.size() + 1)), file.bytes, file.executable});
  }
  return files;
}

Sample MakeSample(const std::string& name, std::string_view description) {
  const Result<json::Value> value = json::Parse(description);
  TENON_CHECK(value.ok() && value->is_object());  // built into this program and tested
  const json::Object& object = value->as_object();
  Sample sample{name, json::GetString(object, "summary"), json::GetString(object, "script"),
                FilesBelow(name)};
  std::erase_if(sample.files, [](const auto& file) { return file.path == kDescription; });
  if (const json::Object* borrow = json::GetObject(object, "borrow")) {
    for (const auto& member : *borrow) {
      const EmbeddedSampleFile& file = Embedded(std::string_view(member.value().as_string()));
      sample.files.push_back({std::string(member.key()), file.bytes, file.executable});
    }
  }
  return sample;
}

}  // namespace

const std::vector<Sample>& AllSamples() {
  static const std::vector<Sample> samples = [] {
    std::vector<Sample> made;
    for (const EmbeddedSampleFile& file : EmbeddedSampleFiles()) {
      const size_t slash = file.path.find('/');
      if (slash == std::string_view::npos || file.path.substr(slash + 1) != kDescription) continue;
      made.push_back(MakeSample(std::string(file.path.substr(0, slash)), file.bytes));
    }
    return made;
  }();
  return samples;
}

Result<const Sample*> FindSample(const std::string& name) {
  std::vector<std::string> names;
  for (const Sample& sample : AllSamples()) {
    if (sample.name == name) return &sample;
    names.push_back(sample.name);
  }
  const auto near = DidYouMean(name, names);
  return NotFound("there is no sample `" + OneLine(name) + "`")
      .WithHint(near ? "did you mean " + *near + "?" : "there are: " + Join(names, ", "));
}

std::vector<project::NewFile> BlankProject(bool with_scripts) {
  std::vector<project::NewFile> files = FilesBelow("blank");
  if (!with_scripts) {
    std::erase_if(
        files, [](const auto& file) { return file.path == "train.py" || file.path == "score.py"; });
  }
  return files;
}

}  // namespace tenon::cli
