// SPDX-License-Identifier: Apache-2.0
// Assets: outputs of runs that were given a name. Their contents are objects like all others; a
// small file below <home>/assets/ keeps them alive, so that neither `runs delete` nor `gc` can lose
// them. docs/guide/assets.md.
//
//   assets/<project>/<name>/<version>.json
#ifndef TENON_ENGINE_OUTPUTS_ASSETS_H_
#define TENON_ENGINE_OUTPUTS_ASSETS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "engine/context.h"
#include "journal/fold.h"

namespace tenon::engine {

struct Asset {
  std::string name;
  int64_t version = 0;  // 1, 2, 3 …
  bool folder = false;  // else one file
  std::string hash;     // hex: the file's contents, or the folder's tree
  uint32_t mode = 0644;
  uint64_t size = 0;  // bytes of all its files
  uint64_t files = 1;
  std::string artifact;  // the path it had in the run: outputs/model.pkl
  std::string run_id;
  std::string project, project_id;
  int64_t created_us = 0;

  json::Object ToJson() const;
  static Result<Asset> FromJson(const json::Object& object);
};

// What a link file says. One line, as the Workbench wrote it, no line end.
struct AssetLink {
  std::string name;
  std::string version;
};
std::string LinkText(const AssetLink& link);
// kInvalid when it is no link file.
Result<AssetLink> ParseLink(std::string_view text);

// kInvalid when this cannot be the name of an asset, and so of a file.
Status CheckAssetName(std::string_view name);

// Makes an asset of an artifact: a file or a folder of the run's outputs, or one of its logs. A
// leading "./" and back-slashes are accepted. The version is one more than the last of that name in
// the run's project, and more than `at_least`. kNotFound with what there is.
Result<Asset> Promote(Context& context, const journal::RunView& run, const std::string& artifact,
                      const std::string& name, int64_t at_least);

// All assets, by project, name and version; `project_id` empty: of every project. One that cannot
// be read goes to `unreadable`; without it, it is the Error: better to stop than to collect its
// contents.
Result<std::vector<Asset>> ListAssets(Context& context, const std::string& project_id,
                                      std::vector<Error>* unreadable = nullptr);

// The asset a link names: of this project, else the only one of another project. kNotFound says
// where assets come from; kInvalid when several projects have one.
Result<Asset> FindAsset(Context& context, const std::string& project_id, const AssetLink& link);

// Writes the contents as <folder>/<name>, a file or a folder, and the link beside it as
// <folder>/<link_name>. What is there with other contents is kInvalid naming it unless `overwrite`;
// then nothing has been written. Returns the paths written, links last.
Result<std::vector<std::string>> DownloadAsset(Context& context, const Asset& asset,
                                               const std::string& folder,
                                               const std::string& link_name, bool overwrite);

// Forgets an asset; its contents go with the next collection if nothing else has them.
Status DeleteAsset(Context& context, const Asset& asset);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_OUTPUTS_ASSETS_H_
