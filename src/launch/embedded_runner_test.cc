// SPDX-License-Identifier: Apache-2.0
#include "launch/embedded_runner.h"

#include <gtest/gtest.h>
#include <sys/utsname.h>

#include "base/compress.h"
#include "base/hash.h"

namespace tenon::launch {
namespace {

TEST(EmbeddedRunner, ThisMachinesOwnIsFoundByItsName) {
  utsname name;
  ASSERT_EQ(uname(&name), 0);
  const EmbeddedProgram* found = FindEmbeddedRunner(name.machine);
  ASSERT_NE(found, nullptr);
  auto bytes = found->Bytes();
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(*bytes, EmbeddedRunner());
  EXPECT_EQ(bytes->size(), found->size);
  EXPECT_EQ(found->hash, EmbeddedRunnerHash());
  EXPECT_EQ(Sha256Of(*bytes).Hex(), found->hash);
}

TEST(EmbeddedRunner, AMachineWithoutOneIsNamedAndThoseThatHaveOneToo) {
  EXPECT_EQ(FindEmbeddedRunner("riscv64"), nullptr);
  EXPECT_EQ(FindEmbeddedRunner(""), nullptr);
  auto found = EmbeddedRunnerFor("riscv64");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().kind, ErrorKind::kInvalid);
  EXPECT_NE(found.error().message.find("no runner for riscv64"), std::string::npos);
  EXPECT_FALSE(found.error().hint.empty());
}

TEST(EmbeddedRunner, APackedOneThatIsDamagedIsNoRunner) {
  const std::string file(100'000, 'x');
  const std::string frame = Compress(file);
  EmbeddedProgram good = {"other", "", file.size(), frame, true};
  ASSERT_TRUE(good.Bytes().ok());
  EXPECT_EQ(*good.Bytes(), file);
  EmbeddedProgram longer = {"other", "", file.size() + 1, frame, true};
  EXPECT_FALSE(longer.Bytes().ok());
  EmbeddedProgram shorter = {"other", "", file.size() - 1, frame, true};
  EXPECT_FALSE(shorter.Bytes().ok());
  EmbeddedProgram cut = {"other", "", file.size(),
                         std::string_view(frame).substr(0, frame.size() / 2), true};
  EXPECT_FALSE(cut.Bytes().ok());
}

}  // namespace
}  // namespace tenon::launch
