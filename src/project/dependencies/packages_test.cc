// SPDX-License-Identifier: Apache-2.0
#include "project/dependencies/packages.h"

#include <unistd.h>

#include "base/hash.h"
#include "base/text.h"
#include "project/dependencies/requirements_file.h"
#include "project/temp_project.h"

namespace tenon::project {
namespace {

constexpr const char* kConda = "aml_config/conda_dependencies.yml";

class PackagesTest : public TempProject {
 protected:
  Result<ReadPackagesResult> Read(const std::string& file) {
    return ReadPackages(root_, {file, Origin::File("aml_config/d.runconfig", 3, 24)});
  }
  ReadPackagesResult MustRead(const std::string& file) {
    Result<ReadPackagesResult> read = Read(file);
    if (!read.ok()) {
      ADD_FAILURE() << Complaint(read.error());
      return {};
    }
    return std::move(read).value();
  }
  ReadPackagesResult Conda(std::string_view bytes) {
    Write(kConda, bytes);
    return MustRead(kConda);
  }
  ReadPackagesResult Requirements(std::string_view bytes) {
    Write("requirements.txt", bytes);
    return MustRead("requirements.txt");
  }
  std::string ComplaintOf(const std::string& file, std::string_view bytes) {
    Write(file, bytes);
    Result<ReadPackagesResult> read = Read(file);
    return read.ok() ? "(accepted)" : Complaint(read.error());
  }
  // "text|text"
  static std::string Texts(const std::vector<run::Package>& packages) {
    std::vector<std::string> texts;
    for (const run::Package& package : packages) texts.push_back(package.text);
    return Join(texts, "|");
  }
  static std::string Files(const run::Packages& packages) {
    std::vector<std::string> paths;
    for (const run::PackageFile& file : packages.files) paths.push_back(file.path);
    return Join(paths, "|");
  }
};

// ---- Conda files -----------------------------------------------------------------------------

TEST_F(PackagesTest, EveryItemKeepsItsOrderNameAndLine) {
  const ReadPackagesResult read = Conda(
      "name: project_environment\n"
      "channels:\n  - conda-forge\n  - pytorch #soumith\n"
      "dependencies:\n"
      "  - python=3.5.2\n"
      "  - scikit-learn   \n"
      "  - pip:\n"
      "    - Cython_Thing==1.0\n"
      "    - https://host/x-1.0-py3-none-any.whl?sig=a%2Fb&se=1\n"
      "  - numpy>=1.13\n"
      "  - pip\n"
      "  - conda-forge::Opencv=3.2\n");
  const run::Packages& packages = read.packages;
  EXPECT_EQ(packages.file, kConda);
  EXPECT_EQ(packages.format, "conda");
  EXPECT_EQ(packages.python, "=3.5.2");
  EXPECT_EQ(packages.python_where, std::string(kConda) + ":6");
  EXPECT_EQ(packages.channels, (std::vector<std::string>{"conda-forge", "pytorch"}));
  EXPECT_EQ(Texts(packages.conda), "scikit-learn|numpy>=1.13|pip|conda-forge::Opencv=3.2");
  EXPECT_EQ(packages.conda[3].name, "opencv");
  EXPECT_EQ(Texts(packages.pip),
            "Cython_Thing==1.0|https://host/x-1.0-py3-none-any.whl?sig=a%2Fb&se=1");
  EXPECT_EQ(packages.pip[0].name, "cython-thing");
  EXPECT_EQ(packages.pip[1].name, "x");
  EXPECT_EQ(packages.pip[1].where, std::string(kConda) + ":10");
  EXPECT_TRUE(packages.files.empty());
  EXPECT_TRUE(read.notices.empty()) << Join(read.notices, "\n");
}

TEST_F(PackagesTest, WhatIsGoneIsLeftOutWithOneNoticeEach) {
  const ReadPackagesResult read = Conda(
      "dependencies:\n"
      "- python=3.5.2\n"
      "- io\n"
      "- pickle\n"
      "- pip:\n"
      "  - --index-url https://azuremldownloads.azureedge.net/python-repository/preview\n"
      "  - --extra-index-url https://pypi.python.org/simple\n"
      "  - azureml-requirements\n"
      "  - azure-ml-api-sdk==0.1.0a11#0.1.0a9\n"
      "  - azureml.datacollector==0.1.0a13\n"
      "  - azureml-model-management-sdk\n"
      "  - azureml.assets\n"
      "  - https://azuremldownloads.blob.core.windows.net/wheels/latest/"
      "azureml.assets-1.0.0-py3-none-any.whl?sv=2016&sig=SIGNATURE\n"
      "  - six\n");
  EXPECT_EQ(Texts(read.packages.conda), "");
  EXPECT_EQ(Texts(read.packages.pip), "six");
  EXPECT_EQ(Texts(read.packages.pip_options), "");
  const std::string notices = Join(read.notices, "\n");
  for (int line = 3; line <= 13; ++line) {
    if (line == 5) continue;  // `- pip:`
    EXPECT_NE(notices.find(std::string(kConda) + ":" + std::to_string(line) + ":"),
              std::string::npos)
        << line << "\n"
        << notices;
  }
  EXPECT_NE(notices.find("`io` is left out: part of Python"), std::string::npos) << notices;
  EXPECT_EQ(notices.find("SIGNATURE"), std::string::npos) << notices;
}

TEST_F(PackagesTest, TodaysPackagesOfTheSameNameAreKept) {
  EXPECT_EQ(Texts(Requirements("azureml-dataprep\n").packages.pip), "azureml-dataprep");
  EXPECT_EQ(Texts(Conda("dependencies: [python=3.9, {pip: [azureml-dataprep]}]\n").packages.pip),
            "azureml-dataprep");
}

TEST_F(PackagesTest, HostsThatAreGoneArePassedOnWithANotice) {
  const ReadPackagesResult read = Conda(
      "dependencies:\n- pip:\n"
      "  - https://cntk.ai/PythonWheel/GPU/cntk-2.2-cp35-cp35m-linux_x86_64.whl\n");
  ASSERT_EQ(read.packages.pip.size(), 1u);
  ASSERT_EQ(read.notices.size(), 1u);
  EXPECT_NE(read.notices[0].find(":3: "), std::string::npos);
  EXPECT_NE(read.notices[0].find("cntk.ai is gone"), std::string::npos);
  EXPECT_NE(read.notices[0].find("`tenon config upgrade` offers a replacement"), std::string::npos);
}

TEST_F(PackagesTest, TheProtocolThatGitHubGaveUpIsReplaced) {
  const ReadPackagesResult read = Conda(
      "dependencies:\n- pip:\n  - git+git://github.com/a/b.git@v1#egg=B\n"
      "  - git+https://github.com/aleju/imgaug\n"
      "  - -e git+https://h/c.git#egg=c\n");
  EXPECT_EQ(Texts(read.packages.pip),
            "git+https://github.com/a/b.git@v1#egg=B|git+https://github.com/aleju/imgaug|"
            "git+https://h/c.git#egg=c");
  EXPECT_EQ(read.packages.pip[0].name, "b");
  ASSERT_EQ(read.notices.size(), 2u) << Join(read.notices, "\n");
  EXPECT_NE(read.notices[0].find("no git://"), std::string::npos);
  EXPECT_NE(read.notices[1].find("without -e"), std::string::npos);
}

TEST_F(PackagesTest, WhatCannotWorkOnLinuxIsAnErrorWithTheLine) {
  EXPECT_EQ(
      ComplaintOf(kConda, "dependencies:\n- pip:\n  - C:\\temp\\pkg-1.0-py3-none-any.whl\n"),
      "invalid: aml_config/conda_dependencies.yml:3: `C:\\temp\\pkg-1.0-py3-none-any.whl` is a "
      "path of Windows | copy the file into the project and write its path from there: "
      "`./wheels/…`");
  EXPECT_EQ(
      ComplaintOf(kConda,
                  "dependencies:\n- pip:\n  - https://h/p-1.0-cp35-cp35m-win_amd64.whl?sig=x\n"),
      "invalid: aml_config/conda_dependencies.yml:3: `https://h/p-1.0-cp35-cp35m-win_amd64.whl` is "
      "a wheel for Windows, but the run is on Linux | `tenon config upgrade` shows what to write "
      "instead");
  EXPECT_EQ(ComplaintOf("requirements.txt",
                        "https://h/p-1.0-cp35-cp35m-win_amd64.whl ; sys_platform == 'win32'\n"),
            "(accepted)");
  EXPECT_EQ(ComplaintOf(kConda, "dependencies:\n- ./wheels/x.whl\n"),
            "invalid: aml_config/conda_dependencies.yml:2: `./wheels/x.whl` is no package of conda "
            "| write `- name=version`; files and addresses belong below `- pip:`");
}

TEST_F(PackagesTest, PythonInAllItsForms) {
  const std::pair<const char*, const char*> forms[] = {
      {"python=3.6", "=3.6"}, {"python==3.6.3", "==3.6.3"}, {"python 3.6", "=3.6"},
      {"python", ">=3"},      {"python=3.5.2=0", "=3.5.2"}, {"python=3.6.*", "=3.6.*"},
      {"Python=3.6", "=3.6"},
  };
  for (const auto& [item, python] : forms) {
    EXPECT_EQ(Conda("dependencies:\n- " + std::string(item) + "\n").packages.python, python)
        << item;
  }
  EXPECT_EQ(Conda("dependencies:\n- \"python >=3.8, <3.12\"\n").packages.python, ">=3.8,<3.12");
  EXPECT_EQ(Conda("dependencies:\n- numpy\n").packages.python, "");
}

TEST_F(PackagesTest, AddressesInTheCondaPartGoWhereTheyBelong) {
  const ReadPackagesResult read = Conda(
      "dependencies:\n- https://h/linux-64/numpy-1.0-py36_0.tar.bz2\n"
      "- https://h/x-1.0-py3-none-any.whl\n");
  EXPECT_EQ(Texts(read.packages.conda), "https://h/linux-64/numpy-1.0-py36_0.tar.bz2");
  EXPECT_EQ(Texts(read.packages.pip), "https://h/x-1.0-py3-none-any.whl");
  EXPECT_EQ(read.notices.size(), 1u);
}

TEST_F(PackagesTest, AnEmptyFileAsksForNothing) {
  const ReadPackagesResult read = Conda("# nothing\n");
  EXPECT_TRUE(read.packages.empty());
  EXPECT_EQ(read.packages.format, "conda");
}

// ---- Files that are not there, or elsewhere ----------------------------------------------------

TEST_F(PackagesTest, AMissingFileIsAnErrorOnlyWhereSomebodyMeantIt) {
  Result<ReadPackagesResult> nobody = ReadPackages(root_, {kConda, Origin::Default()});
  ASSERT_TRUE(nobody.ok());
  EXPECT_TRUE(nobody->packages.empty());
  EXPECT_EQ(nobody->packages.file, "");
  EXPECT_TRUE(nobody->notices.empty());

  const ReadPackagesResult usual = MustRead(kConda);
  EXPECT_TRUE(usual.packages.empty());
  ASSERT_EQ(usual.notices.size(), 1u);
  EXPECT_EQ(usual.notices[0],
            "aml_config/d.runconfig:3:24: CondaDependenciesFile: there is no file "
            "`aml_config/conda_dependencies.yml`, so nothing is installed");

  Result<ReadPackagesResult> named = Read("aml_config/conda_dependencies_gpu.yml");
  ASSERT_FALSE(named.ok());
  EXPECT_EQ(named.error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(named.error().message,
            "aml_config/d.runconfig:3:24: CondaDependenciesFile: there is no file "
            "`aml_config/conda_dependencies_gpu.yml`");
}

TEST_F(PackagesTest, NothingOutsideTheProjectIsRead) {
  ASSERT_TRUE(
      WriteFileAtomically(top_ + "/out.yml", "dependencies: [numpy]\n", 0644, Durability::kProcess)
          .ok());
  ASSERT_TRUE(
      WriteFileAtomically(top_ + "/w-1-py3-none-any.whl", "w", 0644, Durability::kProcess).ok());
  Result<ReadPackagesResult> outside = Read("../out.yml");
  ASSERT_FALSE(outside.ok());
  EXPECT_EQ(outside.error().kind, ErrorKind::kInvalid);
  EXPECT_NE(outside.error().message.find("is outside the project"), std::string::npos);

  EXPECT_NE(ComplaintOf("requirements.txt", "../w-1-py3-none-any.whl\n").find("outside"),
            std::string::npos);
  EXPECT_NE(ComplaintOf("requirements.txt", "-r ../out.txt\n").find("outside"), std::string::npos);
  ASSERT_EQ(
      symlink((top_ + "/w-1-py3-none-any.whl").c_str(), (root_ + "/w-1-py3-none-any.whl").c_str()),
      0);
  EXPECT_NE(ComplaintOf("requirements.txt", "./w-1-py3-none-any.whl\n").find("leads out"),
            std::string::npos);
}

TEST_F(PackagesTest, OtherKindsOfFilesAreNotMistakenForConda) {
  const std::string complaint = ComplaintOf("poetry.lock", "x = 1\n");
  EXPECT_NE(complaint.find("invalid: `poetry.lock` is no file of dependencies"), std::string::npos)
      << complaint;
}

// ---- Requirements files ----------------------------------------------------------------------

TEST_F(PackagesTest, LinesOfPipAreReadAsPipReadsThem) {
  const ReadPackagesResult read = Requirements(
      "\xef\xbb\xbf# comment\r\n"
      "numpy==1.19.5  # pinned\r\n"
      "\r\n"
      "six \\\r\n"
      "  --hash=sha256:aa \\\r\n"
      "  --hash=sha256:bb\r\n"
      "requests[socks]>=2,<3 ; python_version >= '3.6'\r\n"
      "torch @ https://h/torch-1.0-cp36-cp36m-linux_x86_64.whl#sha256=cc\r\n"
      "https://h/archive.tar.gz#egg=thing\r\n"
      "-i https://${USER_NAME}:${TOKEN}@h/simple\r\n"
      "--extra-index-url=https://h2/simple\r\n"
      "--no-binary :all:\r\n"
      "--pre");
  EXPECT_EQ(read.packages.format, "requirements");
  EXPECT_EQ(Texts(read.packages.pip),
            "numpy==1.19.5|six   --hash=sha256:aa   --hash=sha256:bb|"
            "requests[socks]>=2,<3 ; python_version >= '3.6'|"
            "torch @ https://h/torch-1.0-cp36-cp36m-linux_x86_64.whl#sha256=cc|"
            "https://h/archive.tar.gz#egg=thing");
  EXPECT_EQ(read.packages.pip[1].name, "six");
  EXPECT_EQ(read.packages.pip[1].where, "requirements.txt:4");
  EXPECT_EQ(read.packages.pip[2].name, "requests");
  EXPECT_EQ(read.packages.pip[3].name, "torch");
  EXPECT_EQ(Texts(read.packages.pip_options),
            "--index-url https://${USER_NAME}:${TOKEN}@h/simple|--extra-index-url "
            "https://h2/simple|--no-binary :all:|--pre");
  EXPECT_TRUE(read.notices.empty()) << Join(read.notices, "\n");
}

TEST_F(PackagesTest, APasswordInALineIsSaidAndNotShown) {
  const ReadPackagesResult read =
      Requirements("--index-url https://me:hunter2@h/simple\nhttps://me:hunter2@h/x-1.zip\n");
  ASSERT_EQ(read.notices.size(), 2u) << Join(read.notices, "\n");
  EXPECT_EQ(read.notices[0].substr(0, 19), "requirements.txt:1:");
  EXPECT_NE(read.notices[0].find("--secret NAME"), std::string::npos);
  EXPECT_EQ(Join(read.notices, "\n").find("hunter2"), std::string::npos);
  const std::string refused =
      ComplaintOf("requirements.txt", "https://me:hunter2@h/p-1.0-cp35-cp35m-win_amd64.whl\n");
  EXPECT_NE(refused.find("`https://…@h/p-1.0"), std::string::npos) << refused;
  EXPECT_EQ(refused.find("hunter2"), std::string::npos);
}

TEST_F(PackagesTest, IncludedFilesArePutInOnceAndNeverForEver) {
  Write("deps/base.txt", "six\n-r more.txt\n");
  Write("deps/more.txt", "attrs\n");
  const ReadPackagesResult read =
      Requirements("-r deps/base.txt\nnumpy\n-rdeps/more.txt\n--requirement=deps/base.txt\n");
  EXPECT_EQ(Texts(read.packages.pip), "six|attrs|numpy");
  EXPECT_EQ(read.packages.pip[1].where, "deps/more.txt:1");

  Write("deps/more.txt", "attrs\n-r ../requirements.txt\n");
  EXPECT_EQ(ComplaintOf("requirements.txt", "-r deps/base.txt\n"),
            "invalid: deps/more.txt:2: requirements.txt includes itself | take this line away");
  EXPECT_EQ(ComplaintOf("requirements.txt", "\n-r gone.txt\n").substr(0, 59),
            "not_found: requirements.txt:2: the file `gone.txt` is not t");
  EXPECT_NE(ComplaintOf("requirements.txt", "-r https://h/r.txt\n").find("requirements.txt:1"),
            std::string::npos);
}

TEST_F(PackagesTest, ACondaFileMayIncludeRequirements) {
  Write("aml_config/more.txt", "attrs\n");
  Write("requirements.txt", "six\n");
  EXPECT_EQ(
      Texts(
          Conda("dependencies:\n- pip:\n  - -r more.txt\n  - -r requirements.txt\n").packages.pip),
      "attrs|six");
}

TEST_F(PackagesTest, ConstraintsTravelAsAFileWhoseCommentsDoNotCount) {
  Write("deps/pins.txt", "numpy==1.19.5\n");
  const ReadPackagesResult before = Requirements("-c deps/pins.txt\nnumpy\n");
  EXPECT_EQ(Texts(before.packages.pip_options), "--constraint ./deps/pins.txt");
  EXPECT_EQ(Files(before.packages), "deps/pins.txt");
  EXPECT_EQ(Texts(before.packages.pip), "numpy");
  Write("deps/pins.txt", "# why\n\nnumpy==1.19.5   # so\n");
  EXPECT_EQ(Requirements("-c deps/pins.txt\nnumpy\n").packages.files[0].hash,
            before.packages.files[0].hash);
  Write("deps/pins.txt", "numpy==1.19.4\n");
  EXPECT_NE(Requirements("-c deps/pins.txt\nnumpy\n").packages.files[0].hash,
            before.packages.files[0].hash);
}

TEST_F(PackagesTest, EditableFoldersAreRefusedWithWhatToDo) {
  Write("pkg/setup.py", "");
  const std::string editable = ComplaintOf("requirements.txt", "six\n-e ./pkg\n");
  EXPECT_NE(editable.find("invalid: requirements.txt:2: "), std::string::npos) << editable;
  EXPECT_NE(editable.find("pip wheel"), std::string::npos) << editable;
  const std::string folder = ComplaintOf("requirements.txt", "./pkg\n");
  EXPECT_NE(folder.find("requirements.txt:1: `./pkg` is a folder"), std::string::npos) << folder;
  EXPECT_NE(ComplaintOf("requirements.txt", "-e .\n").find("requirements.txt:1: "),
            std::string::npos);
}

TEST_F(PackagesTest, LocalWheelsAreHashedFromWhereTheyLie) {
  Write("wheels/x_y-1.0-py3-none-any.whl", "bytes");
  Write("aml_config/z-1.0.tar.gz", "z");
  const ReadPackagesResult read = Conda(
      "dependencies:\n- pip:\n"
      "  - ./wheels/x_y-1.0-py3-none-any.whl[extra]\n"
      "  - wheels\\x_y-1.0-py3-none-any.whl\n"
      "  - z-1.0.tar.gz ; python_version > '3'\n"
      "  - /azureml-share/microsoftml-1.4.0-py3-none-any.whl\n"
      "  - file:///opt/q-1-py3-none-any.whl\n");
  EXPECT_EQ(Texts(read.packages.pip),
            "./wheels/x_y-1.0-py3-none-any.whl[extra]|./wheels/x_y-1.0-py3-none-any.whl|"
            "./aml_config/z-1.0.tar.gz ; python_version > '3'|"
            "/azureml-share/microsoftml-1.4.0-py3-none-any.whl|file:///opt/q-1-py3-none-any.whl");
  EXPECT_EQ(read.packages.pip[0].name, "x-y");
  EXPECT_EQ(Files(read.packages), "aml_config/z-1.0.tar.gz|wheels/x_y-1.0-py3-none-any.whl");
  EXPECT_EQ(read.packages.files[1].hash, Sha256Of("bytes").Hex());

  const std::string missing =
      ComplaintOf(kConda, "dependencies:\n- pip:\n  - ./wheels/gone-1.0-py3-none-any.whl\n");
  EXPECT_EQ(missing.substr(0, 52), "not_found: aml_config/conda_dependencies.yml:3: the ");
}

TEST_F(PackagesTest, AFolderOfWheelsCountsWithAllItsArchives) {
  Write("wheels/a-1.0-py3-none-any.whl", "a");
  Write("wheels/b-1.0.tar.gz", "b");
  Write("wheels/README.md", "r");
  const ReadPackagesResult read = Requirements("--no-index\n-f ./wheels/\na\n");
  EXPECT_EQ(Texts(read.packages.pip_options), "--no-index|--find-links ./wheels");
  EXPECT_EQ(Files(read.packages), "wheels/a-1.0-py3-none-any.whl|wheels/b-1.0.tar.gz");
  EXPECT_EQ(Texts(Requirements("-f https://h/list.html\n").packages.pip_options),
            "--find-links https://h/list.html");
  EXPECT_NE(ComplaintOf("requirements.txt", "--find-links gone\n").find("requirements.txt:1"),
            std::string::npos);
}

TEST_F(PackagesTest, BytesThatAreNoTextAreRefused) {
  EXPECT_NE(ComplaintOf("requirements.txt", "num\xff\n").find("not UTF-8"), std::string::npos);
}

// ---- pyproject.toml and uv.lock --------------------------------------------------------------

constexpr const char* kProject =
    "[build-system]\nrequires = [\"hatchling\"]\n\n[project]\nname = \"p\"\n"
    "requires-python = \">=3.8, <3.12\"  # both\n";
constexpr const char* kLock =
    "version = 1\n\n[[package]]\nname = \"p\"\nsource = { virtual = \".\" }\n";

TEST_F(PackagesTest, ALockedProjectIsBothItsFiles) {
  Write("pyproject.toml", kProject);
  Write("uv.lock", kLock);
  const ReadPackagesResult read = MustRead("pyproject.toml");
  EXPECT_EQ(read.packages.format, "uv-lock");
  EXPECT_EQ(read.packages.python, ">=3.8,<3.12");
  EXPECT_EQ(Files(read.packages), "pyproject.toml|uv.lock");
  EXPECT_FALSE(read.packages.empty());

  Write("uv.lock", "# made by uv\n" + std::string(kLock) + "\n\n");
  const ReadPackagesResult again = MustRead("uv.lock");
  EXPECT_EQ(again.packages.files[1].hash, read.packages.files[1].hash);
  Write("uv.lock", std::string(kLock) + "x = \"#1\"\n");
  const std::string one = MustRead("uv.lock").packages.files[1].hash;
  Write("uv.lock", std::string(kLock) + "x = \"#2\"\n");
  EXPECT_NE(MustRead("uv.lock").packages.files[1].hash, one);
}

TEST_F(PackagesTest, AProjectThatIsNotLockedSaysHow) {
  EXPECT_EQ(
      ComplaintOf("sub/pyproject.toml", kProject),
      "invalid: there is no sub/uv.lock, without which the environment is not known | make it "
      "with `uv lock` in the folder of sub/pyproject.toml");
}

TEST_F(PackagesTest, SourcesInTheProjectCountAndFoldersAreRefused) {
  Write("pyproject.toml", kProject);
  Write("wheels/a-1.0-py3-none-any.whl", "a");
  Write("uv.lock", std::string(kLock) +
                       "[[package]]\nname = \"a\"\nsource = { path = "
                       "\"wheels/a-1.0-py3-none-any.whl\" }\n");
  EXPECT_EQ(Files(MustRead("pyproject.toml").packages),
            "pyproject.toml|uv.lock|wheels/a-1.0-py3-none-any.whl");
  Write("uv.lock", std::string(kLock) +
                       "[[package]]\nname = \"b\"\nsource = { editable = "
                       "\"libs/b\" }\n");
  Result<ReadPackagesResult> folder = Read("pyproject.toml");
  ASSERT_FALSE(folder.ok());
  EXPECT_NE(folder.error().message.find("uv.lock:8: `libs/b` is a folder"), std::string::npos)
      << folder.error().message;
  Write("uv.lock", std::string(kLock) + "source = { path = \"wheels/gone.whl\" }\n");
  EXPECT_FALSE(Read("pyproject.toml").ok());
}

TEST_F(PackagesTest, ALockedProjectIsTheSameHoweverItIsWritten) {
  Write("pyproject.toml", kProject);
  Write("uv.lock", kLock);
  const std::string before = MustRead("pyproject.toml").packages.files[1].hash;
  Write("uv.lock",
        "version=1\r\n[[ package ]]\r\nsource = { 'virtual' = '''.''' }\r\n\"name\" = "
        "\"\\u0070\"\r\n");
  EXPECT_EQ(MustRead("pyproject.toml").packages.files[1].hash, before);
}

TEST_F(PackagesTest, TomlThatIsNoneIsRefusedWithItsLine) {
  Write("pyproject.toml", kProject);
  Write("uv.lock", std::string(kLock) + "source = \n");
  const auto broken = Read("pyproject.toml");
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.error().kind, ErrorKind::kInvalid);
  EXPECT_TRUE(broken.error().message.starts_with("uv.lock:6: ")) << broken.error().message;
  Write("uv.lock", "x = " + std::string(100'000, '['));
  EXPECT_EQ(Read("pyproject.toml").error().kind, ErrorKind::kInvalid);
}

TEST_F(PackagesTest, ThePythonOfAnotherTableIsNotTheProjects) {
  Write("pyproject.toml", "[tool.x]\nrequires-python = \"3\"\n[project]\nname = 'x'\n");
  Write("uv.lock", kLock);
  EXPECT_EQ(MustRead("pyproject.toml").packages.python, "");
}

TEST(Requirements, ContinuedLinesCountFromTheirFirst) {
  auto lines = ParseRequirements("r.txt", "a \\\n# comment\nb==1#x\n\\\nc\n");
  ASSERT_TRUE(lines.ok());
  ASSERT_EQ(lines->size(), 3u);
  EXPECT_EQ((*lines)[0].text, "a");
  EXPECT_EQ((*lines)[0].line, 1);
  EXPECT_EQ((*lines)[1].text, "b==1#x");
  EXPECT_EQ((*lines)[2].text, "c");
  EXPECT_EQ((*lines)[2].line, 4);
}

}  // namespace
}  // namespace tenon::project
