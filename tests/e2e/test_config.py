# SPDX-License-Identifier: Apache-2.0
"""`tenon config show|set|check` on whole projects."""

import json
import os
import stat

import pytest

COMPUTE = (b"# the lab's machine\r\naddress: 203.0.113.7\r\nbaseDockerImage: \"some/image\"   # ours\r\n"
           b"type: remotedocker\r\nusername: me")
RUNCONFIG = b'"Framework": "PySpark"\n"Target": "my_dsvm"  # there\n'


@pytest.fixture
def dsvm(project):
    return project("print(1)\n", files={"aml_config/my_dsvm.compute": COMPUTE,
                                        "aml_config/my_dsvm.runconfig": RUNCONFIG})


def test_the_gpu_edits_of_the_walk_change_one_value_each(tenon, dsvm):
    done = tenon.run("config", "set", "nvidiaDocker", "true", "-c", "my_dsvm", cwd=dsvm).ok()
    assert done.out == "aml_config/my_dsvm.compute:6: nvidiaDocker: not set → true\n"
    assert (dsvm / "aml_config/my_dsvm.compute").read_bytes() == COMPUTE + b"\r\nnvidiaDocker: true"
    done = tenon.run("config", "set", "Framework", "Python", "-c", "my_dsvm", cwd=dsvm).ok()
    assert done.out == "aml_config/my_dsvm.runconfig:1: Framework: PySpark → Python\n"
    assert (dsvm / "aml_config/my_dsvm.runconfig").read_bytes() == RUNCONFIG.replace(b"PySpark", b"Python")
    again = tenon.run("config", "set", "Framework", "Python", "-c", "my_dsvm", cwd=dsvm).ok()
    assert again.out == "aml_config/my_dsvm.runconfig:1: Framework: Python already\n"


def test_set_and_unset_give_the_old_bytes(tenon, dsvm):
    for key, value in (("EnvironmentVariables.A", "x: #y"), ("UseSampling", "false")):
        tenon.run("config", "set", key, value, "-c", "my_dsvm", cwd=dsvm).ok()
        tenon.run("config", "set", "--unset", key, "-c", "my_dsvm", cwd=dsvm).ok()
    # The map that was made for the variable stays, empty.
    assert (dsvm / "aml_config/my_dsvm.runconfig").read_bytes() == RUNCONFIG + b'"EnvironmentVariables":\n'


def test_json_says_what_changed(tenon, dsvm):
    change = tenon.json("config", "set", "baseDockerImage", "ubuntu:22.04", "--target", "my_dsvm",
                        "--json", cwd=dsvm)
    assert change == {"key": "baseDockerImage", "file": "aml_config/my_dsvm.compute", "line": 3,
                      "before": "some/image", "after": "ubuntu:22.04", "changed": True}


@pytest.mark.parametrize("words, code, text", [
    (["nvidiaDoker", "true"], 2, "did you mean `nvidiaDocker`?"),
    (["nvidiaDocker", "maybe"], 2, "expected true or false"),
    (["Framework", "PySparc"], 2, "did you mean `PySpark`?"),
    (["password", "hunter2"], 2, "never written into a file"),
    (["Target", "nowhere"], 3, "there is no target `nowhere`"),
    (["nvidiaDocker"], 2, "no value is given"),
])
def test_a_refused_value_changes_nothing(tenon, dsvm, words, code, text):
    done = tenon.run("config", "set", *words, "-c", "my_dsvm", cwd=dsvm)
    assert done.code == code, repr(done)
    assert text in done.err
    assert "hunter2" not in done.err + done.out
    assert (dsvm / "aml_config/my_dsvm.compute").read_bytes() == COMPUTE
    assert (dsvm / "aml_config/my_dsvm.runconfig").read_bytes() == RUNCONFIG
    assert sorted(os.listdir(dsvm / "aml_config")) == ["local.compute", "local.runconfig",
                                                      "my_dsvm.compute", "my_dsvm.runconfig"]


def test_mode_stays_and_no_link_leads_out(tenon, dsvm, tmp_path):
    path = dsvm / "aml_config/my_dsvm.compute"
    path.chmod(0o640)
    tenon.run("config", "set", "nvidiaDocker", "true", "-c", "my_dsvm", cwd=dsvm).ok()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    outside = tmp_path / "outside.compute"
    outside.write_text("type: local\n")
    (dsvm / "aml_config/away.compute").symlink_to(outside)
    done = tenon.run("config", "set", "pythonLocation", "python3", "--target", "away", cwd=dsvm)
    assert done.code == 5, repr(done)
    assert outside.read_text() == "type: local\n"


def test_show_says_where_each_setting_comes_from(tenon, dsvm):
    rows = {r["setting"]: r for r in tenon.json("config", "show", "-c", "my_dsvm", "--json", cwd=dsvm)}
    assert rows["address"]["value"] == "203.0.113.7"
    assert rows["address"]["origin"] == "aml_config/my_dsvm.compute:2:10"
    assert rows["nvidiaDocker"] == {"setting": "nvidiaDocker", "value": "false", "origin": "default"}
    assert rows["Framework"]["origin"] == "aml_config/my_dsvm.runconfig:1:14"
    rows = {r["setting"]: r for r in tenon.json("config", "show", "-t", "my_dsvm", "--json", cwd=dsvm)}
    assert rows["run configuration"]["value"] == "my_dsvm"
    table = tenon.run("config", "show", cwd=dsvm).ok()
    assert "pythonLocation" in table.out and "aml_config/local.compute:2:17" in table.out


def test_check_judges_every_file_and_the_exit_code_says_so(tenon, dsvm):
    folder = dsvm / "aml_config"
    good = tenon.run("config", "check", cwd=dsvm)
    assert good.code == 0, repr(good)
    (folder / "bad.compute").write_text("type: local\n\tpythonLocation: x\n")
    (folder / "vm.compute").write_text("password: hunter2\ntype: remotedocker\n")
    (folder / "gone.runconfig").write_text("Target: nowhere\nFramework: Python\nTarhet: x\n")
    done = tenon.run("config", "check", cwd=dsvm)
    assert done.code == 1, repr(done)
    assert "aml_config/bad.compute:2:1: error: a tab is used as indentation" in done.out
    assert "aml_config/vm.compute:1:11: warning: password: this is a secret in clear text" in done.out
    assert "aml_config/gone.runconfig:1:9: error: Target: there is no target `nowhere`" in done.out
    assert "aml_config/gone.runconfig:3:1: warning: unknown key `Tarhet` is ignored; did you mean `Target`?" in done.out
    assert "hunter2" not in done.out + done.err
    answer = json.loads(tenon.run("config", "check", "--json", cwd=dsvm).out)
    assert answer["errors"] == 2
    assert {"level", "file", "line", "column", "text", "hint"} == set(answer["findings"][0])
    # The broken files leave the others alone.
    assert tenon.run("submit", "-c", "local", "main.py", cwd=dsvm).ok().code == 0


def test_check_survives_a_broken_identity_and_odd_files(tenon, dsvm):
    (dsvm / ".azureml").mkdir()
    (dsvm / ".azureml/project.json").write_text('{"Id": ')
    (dsvm / "aml_config/binary.compute").write_bytes(b"\x7fELF\0\1\2\xff")
    with open(dsvm / "aml_config/large.runconfig", "wb") as f:
        f.truncate(3 << 30)
    (dsvm / "aml_config/empty.runconfig").write_bytes(b"")
    os.mkfifo(dsvm / "aml_config/pipe.compute")
    (dsvm / "aml_config/folder.compute").mkdir()
    done = tenon.run("config", "check", cwd=dsvm)
    assert done.code == 1, repr(done)
    for name in ("project.json", "binary.compute", "large.runconfig", "empty.runconfig",
                 "pipe.compute", "folder.compute"):
        assert [line for line in done.out.splitlines() if name in line and "error:" in line], name
    assert "empty" in tenon.json("runconfiguration", "list", "--json", cwd=dsvm)
