// SPDX-License-Identifier: Apache-2.0
#include "engine/host/hosts.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/file.h"
#include "base/temp_folder.h"

namespace tenon::engine {
namespace {

const std::string kId(32, 'a');

HostRecord Record() {
  HostRecord host;
  host.id = kId;
  host.target = "my_dsvm";
  host.address = "203.0.113.7";
  host.port = 2222;
  host.user = "ann";
  host.has_password = true;
  host.host_key = "ssh-ed25519 AAAA";
  host.facts = {{"os", "Debian"}};
  return host;
}

TEST(Hosts, EveryFormOfAReferenceGivesTheSameMachineEachTime) {
  const std::string hex = "0123456789abcdef0123456789abcdef";
  const std::string guid = "01234567-89AB-CDEF-0123-456789abcdef";
  EXPECT_EQ(HostIdOf("AzureMlSecret=my#vm#ann#" + hex, "ann", "a", 0), hex);
  EXPECT_EQ(HostIdOf("AzureMlSecret=" + guid, "ann", "a", 0), hex);
  EXPECT_EQ(HostIdOf("vm#ann#" + hex, "ann", "a", 0), hex);
  EXPECT_EQ(HostIdOf(guid + "#vm#ann", "ann", "a", 0), hex);
}

TEST(Hosts, WithoutAReferenceUserAddressAndPortTellMachinesApart) {
  const std::string one = HostIdOf("", "ann", "a", 0);
  EXPECT_EQ(one.size(), 32u);
  EXPECT_EQ(one, HostIdOf("", "ann", "a", 0));
  EXPECT_NE(one, HostIdOf("", "bob", "a", 0));
  EXPECT_NE(one, HostIdOf("", "ann", "b", 0));
  EXPECT_NE(one, HostIdOf("", "ann", "a", 22));
  EXPECT_EQ(one, HostIdOf("<your password>", "ann", "a", 0));
}

TEST(Hosts, ARecordComesBackAndOnlyTheUserCanReadIt) {
  const TempFolder temp;
  const run::Home home(temp / "home");
  ASSERT_TRUE(WriteHost(home, Record()).ok());
  const auto again = ReadHost(home, kId);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->target, "my_dsvm");
  EXPECT_EQ(again->port, 2222);
  EXPECT_TRUE(again->has_password);
  EXPECT_EQ(json::GetString(again->facts, "os"), "Debian");
  struct stat st {};
  ASSERT_EQ(::stat((temp / ("home/hosts/" + kId + ".json")).c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 077, 0u);
}

TEST(Hosts, AnIdThatIsAPathIsRefused) {
  const TempFolder temp;
  const run::Home home(temp / "home");
  for (const std::string& id :
       std::vector<std::string>{"../../etc/passwd", "", "ABC", std::string(32, '/')}) {
    EXPECT_EQ(ReadHost(home, id).error().kind, ErrorKind::kInvalid) << id;
    EXPECT_EQ(ForgetHost(home, id).error().kind, ErrorKind::kInvalid) << id;
  }
}

TEST(Hosts, ADamagedRecordSaysWhichFileAndWhatToDo) {
  const TempFolder temp;
  const run::Home home(temp / "home");
  ASSERT_TRUE(WriteHost(home, Record()).ok());
  const std::string path = temp / ("home/hosts/" + kId + ".json");
  for (const char* text : {"", "{", "[]", "{\"id\": 7}", "{\"id\": \"../x\"}"}) {
    ASSERT_TRUE(WriteFileAtomically(path, text, 0600, Durability::kProcess).ok());
    const auto read = ReadHost(home, kId);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.error().kind, ErrorKind::kCorrupt);
    EXPECT_NE(read.error().message.find(path), std::string::npos);
    EXPECT_FALSE(read.error().hint.empty());
  }
}

TEST(Hosts, TwoThatChangeARecordAtOnceBothCount) {
  const TempFolder temp;
  const run::Home home(temp / "home");
  ASSERT_TRUE(WriteHost(home, Record()).ok());
  auto count_up = [&] {
    for (int i = 0; i < 50; ++i) {
      EXPECT_TRUE(UpdateHost(home, kId, [](HostRecord& host) { ++host.idle_after_us; }).ok());
    }
  };
  std::thread one(count_up), two(count_up);
  one.join();
  two.join();
  EXPECT_EQ(ReadHost(home, kId)->idle_after_us, 100);
}

TEST(Hosts, ThePinnedKeyStandsUnderTheTargetsOwnAlias) {
  const TempFolder temp;
  const run::Home home(temp / "home");
  const auto target = SshTargetOf(home, Record());
  ASSERT_TRUE(target.ok());
  EXPECT_EQ(target->alias, "tenon-" + kId);
  EXPECT_EQ(*ReadFile(target->known_hosts), "tenon-" + kId + " ssh-ed25519 AAAA\n");
  HostRecord unseen = Record();
  unseen.host_key.clear();
  EXPECT_EQ(SshTargetOf(home, unseen)->known_hosts, "");
}

TEST(Hosts, ConnectionsAreSharedOnlyByTheSameUserAddressAndKey) {
  const TempFolder temp;
  const run::Home home(temp / "h");
  const std::string path = SshTargetOf(home, Record())->control_path;
  for (auto change : {+[](HostRecord& h) { h.user = "bob"; }, +[](HostRecord& h) { h.port = 1; },
                      +[](HostRecord& h) { h.address = "b"; },
                      +[](HostRecord& h) { h.host_key = "ssh-ed25519 BBBB"; }}) {
    HostRecord other = Record();
    change(other);
    EXPECT_NE(SshTargetOf(home, other)->control_path, path);
  }
  EXPECT_LT(path.size(), 100u);
}

TEST(Hosts, AForgottenHostLeavesNothing) {
  const TempFolder temp;
  const run::Home home(temp / "home");
  ASSERT_TRUE(WriteHost(home, Record()).ok());
  ASSERT_TRUE(SshTargetOf(home, Record()).ok());
  ASSERT_TRUE(UpdateHost(home, kId, [](HostRecord&) {}).ok());
  ASSERT_TRUE(ForgetHost(home, kId).ok());
  EXPECT_TRUE(ListDir(temp / "home/hosts")->empty());
  EXPECT_EQ(ReadHost(home, kId).error().kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace tenon::engine
