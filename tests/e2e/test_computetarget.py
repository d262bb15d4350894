# SPDX-License-Identifier: Apache-2.0
"""Targets and run configurations: attach, list, show, update, detach; create, list, delete."""

import re

import pytest

REMOTE_DOCKER = (
    "address: my_dsvm_ip_address.example.net\n"
    "baseDockerImage: ubuntu:22.04\n"
    "nativeSharedDirectory: ~/.azureml/share/\n"
    "password: AzureMlSecret=my_dsvm#my_name#ID\n"
    "sharedVolumes: true\n"
    "type: remotedocker\n"
    "userManagedEnvironment: false\n"
    "username: my_name\n"
)
RUNCONFIG = (
    "ArgumentVector:\n"
    "- $file\n"
    "CondaDependenciesFile: aml_config/conda_dependencies.yml\n"
    "EnvironmentVariables: null\n"
    "Framework: PySpark\n"
    "PrepareEnvironment: true\n"
    "SparkDependenciesFile: aml_config/spark_dependencies.yml\n"
    "Target: my_dsvm\n"
    "TrackedRun: true\n"
    "UseSampling: true\n"
)
MACHINE = ["--name", "my_dsvm", "--address", "my_dsvm_ip_address.example.net", "--username", "my_name",
           "--password", "my_password", "--no-check"]
SHORT = ["-n", "my_dsvm", "-a", "my_dsvm_ip_address.example.net", "-u", "my_name", "-w", "my_password", "--no-check"]


def read(path):
    """With the id of the machine, which is a new one each time, as ID."""
    return re.sub(r"#[0-9a-f]{32}\b", "#ID", path.read_text())


@pytest.fixture
def folder(project):
    return project("print(1)\n")


@pytest.mark.parametrize("words", [
    ["computetarget", "attach", *MACHINE, "--type", "remotedocker"],
    ["computetarget", "attach", "remotedocker", *MACHINE],
    ["computetarget", "attach", "remotedocker", *SHORT],
    ["computetarget", "attach", *SHORT, "-t", "remotedocker"],
    ["computetarget", "attach", *SHORT],
    ["computecontext", "attach", *MACHINE],
])
def test_attach_in_every_grammar_writes_the_same_two_files(tenon, folder, words):
    done = tenon.run(*words, cwd=folder).ok()
    assert done.out == "wrote aml_config/my_dsvm.compute\nwrote aml_config/my_dsvm.runconfig\n"
    assert read(folder / "aml_config/my_dsvm.compute") == REMOTE_DOCKER
    assert (folder / "aml_config/my_dsvm.runconfig").read_text() == RUNCONFIG
    assert "the password is stored: encrypted" in done.err
    assert "warning: a secret on the command line" in done.err
    assert "my_password" not in done.out + done.err
    for path in [*folder.rglob("*"), *tenon.home.rglob("*")]:
        assert path.is_dir() or b"my_password" not in path.read_bytes(), path


def test_the_mid_2017_flag_means_a_cluster(tenon, folder):
    tenon.run("computecontext", "attach", "--cluster", "-n", "hdi", "-a", "h-ssh.example.net", "-u",
              "sshuser", "--no-check", cwd=folder).ok()
    assert read(folder / "aml_config/hdi.compute") == (
        "address: h-ssh.example.net\npassword: AzureMlSecret=hdi#sshuser#ID\ntype: cluster\n"
        "userManagedEnvironment: false\nusername: sshuser\nyarnDeployMode: cluster\n")


def test_key_options_are_understood(tenon, folder):
    (folder / "id_rsa").write_text("key")
    done = tenon.run("computetarget", "attach", "remote", "-n", "r", "-a", "h", "-u", "me",
                     "--private-key-file", "id_rsa", "--private-key-passphrase", "open sesame", "--no-check",
                     cwd=folder).ok()
    assert "the passphrase is stored: encrypted" in done.err
    assert "open sesame" not in done.err + (folder / "aml_config/r.compute").read_text()
    done = tenon.run("computetarget", "attach", "remote", "-n", "k", "-a", "h", "-u", "me", "-k", "--no-check",
                     cwd=folder).ok()
    assert done.out.startswith("ssh-ed25519 ") and "authorized_keys" in done.err


def test_files_that_are_there_are_not_overwritten(tenon, folder):
    (folder / "aml_config/vm.runconfig").write_text("Target: local # mine\n")
    done = tenon.run("computetarget", "attach", "docker", "-n", "vm", cwd=folder)
    assert done.code == 2 and "there is such a file already" in done.err, repr(done)
    assert not (folder / "aml_config/vm.compute").exists()
    assert (folder / "aml_config/vm.runconfig").read_text() == "Target: local # mine\n"
    tenon.run("computetarget", "attach", "docker", "-n", "vm", "--force", cwd=folder).ok()
    assert "Target: vm\n" in (folder / "aml_config/vm.runconfig").read_text()


@pytest.mark.parametrize("words, text", [
    (["remotdocker", "-n", "x", "-a", "h", "-u", "u"], "did you mean remotedocker?"),
    (["remotedocker", "-n", "x", "-u", "u"], "needs the machine's address"),
    (["local", "-n", "../x"], "cannot be the name of a target"),
    (["local", "--type", "cluster", "-n", "x"], "two types are named"),
])
def test_bad_words_write_nothing(tenon, folder, words, text):
    done = tenon.run("computetarget", "attach", *words, cwd=folder)
    assert done.code == 2 and text in done.err, repr(done)
    assert sorted(p.name for p in (folder / "aml_config").iterdir()) == ["local.compute", "local.runconfig"]


def test_an_attached_local_target_runs(tenon, folder):
    tenon.run("computetarget", "attach", "local", "-n", "mine", "--python", "python3", cwd=folder).ok()
    tenon.run("submit", "-c", "mine", "main.py", cwd=folder).ok()


def test_attach_works_in_a_bare_folder_and_from_elsewhere(tenon, tmp_path):
    folder = tmp_path / "bare"
    folder.mkdir()
    tenon.run("computetarget", "attach", "docker", "-n", "docker", "--project", folder,
              cwd=tmp_path).ok()
    assert (folder / "aml_config/docker.compute").read_text() == (
        "baseDockerImage: ubuntu:22.04\nnativeSharedDirectory: ~/.azureml/share/\nsharedVolumes: true\n"
        "type: localdocker\nuserManagedEnvironment: false\n")
    answer = tenon.json("computetarget", "list", "-o", "json", "--project", folder, cwd=tmp_path)
    assert answer == ["docker", "local"]


def test_list_show_and_update(tenon, folder):
    tenon.run("computetarget", "attach", "remotedocker", *SHORT, cwd=folder).ok()
    assert tenon.json("computetarget", "list", "-o", "json", cwd=folder) == ["docker", "local", "my_dsvm"]
    done = tenon.run("computetarget", "update", "my_dsvm", "--nvidiaDocker", "true", "--address",
                     "203.0.113.8", cwd=folder).ok()
    assert "aml_config/my_dsvm.compute:9: nvidiaDocker: not set → true\n" in done.out
    assert read(folder / "aml_config/my_dsvm.compute") == REMOTE_DOCKER.replace(
        "my_dsvm_ip_address.example.net", "203.0.113.8") + "nvidiaDocker: true\n"
    refused = tenon.run("computetarget", "update", "my_dsvm", "--username", "x", "--sharedVolumes",
                        "perhaps", cwd=folder)
    assert refused.code == 2
    assert "username: my_name\n" in (folder / "aml_config/my_dsvm.compute").read_text()
    shown = tenon.json("computetarget", "show", "my_dsvm", "--json", cwd=folder)
    assert shown["settings"]["nvidiaDocker"] is True
    assert shown["settings"]["address"] == "203.0.113.8"
    assert shown["run_configurations"] == ["my_dsvm"]
    assert tenon.run("computetarget", "show", "my_dsm", cwd=folder).code == 3


def test_show_never_shows_a_password(tenon, folder):
    (folder / "aml_config/vm.compute").write_text("type: remotedocker\naddress: h\npassword: hunter2\n")
    for words in (["show", "vm"], ["show", "vm", "--json"], ["list"]):
        done = tenon.run("computetarget", *words, cwd=folder).ok()
        assert "hunter2" not in done.out + done.err


def test_detach_asks_and_removes_the_two_files(tenon, folder):
    tenon.run("computetarget", "attach", "docker", "-n", "vm", cwd=folder).ok()
    tenon.run("runconfiguration", "create", "-n", "other", "-t", "vm", cwd=folder).ok()
    refused = tenon.run("computetarget", "detach", "vm", cwd=folder)
    assert refused.code == 2 and "--yes" in refused.err, repr(refused)
    said_no = tenon.pty("computetarget", "detach", "vm", cwd=folder, keys=b"n\n", when="[y/N]")
    assert said_no.code == 1
    assert (folder / "aml_config/vm.compute").exists()
    said_yes = tenon.pty("computetarget", "detach", "vm", cwd=folder, keys=b"y\n", when="[y/N]")
    assert said_yes.code == 0, repr(said_yes)
    assert "other" in said_yes.out
    assert not (folder / "aml_config/vm.compute").exists()
    assert not (folder / "aml_config/vm.runconfig").exists()
    assert (folder / "aml_config/other.runconfig").exists()
    assert tenon.run("computetarget", "detach", "docker", "--yes", cwd=folder).code == 3


def test_detach_leaves_a_run_configuration_that_uses_another_target(tenon, folder):
    tenon.run("computetarget", "attach", "docker", "-n", "vm", cwd=folder).ok()
    tenon.run("config", "set", "Target", "local", "-c", "vm", cwd=folder).ok()
    tenon.run("computetarget", "detach", "vm", "--yes", cwd=folder).ok()
    assert (folder / "aml_config/vm.runconfig").exists()


@pytest.mark.parametrize("group", ["runconfiguration", "runconfigurations"])
def test_what_the_client_of_2018_expects(tenon, folder, group):
    made = tenon.json(group, "create", "-n", "R", "-t", "local", "-o", "json", cwd=folder)
    assert made == {"name": "R", "target": "local", "file": "aml_config/R.runconfig"}
    assert (folder / "aml_config/R.runconfig").exists()
    assert tenon.json(group, "list", "-o", "json", cwd=folder) == ["R", "local"]
    gone = tenon.json(group, "delete", "-n", "R", "-o", "json", cwd=folder)
    assert gone["deleted"] is True
    assert not (folder / "aml_config/R.runconfig").exists()
    assert tenon.run(group, "delete", "-n", "R", cwd=folder).code == 3
    assert tenon.run(group, "create", "-n", "R", "-t", "nowhere", cwd=folder).code == 3


def test_a_created_run_configuration_runs(tenon, folder):
    tenon.run("runconfiguration", "create", "-n", "mine", "-t", "local", cwd=folder).ok()
    tenon.run("submit", "-c", "mine", "main.py", cwd=folder).ok()
