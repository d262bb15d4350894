// SPDX-License-Identifier: Apache-2.0
#include "environment/pypi_names.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace tenon::environment {
namespace {

constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"beautifulsoup", "beautifulsoup4"},
    {"dask-core", "dask"},
    {"keras-gpu", "keras"},
    {"matplotlib-base", "matplotlib"},
    {"msgpack-python", "msgpack"},
    {"opencv", "opencv-python"},
    {"opencv3", "opencv-python"},
    {"py-lightgbm", "lightgbm"},
    {"py-opencv", "opencv-python"},
    {"py-xgboost", "xgboost"},
    {"py-xgboost-cpu", "xgboost"},
    {"py-xgboost-gpu", "xgboost"},
    {"pytables", "tables"},
    {"pytorch", "torch"},
    {"pytorch-cpu", "torch"},
    {"pytorch-gpu", "torch"},
    {"python-graphviz", "graphviz"},
    {"seaborn-base", "seaborn"},
    {"tensorflow-base", "tensorflow"},
    {"tensorflow-mkl", "tensorflow"},
};

// Things of conda's own world: PyPI has nothing of that name, or something else.
constexpr std::string_view kNotOnPypi[] = {
    "anaconda", "binutils", "blas",    "boost",   "bzip2", "cuda",     "cudatoolkit", "cudnn",
    "curl",     "ffmpeg",   "gcc",     "git",     "go",    "gxx",      "hdf5",        "icu",
    "java-jdk", "libgcc",   "make",    "mpi",     "nccl",  "ncurses",  "nodejs",      "nomkl",
    "openblas", "openjdk",  "openmpi", "openssl", "r",     "readline", "rust",        "spark",
    "sqlite",   "tk",       "vc",      "xz",      "yarn",  "zlib",     "zeromq",      "mpich",
};
constexpr std::string_view kNotOnPypiPrefixes[] = {"r-", "_", "lib", "gcc_", "gxx_", "cuda-"};

bool IsOnPypi(std::string_view name) {
  for (std::string_view other : kNotOnPypi) {
    if (name == other) return false;
  }
  for (std::string_view prefix : kNotOnPypiPrefixes) {
    if (name.starts_with(prefix) && name != "librosa" && name != "libclang" && name != "libsass") {
      return false;
    }
  }
  return true;
}

std::string_view WithoutChannel(std::string_view text) {
  text = Trim(text);
  size_t colons = text.find("::");
  return colons == std::string_view::npos ? text : Trim(text.substr(colons + 2));
}

size_t NameEnd(std::string_view text) {
  return std::min(text.find_first_of(" \t=<>!~[;@"), text.size());
}

// One part of a version: "=1.2" → "==1.2.*".
Result<std::string> Clause(std::string_view text, std::string_view whole) {
  text = Trim(text);
  if (text.empty() || text == "*") return std::string();
  size_t op_length = std::min(text.find_first_not_of("=<>!~"), text.size());
  std::string op(text.substr(0, op_length));
  std::string_view version = Trim(text.substr(op_length));
  if (size_t build = version.find_first_of("= "); build != std::string_view::npos) {
    version = version.substr(0, build);
  }
  if (version == "*") return std::string();
  if (version.empty() || version.find('|') != std::string_view::npos) {
    return Invalid("\"" + std::string(whole) + "\" can't be written for PyPI");
  }
  bool fuzzy = op == "=";
  if (op.empty() || op == "=") op = "==";
  std::string out = op + std::string(version);
  if (fuzzy && !out.ends_with('*')) out += ".*";
  return out;
}

}  // namespace

std::string CondaName(std::string_view conda_text) {
  std::string_view text = WithoutChannel(conda_text);
  return ToLower(text.substr(0, NameEnd(text)));
}

Result<std::string> PypiRequirement(std::string_view conda_text) {
  std::string name = CondaName(conda_text);
  if (name.empty() || conda_text.find("://") != std::string_view::npos) {
    return Invalid("\"" + std::string(conda_text) + "\" can't be written for PyPI");
  }
  if (!IsOnPypi(name)) return NotFound(name + " is not on PyPI");
  for (const auto& [conda, pypi] : kOtherNames) {
    if (name == conda) {
      name = pypi;
      break;
    }
  }
  std::string_view text = WithoutChannel(conda_text);
  std::string_view rest = Trim(text.substr(NameEnd(text)));
  if (rest.starts_with('[')) {
    return Invalid("\"" + std::string(conda_text) + "\" can't be written for PyPI");
  }
  std::string versions;
  for (const std::string& part : Split(rest, ',')) {
    TENON_TRY(std::string clause, Clause(part, conda_text));
    if (!clause.empty()) versions += (versions.empty() ? "" : ",") + clause;
  }
  return name + versions;
}

}  // namespace tenon::environment
