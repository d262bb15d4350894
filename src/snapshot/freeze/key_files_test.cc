// SPDX-License-Identifier: Apache-2.0
#include "snapshot/freeze/key_files.h"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <set>

#include "snapshot/data/data_scan.h"
#include "snapshot/freeze/freeze.h"
#include "snapshot/freeze/ignore.h"
#include "snapshot/freeze/test_files.h"
#include "snapshot/freeze/unpack.h"

namespace tenon::snapshot {
namespace {

constexpr const char* kPrivate =
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END RSA PRIVATE KEY-----\n";
constexpr const char* kCertificate =
    "-----BEGIN CERTIFICATE-----\nMIIEvQIBADANBg\n-----END CERTIFICATE-----\n";

class KeyFilesTest : public testing::Test {
 protected:
  KeyFilesTest() {
    TENON_CHECK(MakeDirs(temp_ / "project").ok());
    auto store = ObjectStore::Open(temp_ / "store");
    TENON_CHECK(store.ok());
    store_ = std::make_unique<ObjectStore>(std::move(*store));
    options_.folder = temp_ / "project";
    options_.ignore_files = {".amlignore", ".gitignore"};
    options_.leave_out_keys = true;
    options_.homes = IdsOf({temp_ / "home"});
    options_.stat_cache = temp_ / "cache";
  }

  void Write(const std::string& path, std::string_view bytes = "x") {
    WriteTestFile(temp_ / ("project/" + path), bytes);
  }
  void WriteHome(const std::string& folder) {
    for (const char* name : {"client-id", "secrets.json", "secrets.key", "runs/p_1/host.tj",
                             "objects/ab/cd", "keys/box"}) {
      WriteTestFile(JoinPath(folder, name), "canary");
    }
  }
  std::set<std::string> Files() {
    auto frozen = Freeze(*store_, options_);
    EXPECT_TRUE(frozen.ok()) << (frozen.ok() ? "" : frozen.error().message);
    std::set<std::string> paths;
    if (!frozen.ok()) return paths;
    last_ = *frozen;
    EXPECT_TRUE(Walk(*store_, last_.root, [&](const Entry& entry) -> Status {
                  if (entry.type != EntryType::kFolder) paths.insert(entry.path);
                  return {};
                }).ok());
    return paths;
  }
  std::set<std::string> LeftOutPaths() const {
    std::set<std::string> paths;
    for (const LeftOut& key : last_.keys) paths.insert(key.path);
    return paths;
  }

  TempFolder temp_;
  std::unique_ptr<ObjectStore> store_;
  FreezeOptions options_;
  Frozen last_;
};

using Paths = std::set<std::string>;

TEST_F(KeyFilesTest, KnownKeyFilesAreLeftOutAndNamed) {
  for (const char* path :
       {".ssh/id_ed25519", ".ssh/known_hosts", ".aws/credentials", ".netrc", ".gnupg/x/y",
        ".docker/config.json", ".config/gcloud/token", ".git-credentials", "deep/er/id_rsa",
        "certs/store.p12", ".kube/config", ".pgpass", "sub/.azure/x"}) {
    Write(path);
  }
  Write("certs/server.pem", kPrivate);
  Write("certs/bundle.crt", std::string(kCertificate) + kPrivate);
  Write("deploy_ed25519", kPrivate);
  Write("key.der", std::string("\x30\x82\x04\xa4\x02\x01\x00\x02\x82", 9));
  Write("train.py");
  EXPECT_EQ(Files(), Paths{"train.py"});
  EXPECT_EQ(
      LeftOutPaths(),
      (Paths{".ssh", ".aws", ".netrc", ".gnupg", ".docker/config.json", ".config/gcloud",
             ".git-credentials", "deep/er/id_rsa", "certs/store.p12", ".kube", ".pgpass",
             "sub/.azure", "certs/server.pem", "certs/bundle.crt", "deploy_ed25519", "key.der"}));
}

TEST_F(KeyFilesTest, WhatOnlyLooksLikeAKeyFileIsTaken) {
  const Paths taken = {
      "ca.pem", "piano.key", "id_rsa.pub", "docs/ssh/readme", ".azureml/x.txt",    "config",
      ".npmrc", "x_rsa",     "rsa.py",     "public.asc",      "docker/config.json"};
  for (const std::string& path : taken) Write(path, kCertificate);
  EXPECT_EQ(Files(), taken);
  EXPECT_TRUE(last_.keys.empty());
}

TEST_F(KeyFilesTest, UpperAndLowerCaseOfANameDoNotCount) {
  for (const char* path : {".SSH/config", "ID_RSA", "certs/STORE.PFX", ".Aws/credentials", "_NETRC",
                           "certs/Store.P12", ".Docker/Config.json"}) {
    Write(path);
  }
  Write("certs/SERVER.KEY", kPrivate);
  Write("certs/Server.Pem", kPrivate);
  Write("certs/CA.PEM", kCertificate);
  Write(".ENV");
  EXPECT_EQ(Files(), (Paths{"certs/CA.PEM", ".ENV"}));
  EXPECT_EQ(last_.named, std::vector<std::string>{".ENV"});
}

TEST_F(KeyFilesTest, KeysUnderNamesOfTheirOwnersAreLeftOut) {
  for (const char* path : {"id_rsa_work", "id_ed25519.old", "deploy_key", "server-key", "github",
                           "notes/key.txt", "x.bak", "config.yml"}) {
    Write(path, kPrivate);
  }
  Write("ec.txt",
        std::string(
            "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n") +
            kPrivate);
  Write("from-p12.txt", std::string("Bag Attributes\n    localKeyID: 01\n") + kPrivate);
  Write("project-1a2b3c.json", "{\n \"type\": \"service_account\",\n \"private_key\": \"" +
                                   std::string("-----BEGIN PRIVATE KEY-----\\nMII\"}\n"));
  Write("putty.txt", "PuTTY-User-Key-File-3: ssh-ed25519\n");
  EXPECT_EQ(Files(), Paths{});
  EXPECT_EQ(last_.keys.size(), 12u);
  EXPECT_EQ(last_.files, 0u);
  EXPECT_EQ(Files(), Paths{}) << "once more, with what the first has remembered";
  EXPECT_EQ(last_.keys.size(), 12u);
}

TEST_F(KeyFilesTest, ATextThatMentionsAKeyIsTaken) {
  const Paths taken = {"test_crypto.py", "README.md", "id_rsa_work.pub",      "key.py",
                       "keys.json",      "data_key",  "service-account.json", "credentials.csv"};
  for (const std::string& path : taken) Write(path, std::string("text = (\n") + kPrivate + ")\n");
  Write("data_key", "1,2,3\n");
  Write("service-account.json", "{\"account\": \"name\"}\n");
  Write("credentials.csv", "user,role\n");
  EXPECT_EQ(Files(), taken);
  EXPECT_TRUE(last_.keys.empty());
}

TEST_F(KeyFilesTest, AKeyUnderAnyNameIsTakenIfAskedForAndOnlyThen) {
  Write("github", kPrivate);
  Write(".amlignore", "!/github\n");
  EXPECT_EQ(Files(), (Paths{".amlignore", "github"}));
  EXPECT_EQ(Files(), (Paths{".amlignore", "github"}));
  Write(".amlignore", "# no more\n");
  EXPECT_EQ(Files(), Paths{".amlignore"});
  EXPECT_EQ(LeftOutPaths(), Paths{"github"});
}

TEST_F(KeyFilesTest, AFileThatBecomesAKeyIsLeftOut) {
  Write("notes", "nothing\n");
  EXPECT_EQ(Files(), Paths{"notes"});
  Write("notes", kPrivate);
  EXPECT_EQ(Files(), Paths{});
  Write("notes", "nothing again\n");
  EXPECT_EQ(Files(), Paths{"notes"});
}

TEST_F(KeyFilesTest, CredentialsThatServicesHandOutAreLeftOut) {
  Write("credentials.json", "{\"installed\": {\"client_secret\": \"x\"}}");
  Write("sub/client_secret_12.apps.json", "{\"web\":{\"client_secret\":\"x\"}}");
  Write("sub/user_accessKeys.csv", "Access key ID,Secret access key\nAKIA,x\n");
  Write("kaggle.json", "{\"username\":\"a\",\"key\":\"b\"}");
  Write("kubeconfig", "apiVersion: v1\n");
  Write("prod.kubeconfig", "apiVersion: v1\n");
  Write("pip.conf", "[global]\nindex-url = https://me:word@index.example.com/simple\n");
  Write("store.jks");
  Write("passwords.kdbx");
  Write("user.keytab");
  Write("sub/.condarc", "channels:\n  - https://me:word@conda.example.com/main\n");
  Write("other/pip.conf", "[global]\nindex-url = https://me:${WORD}@index.example.com/simple\n");
  Write("other/.condarc", "channels:\n  - https://conda.example.com/main\n");
  EXPECT_EQ(Files(), (Paths{"other/pip.conf", "other/.condarc"}));
}

TEST_F(KeyFilesTest, APatternOfWildcardsAloneAsksForNoKey) {
  Write(".aws/config.json", "{}");
  Write("sub/.ssh/known.json", "{}");
  Write("train.py");
  Write("a.json", "{}");
  // A common way to list what is wanted: leave out all files, but keep all folders and these files.
  Write(".gitignore", "*\n!*/\n!*.py\n!*.json\n");
  EXPECT_EQ(Files(), (Paths{"train.py", "a.json"}));
  EXPECT_EQ(LeftOutPaths(), (Paths{".aws", "sub/.ssh"}));
  Write(".gitignore", "!*\n!**\n!**/*\n!/*\n!*.*\n![a-z.]*\n");
  EXPECT_EQ(Files(), (Paths{"train.py", "a.json", ".gitignore"}));
  Write(".gitignore", "*\n!*/\n!.aws/\n!*.json\n");
  EXPECT_EQ(Files(), (Paths{".aws/config.json", "a.json"}));
}

TEST_F(KeyFilesTest, AHomeBeforeItsFirstRunIsLeftOut) {
  Write("alice/.tenon/keys/box", "no mark of a home");
  Write("state/secrets.key", "x");
  Write("state/secrets.json", "{}");
  Write("state/hosts/box.json", "{}");
  Write("train.py");
  WriteHome(temp_ / "home");
  options_.homes = IdsOf({temp_ / "home"});
  EXPECT_EQ(Files(), Paths{"train.py"});
  EXPECT_EQ(last_.homes, (std::vector<std::string>{"alice/.tenon", "state"}));
}

TEST_F(KeyFilesTest, DataUnderAnyNameThatIsAKeyIsLeftOut) {
  Write("set/a.csv", "1\n");
  Write("set/github", kPrivate);
  Write("set/CERT.PFX");
  Write("set/.tenon/x");
  DataScanOptions options;
  options.leave_out_keys = true;
  WriteHome(temp_ / "home");
  options.homes = IdsOf({temp_ / "home"});
  auto scan = ScanData(temp_ / "project/set", options);
  ASSERT_TRUE(scan.ok()) << scan.error().message;
  ASSERT_EQ(scan->set.files.size(), 1u);
  EXPECT_EQ(scan->set.files.front().path, "a.csv");
  EXPECT_EQ(Paths(scan->left_out.begin(), scan->left_out.end()),
            (Paths{"github", "CERT.PFX", ".tenon"}));
  auto one = ScanData(temp_ / "project/set/github", options);
  ASSERT_TRUE(one.ok()) << one.error().message;
  EXPECT_EQ(one->set.files.size(), 1u) << "it was named itself";
}

TEST_F(KeyFilesTest, ATokenInNpmrcIsLeftOut) {
  Write(".npmrc", "//registry.example.com/:_authToken=abc\n");
  EXPECT_EQ(Files(), Paths{});
}

TEST_F(KeyFilesTest, AnIgnoreFileCanAskForThem) {
  Write(".ssh/id_rsa", kPrivate);
  Write(".ssh/config");
  Write("certs/a b.pem", kPrivate);
  Write("certs/other.pem", kPrivate);
  Write(".gitignore", "!" + PatternFor(".ssh") + "/\n!" + PatternFor("certs/a b.pem") + "\n");
  EXPECT_EQ(Files(), (Paths{".gitignore", ".ssh/id_rsa", ".ssh/config", "certs/a b.pem"}));
  EXPECT_EQ(LeftOutPaths(), Paths{"certs/other.pem"});
}

TEST_F(KeyFilesTest, AnEnvFileIsTakenAndNamed) {
  Write(".env", "A=1\n");
  Write("sub/.env.local", "A=1\n");
  Write(".env.example", "A=\n");
  EXPECT_EQ(Files(), (Paths{".env", ".env.example", "sub/.env.local"}));
  EXPECT_EQ(last_.named, (std::vector<std::string>{".env", "sub/.env.local"}));
  Write(".amlignore", "!.env*\n");
  Files();
  EXPECT_TRUE(last_.named.empty());
}

TEST_F(KeyFilesTest, AKeyThatAnOlderCacheKnowsIsLeftOutToo) {
  Write("certs/server.pem", kPrivate);
  Write(".ssh/id_rsa", kPrivate);
  WriteHome(temp_ / "project/.tenon");
  Write("train.py");
  options_.leave_out_keys = false;
  options_.homes.clear();
  EXPECT_GT(Files().size(), 5u);
  options_.leave_out_keys = true;
  options_.homes = IdsOf({temp_ / "home", temp_ / "project/.tenon"});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Files(), Paths{"train.py"});
}

TEST_F(KeyFilesTest, AKeyThatAppearsLaterIsLeftOut) {
  Write("train.py");
  Write("server.pem", kCertificate);
  EXPECT_EQ(Files(), (Paths{"train.py", "server.pem"}));
  Write("server.pem", kPrivate);
  EXPECT_EQ(Files(), Paths{"train.py"});
  Write("server.pem", kCertificate);
  EXPECT_EQ(Files(), (Paths{"train.py", "server.pem"}));
}

TEST_F(KeyFilesTest, AHomeInsideIsLeftOutWhateverItIsCalled) {
  WriteTestFile(temp_ / "project/a/b/elsewhere/anything", "canary");
  Write("a/train.py");
  options_.homes = IdsOf({temp_ / "project/a/b/elsewhere"});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Files(), Paths{"a/train.py"});
    EXPECT_EQ(last_.homes, std::vector<std::string>{"a/b/elsewhere"});
  }
}

TEST_F(KeyFilesTest, AHomeOfSomebodyElseIsKnownByItsMarks) {
  WriteTestFile(temp_ / "home/x", "");
  options_.homes = IdsOf({temp_ / "home"});
  WriteHome(temp_ / "project/backup/.tenon-old");
  Write("runs/tensorboard");
  Write("objects/cup.obj");
  EXPECT_EQ(Files(), (Paths{"runs/tensorboard", "objects/cup.obj"}));
  EXPECT_EQ(last_.homes, std::vector<std::string>{"backup/.tenon-old"});
}

TEST_F(KeyFilesTest, AHomeThatIsTheProjectIsRefused) {
  WriteHome(temp_ / "project");
  options_.homes = IdsOf({temp_ / "project"});
  EXPECT_EQ(Freeze(*store_, options_).error().kind, ErrorKind::kInvalid);
  WriteTestFile(temp_ / "home/x", "");
  options_.homes = IdsOf({temp_ / "home"});
  EXPECT_EQ(Freeze(*store_, options_).error().kind, ErrorKind::kInvalid);
}

TEST_F(KeyFilesTest, AHomeBehindABindMountIsLeftOut) {
  WriteTestFile(temp_ / "home/anything", "canary");
  Write("train.py");
  Write("mounted/below");
  options_.homes = IdsOf({temp_ / "home"});
  if (::mount((temp_ / "home").c_str(), (temp_ / "project/mounted").c_str(), nullptr, MS_BIND,
              nullptr) != 0) {
    GTEST_SKIP() << "no right to mount";
  }
  const auto files = Files();
  ::umount((temp_ / "project/mounted").c_str());
  EXPECT_EQ(files, Paths{"train.py"});
}

TEST_F(KeyFilesTest, DataLeavesThemOutToo) {
  const std::string data = temp_ / "project";
  Write("a.csv");
  Write(".ssh/id_rsa", kPrivate);
  Write("certs/server.pem", kPrivate);
  Write("certs/ca.pem", kCertificate);
  WriteHome(temp_ / "project/sub/.tenon");
  WriteTestFile(temp_ / "home/secrets.key", "canary");
  WriteTestFile(temp_ / "user/.ssh/config", "canary");
  ASSERT_EQ(::symlink((temp_ / "home/secrets.key").c_str(), (data + "/link").c_str()), 0);
  ASSERT_EQ(::symlink((temp_ / "user/.ssh/config").c_str(), (data + "/other").c_str()), 0);
  DataScanOptions options;
  options.leave_out_keys = true;
  options.homes = IdsOf({temp_ / "home"});
  auto scan = ScanData(data, options);
  ASSERT_TRUE(scan.ok());
  Paths paths;
  for (const DataFile& file : scan->set.files) paths.insert(file.path);
  EXPECT_EQ(paths, (Paths{"a.csv", "certs/ca.pem"}));
  EXPECT_EQ(Paths(scan->left_out.begin(), scan->left_out.end()),
            (Paths{".ssh", "certs/server.pem", "sub/.tenon", "link", "other"}));
  // A path that names the key itself includes it.
  EXPECT_EQ(ScanData(data + "/.ssh", options)->set.files.size(), 1u);
  EXPECT_EQ(ScanData(data + "/certs/server.pem", options)->set.files.size(), 1u);
  EXPECT_FALSE(ScanData(temp_ / "home", options).ok());
}

}  // namespace
}  // namespace tenon::snapshot
