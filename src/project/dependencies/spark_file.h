// SPDX-License-Identifier: Apache-2.0
// Reads spark_dependencies.yml: options and packages for spark-submit. Used only when Framework is
// PySpark; nearly every project has the file without using it.
#ifndef TENON_PROJECT_DEPENDENCIES_SPARK_FILE_H_
#define TENON_PROJECT_DEPENDENCIES_SPARK_FILE_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "project/origin.h"
#include "yaml/document.h"

namespace tenon::project {

struct SparkPackage {
  std::string group;
  std::string artifact;
  std::string version;
  Origin origin;

  std::string Coordinates() const { return group + ":" + artifact + ":" + version; }
};

struct SparkFile {
  explicit SparkFile(yaml::Document parsed) : document(std::move(parsed)) {}

  yaml::Document document;
  // In the order of the file. Values are text as spark-submit takes it; numbers are kept as
  // written.
  std::vector<std::pair<std::string, Setting<std::string>>> configuration;
  std::vector<Setting<std::string>> repositories;
  std::vector<SparkPackage> packages;
  std::optional<int> version;  // 2 in files of 2018
  std::vector<std::string> notices;

  const std::string& file() const { return document.file_name(); }
};

// Fails like ReadCondaFile: kNotFound, or kInvalid with the line. An empty file asks for nothing.
Result<SparkFile> ReadSparkFile(const std::string& root, const std::string& file);
Result<SparkFile> ParseSparkFile(const std::string& file, std::string bytes);

}  // namespace tenon::project

#endif  // TENON_PROJECT_DEPENDENCIES_SPARK_FILE_H_
