// SPDX-License-Identifier: Apache-2.0
#ifndef TENON_PROJECT_ORIGIN_H_
#define TENON_PROJECT_ORIGIN_H_

#include <string>
#include <utility>

namespace tenon::project {

// Where a setting's value came from.
struct Origin {
  enum class Kind {
    kDefault,  // no file and no option sets it
    kBuiltIn,  // from a target or run configuration that needs no file
    kOption,   // from an option of the command line
    kFile,     // written in a file of the project
  };
  Kind kind = Kind::kDefault;
  std::string name;  // the option, or the file relative to the project's root
  int line = 0;
  int column = 0;

  static Origin Default() { return {}; }
  static Origin BuiltIn() { return {Kind::kBuiltIn, "", 0, 0}; }
  static Origin Option(std::string option) { return {Kind::kOption, std::move(option), 0, 0}; }
  static Origin File(std::string file, int line, int column) {
    return {Kind::kFile, std::move(file), line, column};
  }

  // "default", "built in", "option -t", "aml_config/local.runconfig:3:9"
  std::string Text() const {
    switch (kind) {
      case Kind::kDefault:
        return "default";
      case Kind::kBuiltIn:
        return "built in";
      case Kind::kOption:
        return "option " + name;
      case Kind::kFile:
        return name + ":" + std::to_string(line) + ":" + std::to_string(column);
    }
    return "default";
  }
  bool operator==(const Origin&) const = default;
};

// A value with the place it came from.
template <typename T>
struct Setting {
  T value{};
  Origin origin;
  bool given() const { return origin.kind != Origin::Kind::kDefault; }
};

}  // namespace tenon::project

#endif  // TENON_PROJECT_ORIGIN_H_
