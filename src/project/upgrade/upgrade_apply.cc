// SPDX-License-Identifier: Apache-2.0
// Makes new bytes from a plan. Edits are made one by one with yaml/edit.h, from the end of the file
// to its beginning, so that the paths of later edits stay valid. A list of lines records which
// changes each line comes from; the diff is made from that list.
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "project/files/config_file.h"
#include "project/files/password.h"
#include "project/upgrade/upgrade.h"

namespace tenon::project {
namespace {

using Ids = std::set<size_t>;

struct Line {
  std::string text;  // with its line end
  int old_line = 0;  // counted from 1; 0 for a new line
  Ids ids;           // changes that produced it
};

std::vector<std::string> LinesOf(std::string_view bytes) {
  std::vector<std::string> lines;
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const size_t size = end == std::string_view::npos ? bytes.size() : end + 1;
    lines.emplace_back(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  return lines;
}

class FileEditor {
 public:
  FileEditor(std::string file, std::string bytes)
      : file_(std::move(file)), bytes_(std::move(bytes)) {
    old_ = LinesOf(bytes_);
    removed_.resize(old_.size());
    for (size_t i = 0; i < old_.size(); ++i) {
      lines_.push_back({old_[i], static_cast<int>(i) + 1, {}});
    }
  }

  Status Make(const UpgradeEdit& edit, size_t id) {
    TENON_TRY(const yaml::Document document, yaml::Document::Parse(file_, bytes_));
    Result<std::string> bytes = Edited(document, edit);
    if (!bytes.ok()) return std::move(bytes).error();
    Take(std::move(bytes).value(), id);
    return {};
  }

  // Removes pip parts that have lost their last item, because conda does not accept an empty one.
  Status RemoveEmptyPip(const std::vector<size_t>& ids) {
    TENON_TRY(const yaml::Document document, yaml::Document::Parse(file_, bytes_));
    const yaml::Node* list = document.root().Find("dependencies");
    if (list == nullptr) return {};
    for (size_t i = list->children.size(); i-- > 0;) {
      const yaml::Node* pip = list->children[i].Find("pip");
      if (pip == nullptr || !pip->children.empty() || ids.empty()) continue;
      TENON_TRY(std::string bytes, yaml::Remove(document, {"dependencies", std::to_string(i)}));
      Take(std::move(bytes), ids.back());
      return RemoveEmptyPip(ids);
    }
    return {};
  }

  const std::string& bytes() const { return bytes_; }

  std::string Diff(const std::vector<UpgradeChange>& changes) const {
    std::string out = "--- " + file_ + "\n+++ " + file_ + "\n";
    size_t next_old = 0;
    size_t i = 0;
    while (i < lines_.size() || next_old < old_.size()) {
      if (i < lines_.size() && lines_[i].old_line == static_cast<int>(next_old) + 1) {
        ++next_old;
        ++i;
        continue;
      }
      const bool gone = next_old < old_.size() && !Kept(next_old);
      const bool added = i < lines_.size() && lines_[i].old_line == 0;
      const bool together = gone && added && Overlap(removed_[next_old], lines_[i].ids);
      Ids ids = gone ? removed_[next_old] : Ids();
      if (added && (together || !gone)) ids.insert(lines_[i].ids.begin(), lines_[i].ids.end());
      const size_t minus = gone ? 1 : 0;
      const size_t plus = added && (together || !gone) ? 1 : 0;
      out += Header(next_old, minus, i, plus, ids, changes);
      if (minus) out += Shown('-', old_[next_old]);
      if (plus) out += Shown('+', lines_[i].text);
      next_old += minus;
      i += plus;
    }
    return out;
  }

 private:
  static Result<std::string> Edited(const yaml::Document& document, const UpgradeEdit& edit) {
    switch (edit.kind) {
      case UpgradeEdit::Kind::kSet:
        return yaml::Set(document, edit.path, edit.value);
      case UpgradeEdit::Kind::kSetSource:
        return yaml::SetSource(document, edit.path, edit.value.text);
      case UpgradeEdit::Kind::kRemove:
        return yaml::Remove(document, edit.path);
      case UpgradeEdit::Kind::kAppend:
        return yaml::Append(document, edit.path, edit.value);
    }
    return Internal("an unknown edit");
  }

  // Stores the new bytes. All lines between the common beginning and the common end belong to
  // change `id`, and to the changes of the lines they replace.
  void Take(std::string bytes, size_t id) {
    const std::vector<std::string> now = LinesOf(bytes);
    size_t head = 0;
    while (head < now.size() && head < lines_.size() && now[head] == lines_[head].text) ++head;
    size_t tail = 0;
    while (tail < now.size() - head && tail < lines_.size() - head &&
           now[now.size() - 1 - tail] == lines_[lines_.size() - 1 - tail].text) {
      ++tail;
    }
    Ids ids = {id};
    for (size_t i = head; i < lines_.size() - tail; ++i) {
      ids.insert(lines_[i].ids.begin(), lines_[i].ids.end());
    }
    std::vector<Line> fresh(lines_.begin(), lines_.begin() + static_cast<long>(head));
    for (size_t i = head; i < now.size() - tail; ++i) fresh.push_back({now[i], 0, ids});
    for (size_t i = head; i < lines_.size() - tail; ++i) {
      if (lines_[i].old_line > 0) {
        removed_[static_cast<size_t>(lines_[i].old_line) - 1].insert(ids.begin(), ids.end());
      }
    }
    fresh.insert(fresh.end(), lines_.end() - static_cast<long>(tail), lines_.end());
    lines_ = std::move(fresh);
    bytes_ = std::move(bytes);
  }

  bool Kept(size_t old_index) const { return removed_[old_index].empty(); }

  static bool Overlap(const Ids& a, const Ids& b) {
    return std::any_of(a.begin(), a.end(), [&b](size_t id) { return b.contains(id); });
  }

  // "@@ -6 +6 @@ suggestion: why". An empty side gives the number of the line before it.
  static std::string Header(size_t old_index, size_t minus, size_t new_index, size_t plus,
                            const Ids& ids, const std::vector<UpgradeChange>& changes) {
    const auto side = [](size_t index, size_t count) {
      return count ? std::to_string(index + 1) : std::to_string(index) + ",0";
    };
    std::vector<std::string> reasons;
    for (const size_t id : ids) {
      const UpgradeChange& change = changes[id];
      std::string reason = (change.suggestion ? "suggestion: " : "") + change.reason;
      if (std::find(reasons.begin(), reasons.end(), reason) == reasons.end()) {
        reasons.push_back(std::move(reason));
      }
    }
    return "@@ -" + side(old_index, minus) + " +" + side(new_index, plus) + " @@ " +
           Join(reasons, "; ") + "\n";
  }

  std::string Shown(char mark, std::string_view line) const {
    const bool ended = line.ends_with('\n');
    if (ended) line.remove_suffix(1);
    std::string text(line);
    if (file_.ends_with(".compute")) {
      text = RedactPassword(text);
      if (text.empty() && !line.empty()) text = "(a line with a password)";
    }
    return mark + text + "\n" + (ended ? "" : "\\ No newline at end of file\n");
  }

  std::string file_;
  std::string bytes_;
  std::vector<std::string> old_;
  std::vector<Ids> removed_;  // per old line: changes that removed it; empty: still there
  std::vector<Line> lines_;
};

// Where an edit is in the file. Additions count as the end of the file, so they are made first.
size_t PlaceOf(const yaml::Document& document, const UpgradeEdit& edit) {
  const yaml::Node* node = yaml::FindPath(document, edit.path);
  if (node == nullptr) return document.bytes().size();
  return edit.kind == UpgradeEdit::Kind::kAppend ? node->range.end : node->range.begin;
}

Result<UpgradedFile> MakeFile(const UpgradePlan& plan, const std::string& file,
                              const std::vector<size_t>& ids) {
  const std::string& before = plan.files.at(file);
  TENON_TRY(const yaml::Document document, yaml::Document::Parse(file, before));
  struct Step {
    size_t place;
    const UpgradeEdit* edit;
    size_t id;
  };
  std::vector<Step> steps;
  for (const size_t id : ids) {
    for (const UpgradeEdit& edit : plan.changes[id].edits) {
      steps.push_back({PlaceOf(document, edit), &edit, id});
    }
  }
  std::stable_sort(steps.begin(), steps.end(),
                   [](const Step& a, const Step& b) { return a.place > b.place; });
  FileEditor editor(file, before);
  for (const Step& step : steps) TENON_TRY_VOID(editor.Make(*step.edit, step.id));
  std::vector<size_t> removals;
  for (const Step& step : steps) {
    if (step.edit->kind == UpgradeEdit::Kind::kRemove) removals.push_back(step.id);
  }
  TENON_TRY_VOID(editor.RemoveEmptyPip(removals));
  return UpgradedFile{file, before, editor.bytes(), editor.Diff(plan.changes)};
}

struct Staged {
  std::string path;
  std::string temporary;
};

Result<Staged> Stage(const Project& project, const UpgradedFile& file) {
  TENON_TRY(const std::string real, RealPathInside(project, file.file));
  struct stat info;
  if (::stat(real.c_str(), &info) != 0) return FromErrno(file.file, errno);
  TENON_TRY(const std::string now, ReadFile(real));
  if (now != file.before) {
    return Unavailable(file.file + ": the file has changed in the meantime")
        .WithHint("run `tenon config upgrade` again");
  }
  const std::string temporary = real + ".tenon-" + RandomHex(4);
  TENON_TRY_VOID(
      WriteFileAtomically(temporary, file.after, info.st_mode & 07777, Durability::kPowerLoss));
  return Staged{real, temporary};
}

}  // namespace

Result<std::vector<UpgradedFile>> MakeUpgrade(const UpgradePlan& plan,
                                              const std::vector<bool>& chosen) {
  TENON_CHECK(chosen.size() == plan.changes.size());
  std::map<std::string, std::vector<size_t>> by_file;
  for (size_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i]) by_file[plan.changes[i].file].push_back(i);
  }
  std::vector<UpgradedFile> files;
  for (const auto& [file, ids] : by_file) {
    TENON_TRY(UpgradedFile made, MakeFile(plan, file, ids));
    files.push_back(std::move(made));
  }
  return files;
}

Status WriteUpgrade(const Project& project, const std::vector<UpgradedFile>& files) {
  std::vector<Staged> staged;
  const auto forget = [&staged] {
    for (const Staged& file : staged) (void)RemoveFile(file.temporary).ok();
  };
  for (const UpgradedFile& file : files) {
    Result<Staged> done = Stage(project, file);
    if (!done.ok()) {
      forget();
      return std::move(done).error().Wrap("nothing was changed");
    }
    staged.push_back(std::move(done).value());
  }
  for (size_t i = 0; i < staged.size(); ++i) {
    if (Status renamed = RenameFile(staged[i].temporary, staged[i].path); !renamed.ok()) {
      forget();
      std::vector<std::string> done;
      for (size_t j = 0; j < i; ++j) done.push_back(files[j].file);
      return std::move(renamed).error().Wrap(
          done.empty() ? "nothing was changed" : "only " + Join(done, ", ") + " was changed");
    }
  }
  for (const Staged& file : staged) (void)FsyncDir(DirName(file.path)).ok();
  return {};
}

}  // namespace tenon::project
