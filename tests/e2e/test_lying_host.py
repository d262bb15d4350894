# SPDX-License-Identifier: Apache-2.0
"""A host is not to be trusted with this machine: what it names and what it sends is held to what was asked for. Each test is a row of
docs/reliability.md."""

import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest

from e2e.harness import make_project, wait_until
from e2e.journal_py import append_record, store_tree
from hosts.liar import lie_with, tell_the_truth
from hosts.ssh_runs import waiter

pytestmark = pytest.mark.planned_skip("needs root and openssh-server")

EVIL = b"type: local\nsetup: touch /tmp/planted\n"
ARTIFACTS, ANNOTATION = 6, 11
# Names that no runner records.
FOREIGN = ["aml_config/evil.compute", ".bashrc", ".git/hooks/post-checkout", "main.py", "outputs/../main.py", "../outside", "/tmp/absolute",
           "outputs", "driver_log/x", "outputs//double", "outputs/./dot", "Outputs/case"]
OUTPUTS = """
import os
os.makedirs("outputs/deep", exist_ok=True)
open("outputs/deep/model.bin", "wb").write(bytes(range(256)) * 20000)
open("outputs/small.txt", "w").write("small")
open("outputs/.hidden", "w").write("hidden")
print("done", flush=True)
"""


def over_and_unseen(far, folder):
    """Submits a run that ends while nobody looks; its folder on the host."""
    run_id = far.left_going(folder)
    far.user.write("go", "")
    wait_until(lambda: not far.runners(), 60, "the end of the run")
    [there] = [p for p in far.far_runs() if p.name == run_id]
    return there


def plant(far, there, names, data=EVIL):
    """The host's journal names `names` as outputs, and its store has them."""
    source = far.scratch / "evil"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir()
    (source / "x").write_bytes(data)
    store_tree(there.parents[1] / "objects", source)
    for path in there.parents[1].rglob("*"):
        os.chown(path, far.user.uid, far.user.gid)
    files = [{"path": name, "size": len(data), "hash": hashlib.sha256(data).hexdigest(), "mode": 0o4777} for name in names]
    append_record(there / "host.tj", ARTIFACTS, json.dumps({"files": files}).encode())


def all_files(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


# ---- names ------------------------------------------------------------------------------------------


def test_a_host_cannot_name_files_outside_of_outputs(far):
    folder = far.attached(waiter(far.user.home / "go"))
    there = over_and_unseen(far, folder)
    plant(far, there, FOREIGN + ["outputs/fine.txt"])
    before = all_files(folder)
    far.tenon.run("history", "download", "-r", "last", "-d", ".", "--overwrite", cwd=folder)
    after = all_files(folder)
    assert {name for name in after if after[name] != before.get(name)} <= {"outputs/fine.txt", "outputs/partial.txt"}, set(after) - set(before)
    assert after["outputs/fine.txt"] == EVIL and before.items() <= after.items()
    assert (folder / "outputs/fine.txt").stat().st_mode & 0o7000 == 0
    # Elsewhere the same, with the logs that we make ourselves.
    away = far.scratch / "deep/away"
    far.tenon.run("history", "download", "-r", "last", "-d", away, cwd=folder).ok()
    assert set(all_files(away)) == {"control_log", "control_log.txt", "driver_log", "driver_log.txt", "pid.txt", "outputs/fine.txt",
                                    "outputs/partial.txt"}
    assert not (far.scratch / "deep/outside").exists() and not Path("/tmp/absolute").exists()
    # They are counted and told, and no command knows them.
    told = far.tenon.run("show", "last", cwd=folder).ok().out
    assert f"{len(FOREIGN)} artifacts of a name that no runner records" in told, told
    details = json.dumps(far.details(folder)["outputs"])
    assert "fine.txt" in details and "evil" not in details and "bashrc" not in details
    for name in FOREIGN[:4]:
        assert far.tenon.run("history", "info", "-r", "last", "-a", name, cwd=folder).code == 3
        assert far.tenon.run("history", "promote", "-r", "last", "-ap", name, "-n", "x", cwd=folder).code != 0
        assert far.tenon.run("history", "download", "-r", "last", "-a", name, "-d", far.scratch / "no", cwd=folder).code == 3
    assert not (far.scratch / "no").exists()


def test_a_name_that_clashes_with_another_writes_nothing(far):
    folder = far.attached(waiter(far.user.home / "go"))
    plant(far, over_and_unseen(far, folder), ["outputs/a", "outputs/a/b"])
    away = far.scratch / "away"
    refused = far.tenon.run("history", "download", "-r", "last", "-d", away, cwd=folder)
    assert refused.code != 0 and "outputs/a/b" in refused.err and not away.exists()
    far.tenon.run("history", "download", "-r", "last", "-a", "outputs/a/b", "-d", away, cwd=folder).ok()


def test_a_run_taken_over_does_not_bring_a_target_of_the_hosts(far):
    """`runs fetch` of a run whose files on the host hold a .compute file: it is known, and cannot be restored."""
    folder = far.attached(waiter(far.user.home / "go"))
    there = over_and_unseen(far, folder)
    source = far.scratch / "their-tree"
    (source / "aml_config").mkdir(parents=True)
    (source / "aml_config/evil.compute").write_bytes(EVIL)
    (source / "main.py").write_text("print(1)\n")
    root = store_tree(there.parents[1] / "objects", source)
    spec = json.loads((there / "spec.json").read_text())
    spec["spec"]["tree"] = root
    (there / "spec.json").write_text(json.dumps(spec))
    for path in there.parents[1].rglob("*"):
        os.chown(path, far.user.uid, far.user.gid)
    with far.somebody_else(folder) as (other, copy):
        before = all_files(copy)
        fetched = other.run("runs", "fetch", "-t", "far", cwd=copy).ok()
        assert "cannot be restored here" in fetched.err and "evil.compute" in fetched.err, fetched.err
        assert other.run("restore", "last", "--force", cwd=copy).code != 0
        new = {name for name in set(all_files(copy)) - set(before) if not name.startswith("outputs/")}
        assert not new, new


def test_a_host_neither_hides_nor_names_a_run(far):
    folder = far.attached(waiter(far.user.home / "go"))
    there = over_and_unseen(far, folder)
    append_record(there / "host.tj", ANNOTATION, json.dumps({"hidden": True, "name": "theirs", "note": "theirs"}).encode())
    far.tenon.run("status", "last", cwd=folder).ok()
    [row] = far.tenon.json("runs", "--json", cwd=folder)
    assert row["run_id"] == there.name and "theirs" not in json.dumps(row), row


# ---- downloading into a project ------------------------------------------------------------------------


def test_download_into_a_project_writes_below_outputs_alone(tenon, project, tmp_path):
    folder = project(OUTPUTS)
    tenon.run("submit", "-c", "local", "main.py", cwd=folder).ok()
    before = all_files(folder)
    done = tenon.run("history", "download", "-r", "last", "-d", folder, cwd=folder).ok()
    assert set(all_files(folder)) - set(before) == {"outputs/deep/model.bin", "outputs/small.txt"}
    assert "driver_log" in done.err and ".hidden" in done.err and "--dot-files" in done.err
    assert tenon.run("history", "download", "-r", "last", "-d", folder, cwd=folder).code == 2
    tenon.run("history", "download", "-r", "last", "-d", folder, "--overwrite", "--dot-files", cwd=folder).ok()
    assert (folder / "outputs/.hidden").read_text() == "hidden"
    refused = tenon.run("history", "download", "-r", "last", "-a", "driver_log", "-d", folder, cwd=folder)
    assert refused.code == 2 and "holds a project" in refused.err and not (folder / "driver_log").exists()
    tenon.run("history", "download", "-r", "last", "-a", "driver_log", "-d", folder / "outputs", cwd=folder).ok()
    # Any other folder gets everything, as before.
    away = tmp_path / "away"
    tenon.run("history", "download", "-r", "last", "-d", away, cwd=folder).ok()
    assert (away / "driver_log.txt").read_text() == "done\n" and (away / "outputs/.hidden").exists()


def test_a_plain_folder_that_was_submitted_from_is_a_project_too(tenon, tmp_path):
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "main.py").write_text(OUTPUTS)
    tenon.run("submit", "main.py", cwd=folder).ok()
    tenon.run("history", "download", "-r", "last", "-d", ".", cwd=folder).ok()
    assert sorted(p.name for p in folder.iterdir()) == ["main.py", "outputs"]


def test_outputs_never_become_files_of_a_project_that_is_called_outputs(tenon, tmp_path):
    script = "import os\nos.makedirs('outputs/aml_config')\nopen('outputs/aml_config/evil.compute', 'w').write('type: local\\n')\n"
    folder = make_project(tmp_path / "outputs", script)
    tenon.run("submit", "-c", "local", "main.py", cwd=folder).ok()
    before = all_files(folder)
    for words in (("--overwrite",), ("-a", "outputs/aml_config/evil.compute")):
        refused = tenon.run("history", "download", "-r", "last", "-d", tmp_path, *words, cwd=folder)
        assert refused.code == 2 and "is a project" in refused.err and all_files(folder) == before, refused
    tenon.run("history", "download", "-r", "last", "-d", tmp_path, "-a", "driver_log", cwd=folder).ok()
    tenon.run("history", "download", "-r", "last", "-d", tmp_path / "away", cwd=folder).ok()
    assert (tmp_path / "away/outputs/aml_config/evil.compute").exists()


@pytest.mark.parametrize("where", ["outputs", "outputs/deep", "outputs/small.txt"])
def test_symlinks_in_the_destination_lead_no_file_out_of_it(tenon, project, tmp_path, where):
    folder = project(OUTPUTS)
    tenon.run("submit", "-c", "local", "main.py", cwd=folder).ok()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mine").write_text("mine")
    link = folder / where
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(outside / "mine" if where.endswith(".txt") else outside)
    for words in (("history", "download", "-r", "last", "-d", folder), ("history", "download", "-r", "last", "-d", folder, "--overwrite"),
                  ("experiment", "return", "-r", "last"), ("experiment", "return", "-r", "last", "--force")):
        tenon.run(*words, cwd=folder)
        assert all_files(outside) == {"mine": b"mine"}, words


def test_return_brings_dot_files_only_when_asked(tenon, project):
    folder = project(OUTPUTS)
    tenon.run("submit", "-c", "local", "main.py", cwd=folder).ok()
    done = tenon.run("experiment", "return", "-r", "last", cwd=folder).ok()
    assert "--dot-files" in done.err and not (folder / "outputs/.hidden").exists()
    tenon.run("experiment", "return", "-r", "last", "--dot-files", cwd=folder).ok()
    assert (folder / "outputs/.hidden").read_text() == "hidden"


# ---- objects ------------------------------------------------------------------------------------------


LIES = ["nothing", "unasked-large", "unasked-small", "expands", "expands-within", "other-bytes", "endless", "endless-beats"]


@pytest.mark.parametrize("how", LIES)
def test_objects_that_nobody_asked_for_are_refused(far, how):
    """An error at once, and nothing of it lies here; from a machine that tells the truth the outputs come as ever."""
    folder = far.attached(OUTPUTS + waiter(far.user.home / "go"))
    over_and_unseen(far, folder)
    lie_with(far, how)
    away = far.scratch / "away"
    before = far.tenon.json("du", "-o", "json", cwd=folder)
    refused = far.tenon.run("history", "download", "-r", "last", "-d", away, cwd=folder, timeout=100)
    assert refused.code != 0, refused
    assert not (away / "outputs/deep/model.bin").exists()
    incoming = sum(p.stat().st_size for p in far.tenon.home.glob("incoming/*"))
    assert incoming < 6 << 20, incoming
    assert not list(far.tenon.home.glob("runs/*/fetched")), "it is believed that all outputs are here"
    assert far.tenon.json("du", "-o", "json", cwd=folder)["objects"] == before["objects"]
    far.tenon.run("gc", cwd=folder).ok()
    tell_the_truth(far)
    far.tenon.run("history", "download", "-r", "last", "-d", away, "--overwrite", cwd=folder).ok()
    assert (away / "outputs/deep/model.bin").read_bytes() == bytes(range(256)) * 20000


def test_gc_clears_what_nobody_is_fetching(tenon, project):
    folder = project()
    tenon.run("submit", "-c", "local", "main.py", cwd=folder).ok()
    incoming = tenon.home / "incoming"
    incoming.mkdir()
    for name in ("0" * 64, "rubbish"):
        (incoming / name).write_bytes(bytes(1 << 20))
    assert tenon.json("gc", "-o", "json", cwd=folder)["bytes_freed"] >= 2 << 20
    assert not list(incoming.iterdir())
