// SPDX-License-Identifier: Apache-2.0
#include "cli/parse/not_here.h"

#include <algorithm>

#include "base/text.h"
#include "cli/print/print.h"

namespace tenon::cli {
namespace {

constexpr std::string_view kDprepSentence =
    "data preparation files (.dprep, .dsource) can be opened by Workbench only";
constexpr std::string_view kDprepInstead =
    "read the data in the script itself, for example with pandas";

}  // namespace

const std::vector<NotHere>& AllNotHere() {
  static const std::vector<NotHere> table = {
      {{"service"},
       "deploying a model as a web service is no part of Tenon",
       "`tenon history download -r RUN -d DIR` fetches the model; any web framework can load it in "
       "the way score.py does"},
      {{"env"},
       "Workbench's `env` set up clusters for web services, which are no part of Tenon",
       "machines for runs are named with `az ml computetarget attach`",
       /*az_only=*/true},
      {{"notebook"},
       "starting a notebook server is no part of Tenon",
       "`jupyter notebook` in the project's folder starts one; scripts run with `tenon submit`"},
      {{"account"},
       "there is no cloud and no account here, so nothing has to be made, shown or deleted",
       "`tenon submit` works without one"},
      {{"model"},
       "the model management service is no part of Tenon",
       "`tenon history promote -r RUN -ap PATH -n NAME` keeps an output under a name; "
       "`tenon history download` fetches it"},
      {{"manifest"},
       "manifests belonged to the model management service, which is no part of Tenon",
       "`tenon history promote -r RUN -ap PATH -n NAME` keeps an output under a name"},
      {{"image"},
       "building images for web services is no part of Tenon",
       "`docker build` makes one of the files that `tenon history download` fetches"},
      {{"workspace"},
       "there is no cloud and no workspace here",
       "`tenon project create` makes a project, which is all that is needed"},
      {{"datasource"}, kDprepSentence, kDprepInstead},
      {{"dataprep"}, kDprepSentence, kDprepInstead},
      {{"project", "update"},
       "a project's repository is not known to Tenon, so there is nothing to update",
       "`git remote add origin URL` in the project's folder"},
      {{"project", "delete"},
       "a project is a folder, and nothing else has to be deleted with it",
       "delete the folder; `tenon runs delete RUN` removes runs from the record"},
  };
  return table;
}

std::optional<NotHere> FindNotHere(const std::vector<std::string>& words, Program program) {
  std::vector<std::string_view> said;
  for (const std::string& word : words) {
    if (!word.starts_with("-")) said.push_back(word);
  }
  for (const NotHere& row : AllNotHere()) {
    if (row.az_only && program != Program::kAz) continue;
    if (said.size() >= row.words.size() &&
        std::equal(row.words.begin(), row.words.end(), said.begin())) {
      return row;
    }
  }
  return std::nullopt;
}

int PrintNotHere(const NotHere& absent, const std::vector<std::string>& words) {
  const bool help = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word == "-h" || word == "--help";
  });
  if (help) {
    PrintOut(std::string(absent.sentence) + "\n\nInstead: " + std::string(absent.instead) + "\n");
    FlushOut();
    return 0;
  }
  PrintError(Invalid(std::string(absent.sentence)).WithHint(std::string(absent.instead)));
  return 2;
}

std::optional<Error> NotHereFile(std::string_view script) {
  const std::string lower = ToLower(script);
  if (!lower.ends_with(".dprep") && !lower.ends_with(".dsource")) return std::nullopt;
  return Invalid(OneLine(script) + ": " + std::string(kDprepSentence))
      .WithHint(std::string(kDprepInstead));
}

}  // namespace tenon::cli
