// SPDX-License-Identifier: Apache-2.0
// What a project asks for in its environment, as plain values. `project` reads them from the user's
// files, the run's spec carries them, and a runner makes the environment.
#ifndef TENON_RUN_PACKAGES_H_
#define TENON_RUN_PACKAGES_H_

#include <string>
#include <vector>

#include "base/fields.h"
#include "base/json.h"
#include "base/result.h"

namespace tenon::run {

struct Package {
  std::string text;   // conda: "numpy=1.12.1"; pip: a requirement line, an address, ./wheels/x.whl
  std::string name;   // name as indexes compare it; "" = the text does not tell
  std::string where;  // the line that asks: "aml_config/conda_dependencies.yml:7"; not in the key
  std::string pypi = {};  // of a conda item: its name on PyPI; "" = none is known

  static constexpr auto Fields() {
    return std::tuple(Field(1, "text", &Package::text, FieldRule::kAlways),
                      Field(2, "name", &Package::name, FieldRule::kAlways),
                      Field(3, "where", &Package::where, FieldRule::kAlways),
                      Field(4, "pypi", &Package::pypi));
  }
};

// A file of the project that is needed to make the environment: a local wheel, a lock file.
struct PackageFile {
  std::string path;  // relative to the project's root
  std::string hash;  // SHA-256, hex, of the part that matters

  static constexpr auto Fields() {
    return std::tuple(Field(1, "path", &PackageFile::path, FieldRule::kAlways),
                      Field(2, "hash", &PackageFile::hash, FieldRule::kAlways));
  }
};

struct Packages {
  std::string file;    // the file that asks, relative to the root; "" = none
  std::string format;  // "conda", "requirements", "uv-lock"; "" = none
  std::string python;  // "=3.6", "==3.5.2", ">=3.8,<3.12"; "" = any
  std::string python_where;
  std::vector<std::string> channels;  // in order
  std::vector<Package> conda;         // without Python itself
  std::vector<Package> pip;           // from requirements files too, with included files expanded
  std::vector<Package> pip_options;   // "--extra-index-url URL", in order
  std::vector<PackageFile> files;     // sorted by path

  // Whether nothing is asked for, not even a Python.
  bool empty() const {
    return python.empty() && conda.empty() && pip.empty() && format != "uv-lock";
  }

  static constexpr auto Fields() {
    return std::tuple(Field(1, "file", &Packages::file, FieldRule::kAlways),
                      Field(2, "format", &Packages::format, FieldRule::kAlways),
                      Field(3, "python", &Packages::python, FieldRule::kAlways),
                      Field(4, "python_where", &Packages::python_where, FieldRule::kAlways),
                      Field(5, "channels", &Packages::channels, FieldRule::kAlways),
                      Field(6, "conda", &Packages::conda, FieldRule::kAlways),
                      Field(7, "pip", &Packages::pip, FieldRule::kAlways),
                      Field(8, "pip_options", &Packages::pip_options, FieldRule::kAlways),
                      Field(9, "files", &Packages::files, FieldRule::kAlways));
  }

  json::Object ToJson() const;
  static Result<Packages> FromJson(const json::Object& object);
};

// A package that was really installed.
struct InstalledPackage {
  std::string name;
  std::string version;
  std::string source;  // "pypi", a channel, an address; "" = the tool does not tell
  static constexpr auto Fields() {
    return std::tuple(Field(1, "name", &InstalledPackage::name, FieldRule::kAlways),
                      Field(2, "version", &InstalledPackage::version, FieldRule::kAlways),
                      Field(3, "source", &InstalledPackage::source));
  }

  bool operator==(const InstalledPackage&) const = default;
};

json::Array InstalledToJson(const std::vector<InstalledPackage>& packages);
Result<std::vector<InstalledPackage>> InstalledFromJson(const json::Array& array);

}  // namespace tenon::run

#endif  // TENON_RUN_PACKAGES_H_
