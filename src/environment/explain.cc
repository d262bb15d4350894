// SPDX-License-Identifier: Apache-2.0
#include "environment/explain.h"

#include <algorithm>

#include "base/text.h"
#include "environment/key.h"
#include "environment/pypi_names.h"

namespace tenon::environment {
namespace {

// Phrases that begin a solver's explanation. It goes on to the next empty line, and every item that
// it names is to blame.
constexpr std::string_view kStories[] = {
    "no solution found when resolving",
    "cannot solve the request because of",
    "could not solve for environment specs",
    "the conflict is caused by",
    "packages are incompatible",
    "packagesnotfounderror",
};

// Phrases of single lines that say what is wrong, the most telling first.
constexpr std::string_view kBlaming[] = {
    "no matching distribution found for",
    "could not find a version that satisfies",
    "was not found in the package registry",
    "was not found in the provided package locations",
    "there is no version of",
    "there are no versions of",
    "no candidates were found for",
    "nothing provides requested",
    "nothing provides",
    "does not exist (perhaps a typo",
    "invalid requirement",
    "failed to parse",
    "couldn't parse requirement",
    "distribution not found at",
    "failed to build",
    "failed building wheel for",
    "failed to download",
    "failed to fetch",
    "could not install requirement",
    "git operation failed",
    "cannot install",
    "requires a different python",
    "has no wheels",
    "cannot be installed because",
    "can't be installed",
    "http error 404",
    "error:",
};

// pip prints these when it begins with a package. When a build fails, the last such line is all
// that names the package.
constexpr std::string_view kBeginning[] = {"collecting ", "building ", "processing "};

// Lines that begin with these say nothing about a failure.
constexpr std::string_view kNoise[] = {"Using Python ",  "Looking in ",  "Collecting ",
                                       "  Downloading ", "Downloading ", " Downloaded ",
                                       "Resolved ",      "Prepared ",    "  Using cached ",
                                       "Using CPython ", "[notice]"};

struct Symptom {
  std::string_view words;  // lower case
  ErrorKind kind;
  std::string_view hint;
};

constexpr std::string_view kDisk =
    "the disk is full: make room (`tenon env clean` removes environments that nobody uses)";
constexpr std::string_view kCertificates =
    "the server's certificate is signed by nobody this machine knows: a company proxy? Set "
    "SSL_CERT_FILE to a bundle that has its certificate";
constexpr std::string_view kNetwork =
    "the package index could not be reached: look at the network, HTTPS_PROXY and PIP_INDEX_URL; "
    "without a network, --find-links FOLDER in the file takes packages from a folder";
constexpr std::string_view kCredentials =
    "the package index refuses: give its user and password in the address, "
    "--extra-index-url https://USER:${NAME}@HOST/simple, and NAME with --secret";
constexpr std::string_view kWheels =
    "no build of that version is made for this Python: change the version or the python= line "
    "(`tenon config upgrade` offers lines that work today)";
constexpr std::string_view kBuild =
    "it has to be compiled here and that failed: ask for a version that has a wheel for this "
    "Python, or use a base image with a compiler and the headers it needs";
constexpr std::string_view kGone =
    "that address does not answer; old ones are gone for good: `tenon config upgrade` knows what "
    "took their place";
constexpr std::string_view kMissing =
    "look at the spelling and the version; `tenon config upgrade` knows what became of old ones";

constexpr Symptom kSymptoms[] = {
    {"no space left on device", ErrorKind::kUnavailable, kDisk},
    {"disk quota exceeded", ErrorKind::kUnavailable, kDisk},
    {"os error 28", ErrorKind::kUnavailable, kDisk},
    {"errno 28", ErrorKind::kUnavailable, kDisk},
    {"certificate_verify_failed", ErrorKind::kUnavailable, kCertificates},
    {"invalid peer certificate", ErrorKind::kUnavailable, kCertificates},
    {"unknownissuer", ErrorKind::kUnavailable, kCertificates},
    {"self-signed certificate", ErrorKind::kUnavailable, kCertificates},
    {"self signed certificate", ErrorKind::kUnavailable, kCertificates},
    {"401 unauthorized", ErrorKind::kDenied, kCredentials},
    {"403 forbidden", ErrorKind::kDenied, kCredentials},
    {"401 client error", ErrorKind::kDenied, kCredentials},
    {"403 client error", ErrorKind::kDenied, kCredentials},
    {"404 not found", ErrorKind::kInvalid, kGone},
    {"404 client error", ErrorKind::kInvalid, kGone},
    {"dns error", ErrorKind::kUnavailable, kNetwork},
    {"failed to lookup address", ErrorKind::kUnavailable, kNetwork},
    {"name resolution", ErrorKind::kUnavailable, kNetwork},
    {"name or service not known", ErrorKind::kUnavailable, kNetwork},
    {"could not resolve host", ErrorKind::kUnavailable, kNetwork},
    {"connection refused", ErrorKind::kUnavailable, kNetwork},
    {"network is unreachable", ErrorKind::kUnavailable, kNetwork},
    {"max retries exceeded", ErrorKind::kUnavailable, kNetwork},
    {"newconnectionerror", ErrorKind::kUnavailable, kNetwork},
    {"error sending request", ErrorKind::kUnavailable, kNetwork},
    {"operation timed out", ErrorKind::kUnavailable, kNetwork},
    {"read timed out", ErrorKind::kUnavailable, kNetwork},
    {"connecttimeouterror", ErrorKind::kUnavailable, kNetwork},
    {"no wheels with a matching", ErrorKind::kInvalid, kWheels},
    {"is not a supported wheel on this platform", ErrorKind::kInvalid, kWheels},
    {"requires a different python", ErrorKind::kInvalid, kWheels},
    {"does not satisfy python", ErrorKind::kInvalid, kWheels},
    {"requires-python", ErrorKind::kInvalid, kWheels},
    {"is not compatible with the current python", ErrorKind::kInvalid, kWheels},
    {"failed to build", ErrorKind::kInvalid, kBuild},
    {"failed building wheel", ErrorKind::kInvalid, kBuild},
    {"metadata-generation-failed", ErrorKind::kInvalid, kBuild},
    {"command not found: gcc", ErrorKind::kInvalid, kBuild},
    {"no matching distribution", ErrorKind::kInvalid, kMissing},
    {"was not found in the", ErrorKind::kInvalid, kMissing},
    {"there is no version of", ErrorKind::kInvalid, kMissing},
    {"no candidates were found", ErrorKind::kInvalid, kMissing},
    {"packagesnotfounderror", ErrorKind::kInvalid, kMissing},
};

// Returns a line without colours and cursor movements, and without the text before a lone carriage
// return, which was drawn over.
std::string PlainLine(std::string_view line) {
  while (line.ends_with('\r')) line.remove_suffix(1);
  if (size_t drawn = line.rfind('\r'); drawn != std::string_view::npos)
    line.remove_prefix(drawn + 1);
  std::string out;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\x1b') {
      out += line[i];
      continue;
    }
    if (i + 1 < line.size() && line[i + 1] == '[') {
      i += 2;
      while (i < line.size() && (line[i] < '@' || line[i] > '~')) ++i;
    }
  }
  return ForTerminal(out);
}

std::vector<std::string> PlainLines(std::string_view output) {
  std::vector<std::string> lines;
  for (const std::string& line : Split(output, '\n')) {
    std::string plain = PlainLine(line);
    while (!plain.empty() && (plain.back() == ' ' || plain.back() == '\t')) plain.pop_back();
    lines.push_back(std::move(plain));
  }
  return lines;
}

bool IsWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

// Whether the normalised `name` is a whole word of a normalised line.
bool HasName(std::string_view line, std::string_view name) {
  if (name.empty()) return false;
  for (size_t at = 0; (at = line.find(name, at)) != std::string_view::npos; ++at) {
    size_t end = at + name.size();
    bool before = at == 0 || !IsWordCharacter(line[at - 1]);
    // "numpy-1.0" is numpy too: tools write name-version.
    bool after =
        end == line.size() || !IsWordCharacter(line[end]) ||
        (line[end] == '-' && end + 1 < line.size() && line[end + 1] >= '0' && line[end + 1] <= '9');
    if (before && after) return true;
  }
  return false;
}

bool Mentions(std::string_view raw_line, std::string_view normal_line, const run::Package& item) {
  std::string name =
      NormaliseName(item.name.empty() ? CondaName(item.text) : std::string_view(item.name));
  bool address = item.text.find('/') != std::string::npos;
  if (!address && HasName(normal_line, name)) return true;
  if (address && !item.name.empty() && HasName(normal_line, name)) return true;
  if (!address) return false;
  std::string_view text = Trim(item.text);
  if (raw_line.find(text) != std::string_view::npos) return true;
  std::string_view file = text.substr(text.rfind('/') + 1);
  file = file.substr(0, file.find_first_of("?#"));
  return file.size() > 3 && raw_line.find(file) != std::string_view::npos;
}

std::vector<run::Package> ItemsIn(const std::vector<run::Package>& items, const std::string& line) {
  std::string normal = NormaliseName(line);
  std::vector<run::Package> found;
  for (const run::Package& item : items) {
    if (Mentions(line, normal, item)) found.push_back(item);
  }
  return found;
}

const Symptom* FindSymptom(std::string_view output) {
  std::string lower = ToLower(output);
  for (const Symptom& symptom : kSymptoms) {
    if (lower.find(symptom.words) != std::string::npos) return &symptom;
  }
  return nullptr;
}

bool IsNoise(std::string_view line) {
  if (line.find("━━") != std::string_view::npos) return true;
  return std::any_of(std::begin(kNoise), std::end(kNoise),
                     [&](std::string_view noise) { return line.starts_with(noise); });
}

bool IsHeadOfError(const std::string& line) {
  std::string lower = ToLower(Trim(line));
  return lower.starts_with("error:") || lower.starts_with("×") || lower.starts_with("critical");
}

void AddNew(std::vector<run::Package>& all, std::vector<run::Package> more) {
  for (run::Package& item : more) {
    bool known = std::any_of(all.begin(), all.end(), [&](const run::Package& other) {
      return other.text == item.text && other.where == item.where;
    });
    if (!known) all.push_back(std::move(item));
  }
}

std::vector<run::Package> InStories(const std::vector<run::Package>& items,
                                    const std::vector<std::string>& lines) {
  std::vector<run::Package> found;
  for (std::string_view words : kStories) {
    for (size_t i = 0; i < lines.size(); ++i) {
      if (ToLower(lines[i]).find(words) == std::string::npos) continue;
      AddNew(found, ItemsIn(items, lines[i]));
      // Conda prints an empty line before its list.
      for (size_t j = i + 1; j < lines.size() && (!lines[j].empty() || found.empty()); ++j) {
        AddNew(found, ItemsIn(items, lines[j]));
      }
      if (!found.empty()) return found;
    }
  }
  return found;
}

std::vector<run::Package> LastBegun(const std::vector<run::Package>& items,
                                    const std::vector<std::string>& lines) {
  for (size_t i = lines.size(); i-- > 0;) {
    std::string lower = ToLower(Trim(lines[i]));
    for (std::string_view words : kBeginning) {
      if (!lower.starts_with(words)) continue;
      auto found = ItemsIn(items, lines[i]);
      if (!found.empty()) return found;
    }
  }
  return {};
}

std::string Headline(const RecipeStep& step, const run::Packages& packages,
                     const std::vector<run::Package>& blamed) {
  if (blamed.empty()) {
    std::string where = packages.file.empty() ? "" : packages.file + ": ";
    if (step.tool == Tool::kVenv || step.name.find("virtual environment") != std::string::npos) {
      where = packages.python_where.empty() ? where : packages.python_where + ": ";
      return where + "the virtual environment could not be made";
    }
    return where + "the " + step.name + " could not be installed";
  }
  if (blamed.size() == 1) {
    return Where(blamed[0].where) + std::string(Trim(blamed[0].text)) + " could not be installed";
  }
  std::string text = Where(blamed[0].where);
  for (size_t i = 0; i < blamed.size() && i < 6; ++i) {
    if (i > 0) text += i + 1 == std::min<size_t>(blamed.size(), 6) ? " and " : ", ";
    text += Trim(blamed[i].text);
    if (i > 0 && !blamed[i].where.empty()) text += " (" + blamed[i].where + ")";
  }
  return text + " could not be installed together";
}

}  // namespace

std::vector<run::Package> FindBlamed(const std::vector<run::Package>& items,
                                     std::string_view output) {
  std::vector<std::string> lines = PlainLines(output);
  auto told = InStories(items, lines);
  if (!told.empty()) return told;
  for (std::string_view words : kBlaming) {
    for (size_t i = 0; i < lines.size(); ++i) {
      if (ToLower(lines[i]).find(words) == std::string::npos) continue;
      auto found = ItemsIn(items, lines[i]);
      // The name may be on a later line: uv quotes the line that it could not read.
      for (size_t j = i + 1; found.empty() && j < lines.size() && j < i + 4; ++j) {
        found = ItemsIn(items, lines[j]);
      }
      if (!found.empty()) return found;
    }
  }
  return LastBegun(items, lines);
}

bool SaysNoChannel(std::string_view output) {
  std::string lower = ToLower(output);
  for (std::string_view words :
       {"condahttperror", "http 000 connection failed", "connection failed for url",
        "could not resolve host", "couldn't resolve host", "download error (6)",
        "download error (7)", "download error (28)", "download error (35)", "download error (56)",
        "proxyerror", "connection refused", "network is unreachable", "condasslerror",
        "tunnel failed", "failed to connect", "could not connect to server",
        "timeout was reached"}) {
    if (lower.find(words) != std::string::npos) return true;
  }
  return false;
}

std::string LastWords(std::string_view output, size_t limit) {
  std::vector<std::string> kept;
  for (std::string& line : PlainLines(output)) {
    if (line.empty() && (kept.empty() || kept.back().empty())) continue;
    if (IsNoise(line)) continue;
    if (line.size() > 400) line = line.substr(0, 400) + "…";
    kept.push_back(ForTerminal(line));
  }
  while (!kept.empty() && kept.back().empty()) kept.pop_back();
  if (kept.size() <= limit) return Join(kept, "\n");
  // The line that says what failed may be far above the details.
  auto end = kept.end() - static_cast<ptrdiff_t>(limit);
  auto head = std::find_if(kept.begin(), end, IsHeadOfError);
  std::vector<std::string> last(end, kept.end());
  if (head != end && limit > 2) last.erase(last.begin(), last.begin() + 2);
  if (head != end && limit > 2) last.insert(last.begin(), {*head, "…"});
  return Join(last, "\n");
}

Error ExplainFailure(const RecipeStep& step, const run::Packages& packages,
                     const std::vector<run::Package>& pip, std::string_view output,
                     const std::string& how) {
  bool is_conda = step.tool == Tool::kConda || step.tool == Tool::kRattler;
  std::vector<run::Package> items = is_conda ? packages.conda : pip;
  if (is_conda && !packages.python.empty()) {
    items.push_back({"python" + packages.python, "python", packages.python_where});
  }
  const Symptom* symptom = FindSymptom(output);
  bool general = symptom && symptom->hint.data() == kDisk.data();
  auto blamed = general ? std::vector<run::Package>() : FindBlamed(items, output);
  std::string words = LastWords(output);
  Error error;
  error.kind = symptom ? symptom->kind : ErrorKind::kInvalid;
  error.message = Headline(step, packages, blamed) + " (" + how + ")";
  if (!words.empty()) error.message += "\n" + words;
  if (symptom) error.hint = symptom->hint;
  bool address = blamed.size() == 1 && blamed[0].text.find("://") != std::string::npos;
  if (address && symptom && symptom->hint.data() == kNetwork.data()) error.hint = kGone;
  return error;
}

}  // namespace tenon::environment
