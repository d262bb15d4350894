# SPDX-License-Identifier: Apache-2.0
"""`tenon config upgrade`: one diff with reasons, asked for, never silently."""

import os
import re
import shutil
from pathlib import Path

import pytest

from e2e import harness

COMPUTE = (
    "address: 203.0.113.7\r\nbaseDockerImage: microsoft/mmlspark:plus-gpu-0.7.91\r\n"
    "password: AzureMlSecret=my_dsvm#me#0123\r\ntype: remotedocker\r\nusername: me\r\n"
)
RUNCONFIG = "ArgumentVector:\n- $file\nTarget: my_dsvm\n"
CONDA = (
    "name: project_environment\ndependencies:\n  - python=3.5.2  # of the time\n  - pip:\n"
    "    - https://cntk.ai/PythonWheel/GPU-1bit-SGD/cntk-2.1-cp35-cp35m-win_amd64.whl\n"
    "    - azureml-requirements\n    - numpy"
)
SCRIPT = "import cntk\n"


@pytest.fixture
def walk(project):
    """The GPU walk of 2017, wrong wheel included."""
    return project(SCRIPT, files={
        "aml_config/my_dsvm.compute": COMPUTE, "aml_config/my_dsvm.runconfig": RUNCONFIG,
        "aml_config/conda_dependencies.yml": CONDA})


def tree(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def unexplained(diff):
    return [line for line in diff.splitlines()
            if line.startswith("@@") and not re.fullmatch(r"@@ -[\d,]+ \+[\d,]+ @@ \S.{10,}", line)]


def test_without_a_terminal_it_shows_and_changes_nothing(tenon, walk):
    before = tree(walk)
    shown = tenon.run("config", "upgrade", cwd=walk).ok()
    assert tree(walk) == before
    assert "-  - python=3.5.2  # of the time\n+  - python=3.6  # of the time\n" in shown.out
    assert "+    - cntk-gpu==2.7\n" in shown.out
    assert "nothing was changed" in shown.err and "--yes" in shown.err
    assert "non-commercial" in shown.err and "MIT" in shown.err
    assert not unexplained(shown.out)
    assert "AzureMlSecret" not in shown.out + shown.err


def test_a_link_out_of_the_project_is_not_written_through(tenon, walk, tmp_path):
    outside = tmp_path / "somebody-elses.yml"
    outside.write_text(CONDA)
    conda = walk / "aml_config/conda_dependencies.yml"
    conda.unlink()
    conda.symlink_to(outside)
    before = tree(walk)
    refused = tenon.run("config", "upgrade", "--yes", cwd=walk)
    assert refused.code == 5 and "leads out of the project" in refused.err
    assert "nothing was changed" in refused.err
    assert outside.read_text() == CONDA and tree(walk) == before and conda.is_symlink()


def test_yes_makes_what_is_sure_and_suggestions_only_when_told(tenon, walk):
    done = tenon.run("config", "upgrade", "--yes", cwd=walk).ok()
    assert (walk / "aml_config/conda_dependencies.yml").read_text() == (
        "name: project_environment\ndependencies:\n  - python=3.6  # of the time\n  - pip:\n"
        "    - cntk-gpu==2.7\n    - numpy")
    assert (walk / "aml_config/my_dsvm.runconfig").read_text() == RUNCONFIG + "Framework: Python\n"
    assert (walk / "aml_config/my_dsvm.compute").read_bytes() == COMPUTE.encode()
    assert "2 suggestions were left out" in done.err

    tenon.run("config", "upgrade", "--yes", "--suggestions", cwd=walk).ok()
    assert (walk / "aml_config/my_dsvm.compute").read_bytes() == COMPUTE.replace(
        "microsoft/mmlspark:plus-gpu-0.7.91", "nvidia/cuda:10.0-cudnn7-runtime-ubuntu18.04"
    ).encode() + b"nvidiaDocker: true\r\n"
    before = tree(walk)
    again = tenon.run("config", "upgrade", "--yes", "--suggestions", cwd=walk).ok()
    assert again.out == "" and "nothing to upgrade" in again.err
    assert tree(walk) == before


def test_dry_run_beats_yes(tenon, walk):
    before = tree(walk)
    shown = tenon.run("config", "upgrade", "--yes", "--dry-run", cwd=walk).ok()
    assert "+  - python=3.6" in shown.out and "--dry-run" in shown.err
    assert tree(walk) == before


def test_a_terminal_is_asked_and_no_means_no(tenon, walk):
    before = tree(walk)
    refused = tenon.pty("config", "upgrade", "--no-suggestions", cwd=walk, keys=b"n\n",
                        when="[y/N]")
    assert refused.code == 0 and "nothing was changed" in refused.out
    assert tree(walk) == before
    agreed = tenon.pty("config", "upgrade", "--no-suggestions", cwd=walk, keys=b"y\n",
                       when="[y/N]")
    assert agreed.code == 0 and "changed aml_config/conda_dependencies.yml" in agreed.out
    assert b"python=3.6" in (walk / "aml_config/conda_dependencies.yml").read_bytes()
    assert (walk / "aml_config/my_dsvm.compute").read_bytes() == COMPUTE.encode()


def test_a_terminal_is_asked_for_each_suggestion(tenon, walk):
    done = tenon.pty("config", "upgrade", cwd=walk, keys=b"n\ny\nn\n", when="[y/N]")
    assert done.code == 0 and done.out.count("[y/N]") == 3
    after = (walk / "aml_config/my_dsvm.compute").read_bytes()
    assert b"nvidia/cuda:10.0" in after and b"nvidiaDocker" not in after
    assert (walk / "aml_config/conda_dependencies.yml").read_text() == CONDA


def test_json_has_the_reason_for_each_change(tenon, walk):
    plan = tenon.json("config", "upgrade", "--json", cwd=walk)
    by_rule = {change["rule"]: change for change in plan["changes"]}
    assert by_rule["python-3.5"]["line"] == 3 and not by_rule["python-3.5"]["suggestion"]
    assert by_rule["cntk-1bit-wheel"]["after"] == "cntk-gpu==2.7"
    assert by_rule["nvidia-docker"]["suggestion"]
    assert all(c["reason"] and c["file"] and c["line"] > 0 for c in plan["changes"])
    assert not any(c["applied"] for c in plan["changes"]) and plan["files_changed"] == []
    assert any("licence" in n["text"] for n in plan["notices"])
    applied = tenon.json("config", "upgrade", "--json", "--yes", cwd=walk)
    assert sorted(applied["files_changed"]) == [
        "aml_config/conda_dependencies.yml", "aml_config/my_dsvm.runconfig"]


def test_one_run_configuration_and_a_name_that_is_not_there(tenon, walk):
    plan = tenon.json("config", "upgrade", "-c", "local", "--json", cwd=walk)
    assert {c["file"] for c in plan["changes"]} == {"aml_config/conda_dependencies.yml"}
    missing = tenon.run("config", "upgrade", "-c", "my_dsvn", cwd=walk)
    assert missing.code == 3 and "did you mean `my_dsvm`" in missing.err


def test_modern_takes_todays_stack(tenon, project):
    folder = project("import tensorflow as tf\n", files={
        "aml_config/conda_dependencies.yml":
            "dependencies:\n- python=3.5.2\n- pip:\n  - tensorflow==1.4.0\n  - numpy==1.13.1\n"})
    done = tenon.run("config", "upgrade", "--modern", "--yes", cwd=folder).ok()
    assert (folder / "aml_config/conda_dependencies.yml").read_text() == (
        "dependencies:\n- python=3.12\n- pip:\n  - tensorflow\n  - numpy\n")
    assert "no promise" in done.err


@pytest.mark.planned_skip("root may write everywhere")
def test_a_folder_that_cannot_be_written_changes_nothing(tenon, walk):
    if os.geteuid() == 0:
        pytest.skip("running as root")
    (walk / "aml_config").chmod(0o555)
    try:
        before = tree(walk)
        refused = tenon.run("config", "upgrade", "--yes", cwd=walk)
        assert refused.code == 5 and "nothing was changed" in refused.err
        assert tree(walk) == before
    finally:
        (walk / "aml_config").chmod(0o755)


def test_a_broken_file_is_left_alone_and_named(tenon, walk):
    (walk / "aml_config/bad.compute").write_text("type: docker\n\tbaseDockerImage: microsoft/x\n")
    done = tenon.run("config", "upgrade", "--yes", cwd=walk).ok()
    assert "aml_config/bad.compute" in done.err and "left alone" in done.err
    assert b"python=3.6" in (walk / "aml_config/conda_dependencies.yml").read_bytes()


@pytest.mark.planned_skip("patch is not installed everywhere")
def test_what_it_shows_is_a_patch(tenon, walk):
    if not shutil.which("patch"):
        pytest.skip("no patch")
    import subprocess
    other = walk.parent / "other"
    shutil.copytree(walk, other)
    diff = tenon.run("config", "upgrade", cwd=walk).ok().out_bytes
    patched = subprocess.run(["patch", "-p0", "--binary", "-s"], cwd=other, input=diff, check=False,
                             capture_output=True)
    assert patched.returncode == 0, patched.stdout + patched.stderr
    tenon.run("config", "upgrade", "--yes", "--suggestions", cwd=walk).ok()
    assert {k: v for k, v in tree(other).items() if not k.endswith(".orig")} == tree(walk)


@pytest.mark.planned_skip("the corpus of real projects is no part of the repository")
def test_every_project_of_the_corpus_loads_afterwards_and_is_at_rest(tenon, tmp_path):
    corpus = Path(os.environ.get("TENON_CORPUS") or harness.ROOT / "../shared/corpus")
    if not corpus.is_dir():
        pytest.skip(f"no corpus at {corpus}")
    projects = sorted({p.parent.parent for p in corpus.rglob("aml_config/*")})
    assert len(projects) > 30
    for number, source in enumerate(projects):
        folder = tmp_path / f"p{number}"
        shutil.copytree(source, folder)
        plan = tenon.json("config", "upgrade", "--yes", "--suggestions", "--json", cwd=folder)
        assert not unexplained(plan["diff"]), source
        assert all(c["applied"] for c in plan["changes"]), source
        after = tree(folder)
        again = tenon.run("config", "upgrade", "--yes", "--suggestions", cwd=folder).ok()
        assert again.out == "" and "nothing to upgrade" in again.err, (source, again)
        assert tree(folder) == after, source
