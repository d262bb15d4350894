// SPDX-License-Identifier: Apache-2.0
#include "project/dependencies/conda_file.h"

#include <gtest/gtest.h>

#include "project/temp_project.h"

namespace tenon::project {
namespace {

CondaFile MustRead(std::string bytes) {
  Result<CondaFile> file = ParseCondaFile("c.yml", std::move(bytes));
  if (!file.ok()) {
    ADD_FAILURE() << file.error().message;
    return std::move(ParseCondaFile("c.yml", "")).value();
  }
  return std::move(file).value();
}

std::string Complaint(std::string bytes) {
  const Result<CondaFile> file = ParseCondaFile("c.yml", std::move(bytes));
  return file.ok() ? "(accepted)" : file.error().message + " | " + file.error().hint;
}

// The only pip item as "kind name constraint@line".
std::string Pip(const std::string& item) {
  const CondaFile file = MustRead("dependencies:\n- pip:\n  - " + item + "\n");
  EXPECT_EQ(file.items.size(), 1u);
  if (file.items.size() != 1) return "";
  const Dependency& d = file.items[0];
  return std::string(DependencyKindName(d.kind)) + " " + d.name + d.extras + " " + d.constraint;
}

std::string Conda(const std::string& item) {
  const CondaFile file = MustRead("dependencies:\n- " + item + "\n");
  EXPECT_EQ(file.items.size(), 1u);
  if (file.items.size() != 1) return "";
  const Dependency& d = file.items[0];
  return std::string(DependencyKindName(d.kind)) + " " + d.name + " " + d.constraint + " " +
         d.ExactVersion();
}

TEST(CondaFile, TemplateKeepsThePlaceOfEveryItem) {
  const CondaFile file = MustRead(
      "# comment\r\nname: project_environment\r\nchannels:\r\n  - pytorch #soumith\r\n"
      "  - defaults\r\ndependencies:\r\n  - python=3.5.2  \r\n  - pip:\r\n"
      "    - azure-ml-api-sdk==0.1.0a11   \r\n  - numpy>=1.13\r\n");
  EXPECT_EQ(file.name, "project_environment");
  ASSERT_EQ(file.channels.size(), 2u);
  EXPECT_EQ(file.channels[0].value, "pytorch");
  EXPECT_EQ(file.channels[0].origin.Text(), "c.yml:4:5");
  ASSERT_EQ(file.items.size(), 3u);
  EXPECT_EQ(file.items[0].text, "python=3.5.2");
  EXPECT_EQ(file.items[0].path, (yaml::Path{"dependencies", "0"}));
  EXPECT_EQ(file.items[1].text, "azure-ml-api-sdk==0.1.0a11");
  EXPECT_EQ(file.items[1].path, (yaml::Path{"dependencies", "1", "pip", "0"}));
  EXPECT_EQ(file.items[1].position, (yaml::Position{9, 7}));
  EXPECT_TRUE(file.items[1].in_pip);
  EXPECT_EQ(file.items[2].path, (yaml::Path{"dependencies", "2"}));
  EXPECT_EQ(file.items[2].constraint, ">=1.13");
  ASSERT_TRUE(file.pip_list.has_value());
  EXPECT_EQ(*file.pip_list, (yaml::Path{"dependencies", "1", "pip"}));
  EXPECT_EQ(file.PythonVersion(), std::pair(3, 5));
  EXPECT_FALSE(file.marked_version_2);
  EXPECT_TRUE(file.notices.empty());
  for (const Dependency& item : file.items) {
    EXPECT_NE(yaml::FindPath(file.document, item.path), nullptr) << item.text;
  }
}

TEST(CondaFile, MarkerOfVersion2IsAComment) {
  EXPECT_TRUE(MustRead("# x\n  #  [AzureMlVersion] = 2\r\nname: a\n").marked_version_2);
  EXPECT_FALSE(MustRead("# [AzureMlVersion] = 1\nname: a\n").marked_version_2);
  EXPECT_FALSE(MustRead("name: \"[AzureMlVersion] = 2\"\n").marked_version_2);
}

TEST(CondaFile, CondaItemsInEveryForm) {
  EXPECT_EQ(Conda("numpy"), "conda numpy  ");
  EXPECT_EQ(Conda("numpy=1.12.1"), "conda numpy =1.12.1 1.12.1");
  EXPECT_EQ(Conda("numpy==1.12.1"), "conda numpy ==1.12.1 1.12.1");
  EXPECT_EQ(Conda("numpy=1.12=py35_0"), "conda numpy =1.12=py35_0 1.12");
  EXPECT_EQ(Conda("numpy>=1.13"), "conda numpy >=1.13 ");
  EXPECT_EQ(Conda("conda-forge::opencv=3.2"), "conda opencv =3.2 3.2");
  EXPECT_EQ(Conda("numpy >=1.13,<2"), "conda numpy >=1.13,<2 ");
  EXPECT_EQ(Conda("python=3.6.*"), "conda python =3.6.* 3.6");
  EXPECT_EQ(Conda("os"), "conda os  ");
  EXPECT_EQ(Conda("'numpy=1.1  '"), "conda numpy =1.1 1.1");
}

TEST(CondaFile, PipItemsInEveryForm) {
  EXPECT_EQ(Pip("numpy"), "pip numpy ");
  EXPECT_EQ(Pip("azure-ml-api-sdk==0.1.0a11"), "pip azure-ml-api-sdk ==0.1.0a11");
  EXPECT_EQ(Pip("azureml.datacollector == 0.1"), "pip azureml.datacollector == 0.1");
  EXPECT_EQ(Pip("tensorflow[and-cuda]>=2"), "pip tensorflow[and-cuda] >=2");
  EXPECT_EQ(Pip("six>=1 ; python_version<'3'"), "pip six >=1");
  EXPECT_EQ(Pip("https://cntk.ai/PythonWheel/GPU/cntk-2.2-cp35-cp35m-linux_x86_64.whl"),
            "wheel cntk ");
  EXPECT_EQ(Pip("http://h/azureml.assets-1.0.0-py3-none-any.whl?sv=1&sig=a%2Fb%3D"),
            "wheel azureml.assets ");
  EXPECT_EQ(Pip("torch @ https://h/torch-0.3.1-cp35-cp35m-linux_x86_64.whl"), "wheel torch ");
  EXPECT_EQ(Pip("https://h/x-1.0.tar.gz"), "address  ");
  EXPECT_EQ(Pip("git+git://github.com/fchollet/keras.git"), "repository keras ");
  EXPECT_EQ(Pip("git+https://user@host/aleju/imgaug@v1"), "repository imgaug ");
  EXPECT_EQ(Pip("git+ssh://git@host/x.git#egg=Thing"), "repository Thing ");
  EXPECT_EQ(Pip("-e git+https://host/x.git"), "repository x ");
  EXPECT_EQ(Pip("/azureml-share/microsoftml-1.4.0-py3-none-any.whl"), "file microsoftml ");
  EXPECT_EQ(Pip("C:\\temp\\pkg-2-py3-none-any.whl"), "file pkg ");
  EXPECT_EQ(Pip("./lib"), "file  ");
  EXPECT_EQ(Pip("--index-url https://h/python-repository/preview"),
            "option --index-url https://h/python-repository/preview");
  EXPECT_EQ(Pip("--index-url=https://h/"), "option --index-url https://h/");
}

TEST(CondaFile, HashWithoutABlankIsPartOfTheItem) {
  const CondaFile file = MustRead(
      "dependencies:\n- pip:\n  - azure-ml-api-sdk==0.1.0a11#0.1.0a9\n  - a==1 # comment\n");
  ASSERT_EQ(file.items.size(), 2u);
  EXPECT_EQ(file.items[0].text, "azure-ml-api-sdk==0.1.0a11#0.1.0a9");
  EXPECT_EQ(file.items[0].ExactVersion(), "0.1.0a11");
  EXPECT_EQ(file.items[1].text, "a==1");
  ASSERT_EQ(file.notices.size(), 1u);
  EXPECT_TRUE(file.notices[0].starts_with("c.yml:3:5: ")) << file.notices[0];
}

TEST(CondaFile, PackageInBothPartsIsANotice) {
  const CondaFile file = MustRead(
      "dependencies:\n- gensim\n- scikit_learn\n- pip:\n  - Gensim==1\n  - scikit-learn\n");
  ASSERT_EQ(file.notices.size(), 2u);
  EXPECT_EQ(file.notices[0],
            "c.yml:5:5: `Gensim` is in the conda part too (line 2); pip's comes last and wins");
}

TEST(CondaFile, EmptyPartsAskForNothing) {
  for (const char* bytes :
       {"", "# only comments\n", "dependencies:\n", "name: a\n", "dependencies:\n- pip:\n",
        "dependencies: []\n", "name: a\nchannels:\ndependencies:\n  - pip: []\n"}) {
    EXPECT_TRUE(MustRead(bytes).items.empty()) << bytes;
  }
}

TEST(CondaFile, JsonAndFlowStyleAreRead) {
  const CondaFile file =
      MustRead("{\"name\": \"a\", \"dependencies\": [\"python=3.6\", {\"pip\": [\"b==1\"]}]}");
  ASSERT_EQ(file.items.size(), 2u);
  EXPECT_EQ(file.items[1].path, (yaml::Path{"dependencies", "1", "pip", "0"}));
}

TEST(CondaFile, UnknownKeyIsANoticeWithAGuess) {
  const CondaFile file = MustRead("Dependencies:\n- numpy\n");
  ASSERT_EQ(file.notices.size(), 1u);
  EXPECT_EQ(file.notices[0],
            "c.yml:1:1: unknown key `Dependencies` is ignored; did you mean `dependencies`?");
}

TEST(CondaFile, OtherFormsPointAtTheLine) {
  EXPECT_EQ(Complaint("- numpy\n"),
            "c.yml:1:1: expected `dependencies`, found a list | write `dependencies:` and one `- "
            "name` per line below it");
  EXPECT_EQ(Complaint("dependencies: numpy\n"),
            "c.yml:1:15: dependencies: expected a list, found text | write one `- name` per line "
            "below `dependencies:`");
  EXPECT_EQ(Complaint("dependencies:\n- numpy: 1.2\n"),
            "c.yml:2:3: dependencies: `numpy:` is no package | write `- numpy=1.2`");
  EXPECT_EQ(Complaint("dependencies:\n- numpy\n- ~\n"),
            "c.yml:3:3: dependencies: expected a package, found nothing | write `- name`, or take "
            "the line away");
  EXPECT_EQ(Complaint("dependencies:\n- pip: numpy\n"),
            "c.yml:2:8: pip: expected a list, found text | write one `- name` per line below `- "
            "pip:`");
  EXPECT_EQ(Complaint("channels: conda-forge\n"),
            "c.yml:1:11: channels: expected a list, found text | write one `- conda-forge` per "
            "line below `channels:`");
  EXPECT_EQ(Complaint("dependencies:\n\t- numpy\n").substr(0, 10), "c.yml:2:1:");
}

class CondaFileOnDisk : public TempProject {};

TEST_F(CondaFileOnDisk, MissingFileIsNotFound) {
  const Result<CondaFile> file = ReadCondaFile(root_, "aml_config/none.yml");
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace tenon::project
