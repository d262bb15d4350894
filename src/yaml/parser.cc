// SPDX-License-Identifier: Apache-2.0
// Builds a tree from libfyaml's events. Events are used, not libfyaml's documents, because they
// come in the order of the file with byte positions, and because every limit can be checked while
// the file is still being read: an alias is refused where it is, before it can expand.
#include "yaml/parser.h"

#include <libfyaml.h>

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text.h"

namespace tenon::yaml {
namespace {

constexpr size_t kNone = std::string_view::npos;

Kind KindOfPlain(std::string_view text) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") {
    return Kind::kNull;
  }
  for (const char* word : {"true", "True", "TRUE", "false", "False", "FALSE"}) {
    if (text == word) return Kind::kBool;
  }
  return Kind::kText;
}

Style StyleOf(fy_scalar_style style) {
  switch (style) {
    case FYSS_SINGLE_QUOTED:
      return Style::kSingleQuoted;
    case FYSS_DOUBLE_QUOTED:
      return Style::kDoubleQuoted;
    case FYSS_LITERAL:
    case FYSS_FOLDED:
      return Style::kBlockText;
    default:
      return Style::kPlain;
  }
}

class Builder {
 public:
  Builder(std::string_view bytes, const Source& source) : bytes_(bytes), source_(source) {}

  // Returns false when it found a mistake; mistake() returns it.
  bool Take(fy_event* event);

  const std::optional<Mistake>& mistake() const { return mistake_; }
  Node TakeRoot() { return std::move(root_); }
  std::optional<Position> OpenBracket() const {
    for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
      if (frame->node.style == Style::kFlow) return frame->node.position;
    }
    return std::nullopt;
  }

 private:
  struct Frame {
    Node node;
    bool have_key = false;
    Node key;
    std::unordered_map<std::string, int> key_lines;
  };

  bool Refuse(Position at, std::string what, std::string hint) {
    mistake_ = {at, std::move(what), std::move(hint)};
    return false;
  }
  bool Open(fy_event* event, Kind kind);
  bool Close(fy_event* event);
  bool Scalar(fy_event* event);
  bool Attach(Node node);
  bool AttachKey(Frame& frame, Node key);
  bool CheckProperties(fy_event* event);
  bool CheckCommas(const Node& node);
  Range AbsentRange() const;
  Range BlockTextRange(size_t begin, size_t end) const;

  std::string_view bytes_;
  const Source& source_;
  std::vector<Frame> frames_;
  Node root_;
  int documents_ = 0;
  size_t nodes_ = 0;
  // The end of the last event, where the search for an absent value begins.
  size_t last_end_ = 0;
  std::optional<Mistake> mistake_;
};

bool Builder::Take(fy_event* event) {
  switch (event->type) {
    case FYET_DOCUMENT_START:
      if (++documents_ > 1) {
        const fy_mark* mark = fy_event_start_mark(event);
        return Refuse(source_.PositionOf(mark ? mark->input_pos : last_end_),
                      "a second document begins here",
                      "keep one document per file: remove this line");
      }
      return true;
    case FYET_MAPPING_START:
      return CheckProperties(event) && Open(event, Kind::kMap);
    case FYET_SEQUENCE_START:
      return CheckProperties(event) && Open(event, Kind::kList);
    case FYET_MAPPING_END:
    case FYET_SEQUENCE_END:
      return Close(event);
    case FYET_SCALAR:
      return CheckProperties(event) && Scalar(event);
    case FYET_ALIAS: {
      const fy_mark* mark = fy_event_start_mark(event);
      return Refuse(source_.PositionOf(mark ? mark->input_pos - 1 : last_end_),
                    "aliases (`*name`) are not understood here",
                    "write the value out, or put it in quotes if the `*` belongs to it");
    }
    default:
      return true;
  }
}

bool Builder::CheckProperties(fy_event* event) {
  if (++nodes_ > kMaxNodes) {
    return Refuse(source_.PositionOf(last_end_),
                  "more than " + std::to_string(kMaxNodes) + " values in one file",
                  "if something else lies at this name, move it away");
  }
  fy_token* tag = fy_event_get_tag_token(event);
  if (tag == nullptr) return true;
  const fy_mark* mark = fy_token_start_mark(tag);
  return Refuse(source_.PositionOf(mark ? mark->input_pos : last_end_),
                "tags (`!name`) are not understood here",
                "remove it, or put the value in quotes if the `!` belongs to it");
}

bool Builder::Open(fy_event* event, Kind kind) {
  Frame frame;
  const fy_mark* mark = fy_event_start_mark(event);
  const size_t at = mark ? mark->input_pos : last_end_;
  const bool flow = at < bytes_.size() && fy_event_get_node_style(event) == FYNS_FLOW;
  frame.node.kind = kind;
  frame.node.style = flow ? Style::kFlow : Style::kBlock;
  frame.node.range = {at, at};
  frame.node.position = source_.PositionOf(at);
  if (frames_.size() >= kMaxDepth) {
    return Refuse(frame.node.position,
                  "more than " + std::to_string(kMaxDepth) + " lists or mappings inside each other",
                  "");
  }
  last_end_ = std::max(last_end_, flow ? at + 1 : at);
  frames_.push_back(std::move(frame));
  return true;
}

bool Builder::Close(fy_event* event) {
  Node node = std::move(frames_.back().node);
  frames_.pop_back();
  const fy_mark* mark = fy_event_end_mark(event);
  if (node.style == Style::kFlow && mark != nullptr) {
    node.range.end = mark->input_pos;
    last_end_ = node.range.end;
  }
  // An absent value may lie before the beginning that libfyaml reports.
  for (const Node& child : node.children) {
    node.range.begin = std::min(node.range.begin, child.range.begin);
    node.range.end = std::max(node.range.end, child.range.end);
  }
  return Attach(std::move(node));
}

bool Builder::Scalar(fy_event* event) {
  Node node;
  const fy_mark* start = fy_event_start_mark(event);
  const fy_mark* end = fy_event_end_mark(event);
  fy_token* token = fy_event_get_token(event);
  if (start == nullptr || end == nullptr || token == nullptr) {
    node.range = AbsentRange();
    node.position = source_.PositionOf(node.range.begin);
    return Attach(std::move(node));
  }
  size_t length = 0;
  const char* text = fy_token_get_text(token, &length);
  if (text != nullptr) node.text.assign(text, length);
  node.style = StyleOf(fy_token_scalar_style(token));
  node.kind = node.style == Style::kPlain ? KindOfPlain(node.text) : Kind::kText;
  if (node.kind == Kind::kNull) node.text.clear();
  node.range = {start->input_pos, end->input_pos};
  if (node.quoted()) {
    --node.range.begin;  // libfyaml's marks leave the quotes out
    ++node.range.end;
  } else if (node.style == Style::kBlockText) {
    node.range = BlockTextRange(node.range.begin, node.range.end);
  }
  node.position = source_.PositionOf(node.range.begin);
  last_end_ = node.range.end;
  return CheckCommas(node) && Attach(std::move(node));
}

// YAML allows a plain value inside brackets to run over several lines, so a forgotten comma in a
// JSON file would silently join two entries into one.
bool Builder::CheckCommas(const Node& node) {
  if (node.style != Style::kPlain || frames_.empty()) return true;
  if (frames_.back().node.style != Style::kFlow) return true;
  const std::string_view raw = bytes_.substr(node.range.begin, node.range.size());
  const size_t line_end = raw.find_first_of("\r\n");
  if (line_end == kNone) return true;
  const size_t next = raw.find_first_not_of(" \t\r\n", line_end);
  return Refuse(
      source_.PositionOf(node.range.begin + next), "a comma is missing before this entry",
      "put a comma behind the entry before it, or quotes around a value of several lines");
}

bool Builder::Attach(Node node) {
  if (frames_.empty()) {
    root_ = std::move(node);
    return true;
  }
  Frame& frame = frames_.back();
  if (frame.node.kind == Kind::kMap) {
    if (!frame.have_key) return AttachKey(frame, std::move(node));
    frame.have_key = false;
    node.key = std::move(frame.key.text);
    node.key_quoted = frame.key.quoted();
    node.key_range = frame.key.range;
    node.key_position = frame.key.position;
  }
  frame.node.children.push_back(std::move(node));
  return true;
}

bool Builder::AttachKey(Frame& frame, Node key) {
  if (key.kind == Kind::kNull || key.kind == Kind::kList || key.kind == Kind::kMap) {
    return Refuse(key.position, "a key must be text, not " + std::string(KindName(key.kind)),
                  "write `key: value`");
  }
  const auto [first, fresh] = frame.key_lines.emplace(key.text, key.position.line);
  if (!fresh) {
    return Refuse(
        key.position,
        "`" + ForTerminal(key.text) + "` is already given in line " + std::to_string(first->second),
        "remove one of the two lines");
  }
  frame.key = std::move(key);
  frame.have_key = true;
  return true;
}

// The empty range just behind the colon of the current key, or behind the dash of an item without a
// value.
Range Builder::AbsentRange() const {
  size_t at = last_end_;
  if (frames_.empty()) return {at, at};
  const bool map = frames_.back().node.kind == Kind::kMap;
  while (at < bytes_.size()) {
    const char c = bytes_[at];
    if (c == '#') {
      at = bytes_.find_first_of("\r\n", at);
      if (at == kNone) break;
    } else if (c == (map ? ':' : '-')) {
      return {at + 1, at + 1};
    } else if (c != ' ' && c != '\t' && c != '\r' && c != '\n') {
      break;
    }
    ++at;
  }
  return {last_end_, last_end_};
}

// The range of a block text from its `|` or `>` on. libfyaml's mark begins behind that line.
Range Builder::BlockTextRange(size_t begin, size_t end) const {
  const std::string_view before =
      bytes_.substr(0, begin).substr(0, bytes_.find_last_not_of("\r\n", begin - 1) + 1);
  const size_t line = before.find_last_of("\r\n");
  const size_t from = std::max(last_end_, line == kNone ? 0 : line + 1);
  const size_t sign = before.find_first_of("|>", from);
  return {sign == kNone ? begin : sign, end};
}

struct DiagDeleter {
  void operator()(fy_diag* diag) const { fy_diag_destroy(diag); }
};
struct ParserDeleter {
  void operator()(fy_parser* parser) const { fy_parser_destroy(parser); }
};

void SayNothing(fy_diag*, void*, const char*, size_t) {}

std::optional<Mistake> FirstComplaint(fy_diag* diag, const Source& source, const Builder& builder) {
  void* previous = nullptr;
  const fy_diag_error* error = fy_diag_errors_iterate(diag, &previous);
  if (error == nullptr || error->msg == nullptr) {
    return Mistake{{1, 1}, "not valid YAML", "write one `key: value` per line"};
  }
  return source.Explain({error->line, error->column}, error->msg, builder.OpenBracket());
}

}  // namespace

std::optional<Mistake> ParseInto(std::string_view bytes, const Source& source, Node* root) {
  fy_diag_cfg diag_config;
  fy_diag_cfg_default(&diag_config);
  diag_config.fp = nullptr;
  diag_config.output_fn = SayNothing;
  diag_config.colorize = false;
  std::unique_ptr<fy_diag, DiagDeleter> diag(fy_diag_create(&diag_config));
  if (!diag) return Mistake{{1, 1}, "out of memory", ""};
  fy_diag_set_collect_errors(diag.get(), true);

  fy_parse_cfg config{};
  config.flags = static_cast<fy_parse_cfg_flags>(FYPCF_QUIET | FYPCF_COLLECT_DIAG |
                                                 FYPCF_JSON_NONE | FYPCF_SLOPPY_FLOW_INDENTATION);
  config.diag = diag.get();
  std::unique_ptr<fy_parser, ParserDeleter> parser(fy_parser_create(&config));
  if (!parser || fy_parser_set_string(parser.get(), bytes.data(), bytes.size()) != 0) {
    return Mistake{{1, 1}, "out of memory", ""};
  }

  Builder builder(bytes, source);
  size_t end = 0;
  while (fy_event* event = fy_parser_parse(parser.get())) {
    const fy_mark* mark = fy_event_end_mark(event);
    if (event->type == FYET_STREAM_END && mark != nullptr) end = mark->input_pos;
    const bool good = builder.Take(event);
    fy_parser_event_free(parser.get(), event);
    if (!good) return builder.mistake();
  }
  if (fy_parser_get_stream_error(parser.get())) return FirstComplaint(diag.get(), source, builder);
  if (end < bytes.size()) {
    // libfyaml stops without an error at characters that YAML does not allow.
    return Mistake{source.PositionOf(end), "a character that YAML does not allow", "remove it"};
  }
  *root = builder.TakeRoot();
  return std::nullopt;
}

}  // namespace tenon::yaml
