// SPDX-License-Identifier: Apache-2.0
// What the tools of a build take from a host: its user's variables, pip's configuration, the CA
// bundle.
#include <algorithm>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "runner/environment/make_environment.h"

namespace tenon::runner {
namespace {

constexpr std::string_view kNames[] = {
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "CONDARC",
    "NETRC",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "FTP_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "ftp_proxy",
    "CC",
    "CXX",
    "CFLAGS",
    "CXXFLAGS",
    "LDFLAGS",
    "CPPFLAGS",
    "MAKEFLAGS",
    "CUDA_HOME",
    "CUDA_PATH",
    "LD_LIBRARY_PATH",
    "PKG_CONFIG_PATH",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "PYENV_ROOT",
    "XDG_CONFIG_HOME",
    "XDG_CONFIG_DIRS",
    "SSH_AUTH_SOCK",
    "LIBRARY_PATH",
    "CPATH",
};
constexpr std::string_view kPrefixes[] = {"PIP_", "UV_", "CONDA_", "MAMBA_", "SSL_", "GIT_SSL_"};

// Left out, because Tenon decides where things are installed.
constexpr std::string_view kNot[] = {
    "CONDA_PREFIX",
    "CONDA_DEFAULT_ENV",
    "CONDA_SHLVL",
    "CONDA_PROMPT_MODIFIER",
    "CONDA_PYTHON_EXE",
    "CONDA_EXE",
    "PIP_TARGET",
    "PIP_PREFIX",
    "PIP_ROOT",
    "PIP_USER",
    "PIP_REQUIRE_VIRTUALENV",
    "PIP_CACHE_DIR",
    "UV_CACHE_DIR",
    "UV_SYSTEM_PYTHON",
    "UV_PYTHON",
    "UV_PROJECT",
    "UV_LINK_MODE",
    "UV_PROJECT_ENVIRONMENT",
    "UV_PYTHON_INSTALL_DIR",
    "UV_TARGET",
    "UV_WORKING_DIRECTORY",
    "CONDA_PKGS_DIRS",
    "MAMBA_ROOT_PREFIX",
};

bool IsPicked(std::string_view name) {
  if (std::find(std::begin(kNot), std::end(kNot), name) != std::end(kNot)) return false;
  if (std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames)) return true;
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

struct PipSettings {
  std::string index_url;
  std::string extra_index_url;  // separated by blanks
  std::string find_links;       // separated by blanks
  std::string trusted_host;     // separated by blanks
  std::string cert;
  std::string proxy;
};

// Reads the file as pip does: INI, in which an indented line continues a value.
void ReadPipFile(const std::string& path, PipSettings& settings) {
  auto text = ReadFile(path, 1u << 20);
  if (!text.ok()) return;
  std::string section;
  std::string* open = nullptr;
  for (const std::string& raw : Split(*text, '\n')) {
    std::string_view line = Trim(raw);
    if (line.empty() || line[0] == '#' || line[0] == ';') continue;
    bool goes_on = raw[0] == ' ' || raw[0] == '\t';
    if (goes_on && open) {
      *open += (open->empty() ? "" : " ") + std::string(line);
      continue;
    }
    open = nullptr;
    if (line[0] == '[') {
      section = std::string(line.substr(1, line.find(']') - 1));
      continue;
    }
    if (section != "global" && section != "install") continue;
    size_t equals = line.find_first_of("=:");
    if (equals == std::string_view::npos) continue;
    std::string name = ToLower(Trim(line.substr(0, equals)));
    std::replace(name.begin(), name.end(), '_', '-');
    if (name == "index-url") open = &settings.index_url;
    if (name == "extra-index-url") open = &settings.extra_index_url;
    if (name == "find-links") open = &settings.find_links;
    if (name == "trusted-host") open = &settings.trusted_host;
    if (name == "cert") open = &settings.cert;
    if (name == "proxy") open = &settings.proxy;
    if (open) *open = std::string(Trim(line.substr(equals + 1)));
  }
}

PipSettings ReadPipSettings(const Environment& env) {
  PipSettings settings;
  std::string named = GetVariable(env, "PIP_CONFIG_FILE");
  if (named == "/dev/null") return settings;
  std::string home = GetVariable(env, "HOME");
  std::string config = GetVariable(env, "XDG_CONFIG_HOME");
  if (config.empty() && !home.empty()) config = home + "/.config";
  ReadPipFile("/etc/xdg/pip/pip.conf", settings);
  ReadPipFile("/etc/pip.conf", settings);
  if (!home.empty()) ReadPipFile(home + "/.pip/pip.conf", settings);
  if (!config.empty()) ReadPipFile(config + "/pip/pip.conf", settings);
  if (!named.empty()) ReadPipFile(named, settings);
  for (auto [name, setting] : {std::pair("PIP_INDEX_URL", &settings.index_url),
                               {"PIP_EXTRA_INDEX_URL", &settings.extra_index_url},
                               {"PIP_FIND_LINKS", &settings.find_links},
                               {"PIP_TRUSTED_HOST", &settings.trusted_host},
                               {"PIP_CERT", &settings.cert},
                               {"PIP_PROXY", &settings.proxy}}) {
    if (auto value = GetVariable(env, name); !value.empty()) *setting = value;
  }
  return settings;
}

std::string BlanksToCommas(const std::string& list) {
  std::vector<std::string> parts;
  for (const std::string& part : Split(list, ' ')) {
    if (!Trim(part).empty()) parts.emplace_back(Trim(part));
  }
  return Join(parts, ",");
}

}  // namespace

Environment BuildEnvironment(const Environment& users) {
  Environment env;
  for (const auto& [name, value] : users) {
    if (IsPicked(name)) env[name] = value;
  }
  PipSettings pip = ReadPipSettings(users);
  auto set = [&](const char* name, const std::string& value) {
    if (!value.empty() && !env.contains(name)) env[name] = value;
  };
  if (!env.contains("UV_DEFAULT_INDEX")) set("UV_INDEX_URL", pip.index_url);
  if (!env.contains("UV_INDEX")) set("UV_EXTRA_INDEX_URL", pip.extra_index_url);
  set("UV_FIND_LINKS", BlanksToCommas(pip.find_links));
  set("UV_INSECURE_HOST", pip.trusted_host);
  set("PIP_CERT", pip.cert);
  if (!env.contains("https_proxy")) set("HTTPS_PROXY", pip.proxy);
  if (!env.contains("http_proxy")) set("HTTP_PROXY", pip.proxy);
  return env;
}

Environment BuildEnvironmentInside(const Environment& users) {
  Environment env = BuildEnvironment(users);
  for (const char* name : {"PATH",
                           "HOME",
                           "CONDARC",
                           "NETRC",
                           "CC",
                           "CXX",
                           "CFLAGS",
                           "CXXFLAGS",
                           "LDFLAGS",
                           "CPPFLAGS",
                           "CUDA_HOME",
                           "CUDA_PATH",
                           "LD_LIBRARY_PATH",
                           "LIBRARY_PATH",
                           "CPATH",
                           "PKG_CONFIG_PATH",
                           "PYENV_ROOT",
                           "XDG_CONFIG_HOME",
                           "XDG_CONFIG_DIRS",
                           "SSH_AUTH_SOCK",
                           "PIP_CONFIG_FILE",
                           "UV_CONFIG_FILE",
                           "SSL_CERT_DIR"}) {
    env.erase(name);
  }
  return env;
}

std::string FindCaBundle(const Environment& environment) {
  for (const char* name : {"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PIP_CERT"}) {
    std::string path = GetVariable(environment, name);
    if (!path.empty() && Exists(path) && !IsDirectory(path)) return path;
  }
  for (const char* path :
       {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"}) {
    if (Exists(path)) return path;
  }
  return "";
}

}  // namespace tenon::runner
