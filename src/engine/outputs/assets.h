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

// The contents of a link file: one line, as the Workbench wrote it, without a line end.
struct AssetLink {
  std::string name;
  std::string version;
};
std::string LinkText(const AssetLink& link);
// Fails with kInvalid when the text is no link file.
Result<AssetLink> ParseLink(std::string_view text);

// Fails with kInvalid when this can't be the name of an asset, which is also the name of a file.
Status CheckAssetName(std::string_view name);

// Makes an asset of an artifact: a file or a folder of the run's outputs, or one of its logs.
// Accepts a leading "./" and backslashes. The version is one more than `at_least` or than the last
// version of that name in the run's project, whichever is larger. Fails with kInvalid while the run
// goes on, and with kNotFound, naming what there is, when the run has no such artifact.
Result<Asset> Promote(Context& context, const journal::RunView& run, const std::string& artifact,
                      const std::string& name, int64_t at_least);

// All assets, by project, name and version; empty `project_id`: of every project. The Error of an
// asset that can't be read is added to `unreadable`. If `unreadable` is null, the call fails with
// that Error, so that a collection does not remove the asset's contents.
Result<std::vector<Asset>> ListAssets(Context& context, const std::string& project_id,
                                      std::vector<Error>* unreadable = nullptr);

// The asset that a link names: that of this project, else the only one of another project. Fails
// with kNotFound, saying where assets come from, and with kInvalid when several other projects have
// one.
Result<Asset> FindAsset(Context& context, const std::string& project_id, const AssetLink& link);

// Writes the contents as <folder>/<name>, a file or a folder, and beside it the link as
// <folder>/<link_name>. Fails with kInvalid, naming it, when the contents' place has something
// else, unless `overwrite`; then nothing has been written. A link file with other contents is
// replaced in any case. Returns the paths that were written, the link last.
Result<std::vector<std::string>> DownloadAsset(Context& context, const Asset& asset,
                                               const std::string& folder,
                                               const std::string& link_name, bool overwrite);

// Forgets an asset. The next collection removes its contents if nothing else has them.
Status DeleteAsset(Context& context, const Asset& asset);

}  // namespace tenon::engine

#endif  // TENON_ENGINE_OUTPUTS_ASSETS_H_
