// SPDX-License-Identifier: Apache-2.0
// The scripts for bash, zsh and fish work alike. They walk over the words before the cursor to find
// the command and count its positionals, then offer what may come next. bash and zsh share the
// tables.
#include "base/text.h"
#include "cli/parse/completion_tree.h"

namespace tenon::cli {
namespace {

using Kind = CompletionValue::Kind;

// "run", "target", "file", "words json jsonc" and so on.
std::string KindText(const CompletionValue& value) {
  switch (value.kind) {
    case Kind::kAnything:
      return "any";
    case Kind::kRun:
      return "run";
    case Kind::kTarget:
      return "target";
    case Kind::kConfiguration:
      return "configuration";
    case Kind::kScript:
      return "script";
    case Kind::kFile:
      return "file";
    case Kind::kFolder:
      return "dir";
    case Kind::kWords:
      return "words " + Join(value.words, " ");
  }
  return "any";
}

// Case arms "  NODE OPTION) kind=…" for options with a value.
std::string OptionCases(const std::vector<CompletionNode>& nodes) {
  std::string text;
  for (const CompletionNode& node : nodes) {
    for (const CompletionOption& option : node.options) {
      if (!option.takes_value) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : option.names) {
        patterns.push_back(ShellQuote(node.path + " " + name));
      }
      text +=
          "    " + Join(patterns, "|") + ") kind=" + ShellQuote(KindText(option.value)) + " ;;\n";
    }
  }
  return text;
}

std::string NodePatterns(const std::vector<CompletionNode>& nodes) {
  std::vector<std::string> patterns;
  for (const CompletionNode& node : nodes) {
    if (!node.path.empty()) patterns.push_back(node.path);
  }
  return Join(patterns, "|");
}

std::string ScriptNodes(const std::vector<CompletionNode>& nodes) {
  std::vector<std::string> patterns;
  for (const CompletionNode& node : nodes) {
    if (node.rest_is_the_scripts) patterns.push_back(node.path);
  }
  return Join(patterns, "|");
}

// Case arms "  NODE N) kind=…" for positionals.
std::string PositionalCases(const std::vector<CompletionNode>& nodes) {
  std::string text;
  for (const CompletionNode& node : nodes) {
    for (size_t i = 0; i < node.positionals.size(); ++i) {
      const bool rest = node.repeats && i + 1 == node.positionals.size();
      text += "    '" + node.path + " '" + (rest ? "*" : std::to_string(i)) +
              ") kind=" + ShellQuote(KindText(node.positionals[i])) + " ;;\n";
    }
    if (node.rest_is_the_scripts) text += "    '" + node.path + " '*) kind=file ;;\n";
  }
  return text;
}

const CompletionNode* Find(const std::vector<CompletionNode>& nodes, const std::string& path) {
  for (const CompletionNode& node : nodes) {
    if (node.path == path) return &node;
  }
  return nullptr;
}

constexpr std::string_view kBashHead =
    R"sh(# Completion of tenon for bash. Where bash-completion looks, or in ~/.bashrc:
#   source <(tenon completion bash)

# Names of runs, targets or run configurations, one a line; they may hold blanks.
_tenon_offer() {
  local name
  while IFS= read -r name; do
    [[ $name == "$cur"* ]] && COMPREPLY+=("$(printf %q "$name")")
  done < <("${COMP_WORDS[0]}" completion --offer "$1" 2>/dev/null)
}

)sh";

constexpr std::string_view kBashWalk = R"sh(
_tenon() {
  local cur=${COMP_WORDS[COMP_CWORD]} node='' count=0 awaits='' kind='' words='' word i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ -n $awaits ]]; then
      awaits=''
    elif [[ $word == -* ]]; then
      kind=''
      _tenon_option
      awaits=$kind
    elif ((count == 0)) && _tenon_is_node "$node/$word"; then
      node=$node/$word
    else
      count=$((count + 1))
      if _tenon_is_scripts "$node"; then
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        return
      fi
    fi
  done
  if [[ -n $awaits ]]; then
    kind=$awaits
  elif [[ $cur == -* ]]; then
    kind=options
    _tenon_words
  else
    kind=''
    ((count == 0)) && _tenon_words
    _tenon_positional
  fi
  case $kind in
    run)
      mapfile -t COMPREPLY < <(compgen -W "$words last" -- "$cur")
      _tenon_offer run
      return
      ;;
    target | configuration)
      _tenon_offer "$kind"
      return
      ;;
    script)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -X '!*.py' -- "$cur"; compgen -d -- "$cur")
      ((${#COMPREPLY[@]})) || mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    file)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$cur"; compgen -W "$words" -- "$cur")
      return
      ;;
    dir)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -d -- "$cur")
      return
      ;;
    words*) words="$words ${kind#words }" ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -F _tenon tenon
)sh";

constexpr std::string_view kZshHead = R"sh(#compdef tenon
# Completion of tenon for zsh. As _tenon in a folder of $fpath, or in ~/.zshrc after compinit:
#   source <(tenon completion zsh)

# Names of runs, targets or run configurations, one a line; they may hold blanks.
_tenon_offer() {
  local -a names
  names=(${(f)"$($words[1] completion --offer $1 2>/dev/null)"})
  (($#names)) && compadd -- $names
}

)sh";

constexpr std::string_view kZshWalk = R"sh(
_tenon() {
  local cur=$words[CURRENT] node='' awaits='' kind='' word
  local -a offers
  integer count=0 i
  for ((i = 2; i < CURRENT; i++)); do
    word=$words[i]
    if [[ -n $awaits ]]; then
      awaits=''
    elif [[ $word == -* ]]; then
      kind=''
      _tenon_option
      awaits=$kind
    elif ((count == 0)) && _tenon_is_node "$node/$word"; then
      node=$node/$word
    else
      ((++count))
      if _tenon_is_scripts "$node"; then
        _files
        return
      fi
    fi
  done
  if [[ -n $awaits ]]; then
    kind=$awaits
  elif [[ $cur == -* ]]; then
    kind=options
    _tenon_words
    _describe option offers
    return
  else
    kind=''
    if ((count == 0)); then
      _tenon_words
      (($#offers)) && _describe command offers
    fi
    _tenon_positional
  fi
  case $kind in
    run)
      _tenon_offer run
      compadd -- last
      ;;
    target | configuration) _tenon_offer $kind ;;
    script) _files -g '*.py' ;;
    file) _files ;;
    dir) _files -/ ;;
    words*) compadd -- ${=kind#words } ;;
  esac
}
if [[ $funcstack[1] == _tenon ]]; then
  _tenon "$@"
else
  compdef _tenon tenon
fi
)sh";

// The shell functions that know the commands. The same text serves bash and zsh.
std::string Tables(const std::vector<CompletionNode>& nodes) {
  return "_tenon_option() {\n  case \"$node $word\" in\n" + OptionCases(nodes) +
         "  esac\n}\n\n_tenon_positional() {\n  case \"$node $count\" in\n" +
         PositionalCases(nodes) + "  esac\n}\n\n_tenon_is_node() {\n  case $1 in\n    " +
         NodePatterns(nodes) +
         ") return 0 ;;\n  esac\n  return 1\n}\n\n_tenon_is_scripts() {\n  case $1 in\n    " +
         ScriptNodes(nodes) + ") return 0 ;;\n  esac\n  return 1\n}\n\n";
}

std::vector<std::string> OptionNames(const CompletionNode& node) {
  std::vector<std::string> names;
  for (const CompletionOption& option : node.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

// "name:summary" in quotes, as zsh's _describe expects it.
std::string Described(std::string name, const std::string& summary) {
  for (size_t at = 0; (at = name.find(':', at)) != std::string::npos; at += 2)
    name.insert(at, "\\");
  return ShellQuote(name + ":" + summary);
}

std::string FishQuote(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

std::string FishValue(const CompletionValue& value) {
  switch (value.kind) {
    case Kind::kAnything:
      return " -x";
    case Kind::kRun:
      return " -x -a '(__tenon_offer run)'";
    case Kind::kTarget:
      return " -x -a '(__tenon_offer target)'";
    case Kind::kConfiguration:
      return " -x -a '(__tenon_offer configuration)'";
    case Kind::kScript:
      return " -x -a '(__fish_complete_suffix .py)'";
    case Kind::kFile:
      return " -r -F";
    case Kind::kFolder:
      return " -x -a '(__fish_complete_directories)'";
    case Kind::kWords:
      return " -x -a " + FishQuote(Join(value.words, " "));
  }
  return "";
}

std::string FishPositional(const CompletionValue& value) {
  if (value.kind == Kind::kAnything) return "";
  std::string text = FishValue(value);
  if (value.kind == Kind::kFile) text = " -F";
  return text;
}

constexpr std::string_view kFishHead =
    R"sh(# Completion of tenon for fish. As ~/.config/fish/completions/tenon.fish, or:
#   tenon completion fish | source

# Names of runs, targets or run configurations, one a line; they may hold blanks.
function __tenon_offer
    tenon completion --offer $argv[1] 2>/dev/null
    test $argv[1] = run; and printf 'last\n'
end

)sh";

constexpr std::string_view kFishWalk = R"sh(
# Prints the command that the words before the cursor name and how many positionals it has got.
function __tenon_place
    set -l node
    set -l count 0
    set -l awaits 0
    set -l tokens (commandline -opc)
    for word in $tokens[2..-1]
        if test $awaits -eq 1
            set awaits 0
        else if string match -q -- '-*' $word
            contains -- "$node $word" $__tenon_value_options
            and set awaits 1
        else if test $count -eq 0
            and contains -- "$node/$word" $__tenon_nodes
            set node "$node/$word"
        else
            set count (math $count + 1)
        end
    end
    printf '%s %s\n' "$node" $count
end

# Whether the cursor is at this command; with a second word, at this positional of it.
function __tenon_at
    set -l place (__tenon_place)
    if set -q argv[2]
        test "$place" = "$argv[1] $argv[2]"
    else
        string match -q -- "$argv[1] *" "$place"
    end
end

complete -c tenon -f
)sh";

// A `set -g NAME` command with the words as quoted arguments.
std::string FishList(const std::string& name, const std::vector<std::string>& words) {
  std::string text = "set -g " + name;
  for (const std::string& word : words) text += " \\\n    " + FishQuote(word);
  return text + "\n";
}

std::string FishOption(const CompletionNode& node, const CompletionOption& option) {
  // If a command passes its words on, options after the first word belong to the script.
  std::string text = "complete -c tenon -n '__tenon_at \"" + node.path + "\"" +
                     (node.rest_is_the_scripts ? " 0" : "") + "'";
  for (const std::string& name : option.names) {
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (option.takes_value) text += FishValue(option.value);
  return text + " -d " + FishQuote(option.description) + "\n";
}

}  // namespace

std::string BashCompletion(const std::vector<CompletionNode>& nodes) {
  std::string words = "_tenon_words() {\n  case \"$kind $node\" in\n";
  for (const CompletionNode& node : nodes) {
    words += "    'options " + node.path + "') words=" + ShellQuote(Join(OptionNames(node), " ")) +
             " ;;\n";
    if (node.commands.empty()) continue;
    words += "    *' " + node.path + "') words=" + ShellQuote(Join(node.commands, " ")) + " ;;\n";
  }
  return std::string(kBashHead) + Tables(nodes) + words + "  esac\n}\n" + std::string(kBashWalk);
}

std::string ZshCompletion(const std::vector<CompletionNode>& nodes) {
  std::string words = "_tenon_words() {\n  case \"$kind $node\" in\n";
  for (const CompletionNode& node : nodes) {
    words += "    'options " + node.path + "') offers=(\n";
    for (const CompletionOption& option : node.options) {
      for (const std::string& name : option.names) {
        words += "      " + Described(name, option.description) + "\n";
      }
    }
    words += "      ) ;;\n";
    if (node.commands.empty()) continue;
    words += "    *' " + node.path + "') offers=(\n";
    for (const std::string& name : node.commands) {
      const CompletionNode* below = Find(nodes, node.path + "/" + name);
      words += "      " + Described(name, below ? below->summary : "") + "\n";
    }
    words += "      ) ;;\n";
  }
  return std::string(kZshHead) + Tables(nodes) + words + "  esac\n}\n" + std::string(kZshWalk);
}

std::string FishCompletion(const std::vector<CompletionNode>& nodes) {
  std::vector<std::string> paths, value_options;
  for (const CompletionNode& node : nodes) {
    if (!node.path.empty()) paths.push_back(node.path);
    for (const CompletionOption& option : node.options) {
      if (!option.takes_value) continue;
      for (const std::string& name : option.names) value_options.push_back(node.path + " " + name);
    }
  }
  std::string text = std::string(kFishHead) + FishList("__tenon_nodes", paths) +
                     FishList("__tenon_value_options", value_options) + std::string(kFishWalk);
  for (const CompletionNode& node : nodes) {
    for (const std::string& name : node.commands) {
      const CompletionNode* below = Find(nodes, node.path + "/" + name);
      text += "complete -c tenon -n '__tenon_at \"" + node.path + "\" 0' -a " + FishQuote(name) +
              " -d " + FishQuote(below ? below->summary : "") + "\n";
    }
    for (size_t i = 0; i < node.positionals.size(); ++i) {
      const std::string value = FishPositional(node.positionals[i]);
      if (value.empty()) continue;
      const bool rest = node.repeats && i + 1 == node.positionals.size();
      text += "complete -c tenon -n '__tenon_at \"" + node.path + "\"" +
              (rest ? "" : " " + std::to_string(i)) + "'" + value + "\n";
    }
    if (node.rest_is_the_scripts) {
      text += "complete -c tenon -n '__tenon_at \"" + node.path + "\"; and not __tenon_at \"" +
              node.path + "\" 0' -F\n";
    }
    for (const CompletionOption& option : node.options) text += FishOption(node, option);
  }
  return text;
}

}  // namespace tenon::cli
