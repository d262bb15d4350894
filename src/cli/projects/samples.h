// SPDX-License-Identifier: Apache-2.0
// The samples that are built into this program (docs/formats/sample.md).
#ifndef TENON_CLI_PROJECTS_SAMPLES_H_
#define TENON_CLI_PROJECTS_SAMPLES_H_

#include <string>
#include <vector>

#include "base/result.h"
#include "project/create.h"

namespace tenon::cli {

struct Sample {
  std::string name;
  std::string summary;
  std::string script;
  std::vector<project::NewFile> files;  // of the new project
};

// All samples, sorted by name.
const std::vector<Sample>& AllSamples();
// kNotFound with "did you mean", or with the names of all samples.
Result<const Sample*> FindSample(const std::string& name);

// The files of a new project without a sample. `with_scripts` adds train.py and score.py.
std::vector<project::NewFile> BlankProject(bool with_scripts);

}  // namespace tenon::cli

#endif  // TENON_CLI_PROJECTS_SAMPLES_H_
