# SPDX-License-Identifier: Apache-2.0
"""One bad run harms no other. Whatever lies in a run's folder, the commands on all other runs go on; the bad one is a row
that says why it can't be read, and can be deleted."""

import json
import os
import shutil
import socket
import subprocess
import uuid

import pytest

from e2e import harness
from e2e.journal_py import Journal, append_records, record_bytes, segment_header

SCRIPT = "import tenon\ntenon.log('loss', 0.5)\nprint('said by', __file__)\n"


class Homes:
    """A home with three runs that have ended: `bad`, and `good` of the same and of another project."""

    def __init__(self, tenon, folder):
        self.tenon = tenon
        self.bad_project = harness.make_project(folder / "alpha", SCRIPT)
        self.other_project = harness.make_project(folder / "beta", SCRIPT)
        for project in (self.bad_project, self.bad_project, self.other_project):
            tenon.run("submit", "-c", "local", "main.py", cwd=project).ok()
        rows = tenon.json("runs", "--all-projects", "--json")
        self.ids = {(row["run_id"].split("_")[0], row["run_number"]): row["run_id"] for row in rows}
        self.bad, self.good, self.other = self.ids["alpha", 1], self.ids["alpha", 2], self.ids["beta", 1]

    def folder(self, run_id=None):
        return self.tenon.home / "runs" / (run_id or self.bad)

    @property
    def near(self):
        return next(self.folder().glob("near-*.tj"))

    def forget(self):
        """As if the index had never been made."""
        for name in ("history.db", "history.db-wal", "history.db-shm"):
            (self.tenon.home / name).unlink(missing_ok=True)

    def cut_end(self):
        """As if the runner had been killed: the last record of its segment is gone."""
        host = self.folder() / "host.tj"
        whole = Journal(host)
        assert whole.records[-1].type == "end"
        os.truncate(host, host.stat().st_size - 28 - len(whole.records[-1].payload))


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prepared")
    tenon = harness.Tenon(harness.release_binary(), folder / "home", folder)
    yield Homes(tenon, folder)
    tenon.cleanup()


@pytest.fixture
def homes(prepared, tenon):
    """A copy of it."""
    assert not prepared.tenon.processes_left()
    shutil.copytree(prepared.tenon.home, tenon.home, symlinks=True)
    made = object.__new__(Homes)
    made.__dict__.update(prepared.__dict__)
    made.tenon = tenon
    return made


def replace_with_folder(path):
    path.unlink(missing_ok=True)
    path.mkdir()


def replace_with_fifo(path):
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def replace_with_socket(path):
    path.unlink(missing_ok=True)
    here = os.getcwd()
    os.chdir(path.parent)  # a socket's path is short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


def link_to(target):
    def replace(path):
        path.unlink(missing_ok=True)
        path.symlink_to(target)

    replace.__name__ = "link_to_" + target.strip("/").replace("/", "_")
    return replace


def write(data):
    def replace(path):
        path.write_bytes(data)

    replace.__name__ = f"write_{len(data)}_bytes"
    return replace


def wrong_header(path):
    data = bytearray(path.read_bytes())
    data[0:64] = b"x" * 64
    path.write_bytes(data)


def of_another_run(path):
    path.write_bytes(segment_header(str(uuid.uuid4()), path.stem) + record_bytes(1, "notice", {"text": "not mine"}))


def of_another_name(path):
    path.write_bytes(segment_header(str(uuid.uuid4()), "somebody") + record_bytes(1, "notice", {"text": "not mine"}))


KINDS = [replace_with_folder, replace_with_fifo, replace_with_socket, link_to("/dev/zero"), link_to("/nowhere/at/all"),
         link_to("host.tj"), write(b""), write(b"no journal at all" * 10)]
SEGMENT_KINDS = [*KINDS, wrong_header, of_another_name]


def check_others(homes):
    """Every command on the other runs works, and says about them what is true."""
    tenon = homes.tenon
    listed = {row["run_id"]: row for row in tenon.json("runs", "--all-projects", "--json")}
    assert listed[homes.good]["status"] == listed[homes.other]["status"] == "Completed"
    assert listed[homes.good]["loss"] == 0.5 and "unreadable" not in listed[homes.good]
    for words in (["runs"], ["history", "list", "-o", "table"], ["runs", "--all-projects"]):
        shown = tenon.run(*words, cwd=homes.bad_project).ok()
        assert homes.good in shown.out
    assert homes.other in tenon.run("runs", cwd=homes.other_project).ok().out
    tenon.run("ps").ok()
    tenon.json("ps", "--json")
    for run_id in (homes.good, homes.other):
        assert "Completed" in tenon.run("show", run_id).ok().out
        assert "said by" in tenon.run("logs", run_id).ok().out
        assert "state : Completed" in tenon.run("status", run_id).ok().out
        assert "loss" in tenon.run("metrics", run_id, "--csv").ok().out
        tenon.run("history", "info", "--run", run_id).ok()
    tenon.run("compare", homes.good, homes.other).ok()
    assert "it had ended already" in tenon.run("cancel", homes.good).ok().out
    tenon.run("history", "last", cwd=homes.other_project).ok()
    tenon.run("du").ok()
    tenon.run("env", "list").ok()
    assert homes.good in tenon.run("completion", "--offer", "run", cwd=homes.bad_project).ok().out
    return listed


def check_unreadable(homes, listed):
    """The bad one is a row with its reason, here and for programs, and `gc` takes nothing of the others."""
    tenon = homes.tenon
    row = listed[homes.bad]
    assert row["status"] == "Unreadable" and row["unreadable"], row
    shown = tenon.run("runs", "--all-projects").ok()
    assert "unreadable: " in shown.out and "tenon runs delete" in shown.err
    assert homes.bad in tenon.run("runs", cwd=homes.bad_project).ok().out
    told = tenon.run("cancel", homes.bad)
    assert told.code in (0, 1, 3) and told.err, repr(told)
    rebuilt = tenon.run("history", "rebuild")
    assert rebuilt.code == 1 and homes.bad in rebuilt.err and "runs delete" in rebuilt.err, repr(rebuilt)
    counts = json.loads(tenon.run("history", "rebuild", "--json").out)
    assert counts["unreadable"] == 1
    assert tenon.json("runs", "--all-projects", "--json") == list(listed.values())


def check_deleted(homes):
    tenon = homes.tenon
    tenon.run("runs", "delete", homes.bad).ok()
    assert not os.path.lexists(homes.folder())
    assert homes.bad not in tenon.run("runs", "--all-projects").ok().out
    tenon.run("history", "rebuild").ok()
    tenon.run("gc").ok()
    check_others(homes)


@pytest.mark.parametrize("damage", SEGMENT_KINDS, ids=lambda d: d.__name__)
def test_a_damaged_run_is_one_row_and_harms_no_other(homes, damage):
    """The segment that says what was submitted is not one."""
    damage(homes.near)
    homes.forget()
    os.utime(homes.folder(), (0, 0))
    check_unreadable(homes, check_others(homes))
    check_deleted(homes)


@pytest.mark.parametrize("damage", [*SEGMENT_KINDS[:6], write(b"no journal at all" * 10), wrong_header, of_another_name,
                                    of_another_run], ids=lambda d: d.__name__)
def test_a_runners_segment_that_is_none_harms_no_other_run(homes, damage):
    damage(homes.folder() / "host.tj")
    homes.forget()
    check_unreadable(homes, check_others(homes))
    check_deleted(homes)


@pytest.mark.parametrize("damage", KINDS, ids=lambda d: d.__name__)
def test_a_run_without_its_specification_gets_its_end_and_harms_no_other(homes, damage):
    """Its runner was killed, and what it was asked to do is not in its folder any more."""
    homes.cut_end()
    damage(homes.folder() / "spec.json")
    homes.forget()
    assert check_others(homes)[homes.bad]["status"] == "Failed"
    assert "said by" in homes.tenon.run("logs", homes.bad).ok().out
    homes.tenon.run("history", "rebuild").ok()
    check_deleted(homes)


@pytest.mark.parametrize("damage", KINDS, ids=lambda d: d.__name__)
def test_an_ended_run_needs_no_specification_to_be_read(homes, damage):
    damage(homes.folder() / "spec.json")
    homes.forget()
    assert check_others(homes)[homes.bad]["status"] == "Completed"
    homes.tenon.run("history", "rebuild").ok()
    check_deleted(homes)


@pytest.mark.parametrize("damage", [replace_with_fifo, replace_with_folder, link_to("/dev/zero"), wrong_header],
                         ids=lambda d: d.__name__)
def test_a_run_that_goes_bad_after_it_was_listed_harms_no_other(homes, damage):
    """The index knows it as running; its runner is killed and its segment spoilt before anybody looks."""
    tenon = homes.tenon
    sleeper = harness.make_project(tenon.scratch / "gamma", "import time\nprint('going', flush=True)\ntime.sleep(600)\n")
    watch = tenon.start("submit", "-c", "local", "main.py", cwd=sleeper)
    watch.wait_for("going")
    homes.bad, homes.bad_project = tenon.json("ps", "--json")[0]["run_id"], sleeper
    watch.kill()
    host = homes.folder() / "host.tj"
    record = Journal(host)
    for kind in ("runner", "script"):
        os.kill(record.of(kind)[0].json["process"]["pid"], 9)
    harness.wait_unlocked(host)
    damage(host)
    listed = {row["run_id"]: row for row in tenon.json("runs", "--all-projects", "--json")}
    assert listed[homes.bad]["status"] == "Unreadable" and listed[homes.bad]["run_number"] == 1
    assert listed[homes.good]["status"] == listed[homes.other]["status"] == "Completed"
    assert homes.bad in tenon.run("ps").ok().out
    assert "said by" in tenon.run("logs", homes.good).ok().out
    assert "unreadable: " in tenon.run("show", homes.bad).ok().out
    told = tenon.run("cancel", homes.bad)
    assert told.code == 1 and homes.bad in told.err, repr(told)
    tenon.run("runs", "delete", homes.bad).ok()
    tenon.run("history", "rebuild").ok()


@pytest.mark.parametrize("damage", [replace_with_fifo, replace_with_folder, link_to("/dev/zero"), write(b"x" * 1000)],
                         ids=lambda d: d.__name__)
@pytest.mark.parametrize("name", ["script.tj", "near-somebody.tj", "cancel.json", "fetched", "retried"])
def test_a_strange_file_among_those_of_a_run_hangs_nothing(homes, damage, name):
    damage(homes.folder() / name)
    homes.forget()
    check_others(homes)
    homes.tenon.run("logs", homes.bad, timeout=60)
    homes.tenon.run("show", homes.bad, timeout=60)
    check_deleted(homes)


@pytest.mark.parametrize("damage", [replace_with_fifo, replace_with_socket, link_to("/nowhere/at/all"), write(b"a file")],
                         ids=lambda d: d.__name__)
def test_something_else_in_place_of_a_runs_folder_is_one_row(homes, damage):
    shutil.rmtree(homes.folder())
    damage(homes.folder())
    os.utime(homes.folder(), (0, 0), follow_symlinks=False)
    homes.forget()
    check_unreadable(homes, check_others(homes))
    check_deleted(homes)


def test_a_folder_in_which_nothing_was_ever_written_is_no_run(homes):
    """A submit that was killed at its very beginning leaves one."""
    empty = homes.tenon.home / "runs" / "alpha_1600000000001"
    empty.mkdir()
    (empty / "near-somebody.tj").touch()
    os.utime(empty, (0, 0))
    homes.forget()
    assert set(check_others(homes)) == {homes.bad, homes.good, homes.other}
    homes.tenon.run("history", "rebuild").ok()


def test_a_runs_folder_that_was_moved_and_linked_is_read(homes, tmp_path):
    moved = tmp_path / "moved"
    homes.folder().rename(moved)
    homes.folder().symlink_to(moved)
    homes.forget()
    assert check_others(homes)[homes.bad]["status"] == "Completed"
    check_deleted(homes)
    assert (moved / "host.tj").exists(), "what a link leads to is not ours to delete"


def test_folders_that_are_no_runs_are_no_rows(homes):
    runs = homes.tenon.home / "runs"
    for i in range(2000):
        (runs / f"junk {i}").mkdir()
    (runs / "a file").write_text("x")
    (runs / "notes").mkdir()
    (runs / "notes" / "readme.txt").write_text("not a run")
    os.utime(runs / "notes", (0, 0))
    (runs / ".hidden").mkdir()
    (runs / "new\nline\x1b[31m").mkdir()
    homes.forget()
    assert set(check_others(homes)) == {homes.bad, homes.good, homes.other}
    homes.tenon.run("history", "rebuild").ok()
    homes.tenon.run("gc").ok()
    assert (runs / "junk 7").is_dir()


def test_more_segments_than_any_run_has(homes):
    key = Journal(homes.folder() / "host.tj").run_key
    for i in range(1100):
        name = f"near-client{i:04}"
        (homes.folder() / f"{name}.tj").write_bytes(segment_header(key, name))
    homes.forget()
    check_unreadable(homes, check_others(homes))
    check_deleted(homes)


def test_gc_keeps_every_object_while_a_run_cannot_be_read(homes):
    """Its outputs may be all that is left of it."""
    tenon = homes.tenon
    kept = homes.near.read_bytes()
    wrong_header(homes.near)
    homes.forget()
    said = tenon.run("gc").ok()
    assert "no object is removed" in said.err, repr(said)
    homes.near.write_bytes(kept)
    assert "no object is removed" not in tenon.run("gc").ok().err
    tenon.run("restore", homes.bad, tenon.scratch / "restored").ok()
    assert (tenon.scratch / "restored" / "main.py").read_text() == SCRIPT


def test_a_run_that_was_mended_is_listed_again(homes):
    kept = homes.near.read_bytes()
    wrong_header(homes.near)
    homes.forget()
    assert check_others(homes)[homes.bad]["unreadable"]
    homes.near.write_bytes(kept)
    row = check_others(homes)[homes.bad]
    assert row["status"] == "Completed" and row["run_number"] == 1
    homes.tenon.run("history", "rebuild").ok()


def test_a_bad_run_that_goes_on_can_be_canceled(tenon, project):
    """Its client's record is damaged while its script runs."""
    folder = project("import time\nprint('going', flush=True)\ntime.sleep(600)\n")
    watch = tenon.start("submit", "-c", "local", "main.py", cwd=folder)
    watch.wait_for("going")
    run_id = tenon.json("ps", "--json")[0]["run_id"]
    watch.kill()
    wrong_header(next((tenon.home / "runs" / run_id).glob("near-*.tj")))
    for name in ("history.db", "history.db-wal", "history.db-shm"):
        (tenon.home / name).unlink(missing_ok=True)
    assert tenon.json("ps", "--json")[0]["unreadable"]
    refused = tenon.run("runs", "delete", run_id)
    assert refused.code == 2 and "still writes" in refused.err, repr(refused)
    told = tenon.run("cancel", run_id)
    assert told.code == 1 and "was told to end" in told.err, repr(told)
    assert not tenon.processes_left()
    tenon.run("runs", "delete", run_id).ok()


@pytest.mark.planned_skip("needs root to become another user")
def test_a_run_that_may_not_be_read_is_one_row(homes, tmp_path):
    """The same for a user to whom permissions mean something."""
    if os.geteuid() != 0:
        pytest.skip("not root")
    uid = 64322
    tmp_path.chmod(0o755)
    for parent in tmp_path.parents:
        if parent.stat().st_uid == 0 and parent != parent.parent:
            parent.chmod(parent.stat().st_mode | 0o111)
    harness_home = homes.tenon.home
    for path in [harness_home, *harness.all_below(harness_home)]:
        os.lchown(path, uid, uid)
    homes.forget()
    prefix = ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--"]
    program = tmp_path / "tenon"
    shutil.copy(homes.tenon.binary, program)
    program.chmod(0o755)
    homes.tenon.binary = program
    for locked in (homes.near, homes.folder() / "host.tj", homes.folder()):
        mode = locked.stat().st_mode
        locked.chmod(0)
        homes.forget()
        rows = {r["run_id"]: r for r in homes.tenon.json("runs", "--all-projects", "--json", prefix=prefix)}
        assert rows[homes.good]["status"] == "Completed"
        assert "ermission denied" in rows[homes.bad]["unreadable"], rows[homes.bad]
        assert homes.tenon.run("history", "rebuild", prefix=prefix).code == 1
        assert homes.tenon.run("logs", homes.good, prefix=prefix).ok().out
        locked.chmod(mode)
        rows = {r["run_id"]: r for r in homes.tenon.json("runs", "--all-projects", "--json", prefix=prefix)}
        assert rows[homes.bad]["status"] == "Completed"


def test_a_segment_that_is_cut_while_the_script_runs_still_gets_the_true_end(tenon, project, tmp_path):
    go = tmp_path / "go"
    folder = project(f"import os, time\nprint('before', flush=True)\nwhile not os.path.exists({str(go)!r}):\n"
                     "    time.sleep(0.01)\nprint('after', flush=True)\n")
    watch = tenon.start("submit", "-c", "local", "main.py", cwd=folder)
    watch.wait_for("before")
    run_id = tenon.json("ps", "--json")[0]["run_id"]
    host = tenon.home / "runs" / run_id / "host.tj"
    size = host.stat().st_size
    os.truncate(host, 0)
    tenon.run("ps").ok()
    tenon.run("runs", cwd=folder).ok()
    go.touch()
    assert watch.wait().code == 0
    row = tenon.json("runs", "--json", cwd=folder)[0]
    assert row["status"] == "Completed"
    assert "after" in tenon.run("logs", run_id).ok().out
    assert tenon.json("show", run_id, "--json")["details"]["damaged_bytes"] >= size - 64
    tenon.run("history", "rebuild").ok()
    assert tenon.json("runs", "--json", cwd=folder)[0] == row


def test_records_that_cannot_be_understood_are_told_and_harm_nothing(homes):
    append_records(homes.folder() / "host.tj",
                   [("end", b"{"), ("artifacts", b"\x28\xb5\x2f\xfd junk"), ("metrics", b"\1junk"), (200, b"?"),
                    ("notice", {"text": "the last one"})])
    homes.forget()
    assert check_others(homes)[homes.bad]["status"] == "Completed"
    assert "the last one" in homes.tenon.run("show", homes.bad).ok().out


def test_a_record_that_cannot_be_understood_costs_itself_alone(homes, tmp_path):
    """What the script printed before and after it, and all outputs, can be had."""
    tenon = homes.tenon
    host = homes.folder() / "host.tj"
    records = [(r.type, r.payload) for r in Journal(host).records]
    bad = [("notice", b"no JSON at all"), ("output", b"\1after it\n"), ("step", b"[1, 2]"), ("output", b"\1and after that\n")]
    made = segment_header(Journal(host).run_key, "host")
    for number, (kind, payload) in enumerate([*records[:-1], *bad, records[-1]], 1):
        made += record_bytes(number, kind, payload)
    host.write_bytes(made)
    homes.forget()
    near = Journal(homes.near)
    homes.near.write_bytes(segment_header(near.run_key, homes.near.stem) + record_bytes(1, "submitted", b"nor this") + b"".join(
        record_bytes(number, r.type, r.payload) for number, r in enumerate(near.records, 2)))
    check_others(homes)
    for words in (["logs", homes.bad], ["logs", homes.bad, "--raw", "stdout"], ["history", "info", "-r", homes.bad, "-a", "driver_log"]):
        said = tenon.run(*words).ok()
        assert said.out.endswith("after it\nand after that\n"), repr(said)
    assert "cannot be understood" in tenon.run("logs", homes.bad).ok().err
    tenon.run("history", "download", "-r", homes.bad, "-d", tmp_path / "down").ok()
    assert (tmp_path / "down" / "driver_log").read_text().endswith("and after that\n")


def test_a_folder_with_the_record_of_another_run_does_not_pass_for_it(homes):
    """A copy that somebody made by hand: what is done to one must not be done to the other."""
    tenon = homes.tenon
    copy = homes.folder(homes.good + ".copy")
    shutil.copytree(homes.folder(homes.good), copy, symlinks=True)
    homes.forget()
    listed = tenon.json("runs", "--all-projects", "--json")
    rows = {row["run_id"]: row for row in listed}
    assert len(rows) == len(listed) == 4, listed
    assert rows[copy.name]["status"] == "Unreadable" and homes.good in rows[copy.name]["unreadable"]
    assert rows[homes.good]["status"] == "Completed" and "unreadable" not in rows[homes.good]
    tenon.run("runs", "delete", copy.name).ok()
    assert not copy.exists()
    assert "said by" in tenon.run("logs", homes.good).ok().out
    check_others(homes)
    tenon.run("history", "rebuild").ok()


def test_a_run_id_that_breaks_its_line_is_none(homes):
    tenon = homes.tenon
    name = "alpha\nForged: line\x1b[31m_1600000000000"
    shutil.copytree(homes.folder(homes.good), homes.folder(name), symlinks=True)
    near = next(homes.folder(name).glob("near-*.tj"))
    records = Journal(near)
    said = records.records[0].json
    said["spec"]["id"] = name
    near.write_bytes(segment_header(records.run_key, near.stem) + record_bytes(1, "submitted", said))
    homes.forget()
    assert set(check_others(homes)) == {homes.bad, homes.good, homes.other}
    for words in (["runs", "--all-projects"], ["completion", "--offer", "run"], ["history", "rebuild"], ["gc"]):
        said = tenon.run(*words).ok()
        assert "Forged" not in said.out + said.err, repr(said)


@pytest.mark.parametrize("damage", KINDS, ids=lambda d: d.__name__)
def test_a_damaged_record_of_a_machine_keeps_nobody_from_the_others(homes, damage):
    tenon = homes.tenon
    hosts = tenon.home / "hosts"
    hosts.mkdir(exist_ok=True)
    good = {"id": "1" * 32, "target": "fine", "project_root": str(homes.other_project), "type": "remote", "address": "127.0.0.1",
            "port": 1, "user": "nobody"}
    (hosts / f"{'1' * 32}.json").write_text(json.dumps(good))
    damage(hosts / f"{'2' * 32}.json")
    listed = tenon.run("host", "list", "--json").ok()
    assert [host["target"] for host in listed.json()] == ["fine"]
    assert "2" * 32 in listed.err and "delete" in listed.err
    assert "the host key of fine (127.0.0.1)" in tenon.run("host", "show", "fine").err, "it is found, and was never looked at"
    check_others(homes)


@pytest.mark.parametrize("damage", KINDS, ids=lambda d: d.__name__)
def test_a_damaged_record_of_an_asset_keeps_nobody_from_the_others(homes, damage):
    tenon = homes.tenon
    for name in ("good", "bad"):
        tenon.run("history", "promote", "-r", homes.other, "-ap", "driver_log", "-n", name, cwd=homes.other_project).ok()
    [record] = (tenon.home / "assets").glob("*/bad/*.json")
    damage(record)
    listed = tenon.run("asset", "list", "--json", cwd=homes.other_project).ok()
    assert [asset["name"] for asset in listed.json()] == ["good"]
    assert str(record) in listed.err and "delete" in listed.err
    tenon.run("asset", "download", "-l", homes.other_project / "assets" / "good.link", "-d", tenon.scratch / "got",
              cwd=homes.other_project).ok()
    assert "said by" in (tenon.scratch / "got" / "good").read_text()
    tenon.run("du").ok()
    refused = tenon.run("gc")
    assert refused.code != 0 and str(record) in refused.err, repr(refused)
    record.rmdir() if record.is_dir() and not record.is_symlink() else record.unlink()
    tenon.run("gc").ok()


@pytest.mark.parametrize("damage", KINDS, ids=lambda d: d.__name__)
@pytest.mark.parametrize("name", ["stat-cache", "numbers", "client-id"])
def test_a_strange_file_among_those_of_the_home_hangs_nothing(homes, damage, name):
    tenon = homes.tenon
    place = tenon.home / name
    for path in sorted(place.iterdir()) if place.is_dir() else [place]:
        damage(path)
    check_others(homes)
    tenon.run("snapshot", cwd=homes.other_project).ok()
    told = tenon.run("submit", "-c", "local", "main.py", cwd=homes.other_project)
    if name == "stat-cache":
        told.ok()
    elif told.code != 0:
        assert told.code == 125 and str(place) in told.err, repr(told)
    if name == "client-id" and told.code != 0:
        assert "remove what lies there" in told.err
        place.rmdir() if place.is_dir() and not place.is_symlink() else place.unlink()
        tenon.run("submit", "-c", "local", "main.py", cwd=homes.other_project).ok()


@pytest.mark.parametrize("command", [("gc", "--keep-work", "0s"), ("experiment", "clean", "-t", "local", "--yes")], ids=["gc", "clean"])
def test_a_work_folder_that_cannot_be_removed_keeps_nobody_from_the_rest(tenon, project, command):
    """A file system that a script has mounted in it."""
    folder = project("raise SystemExit(3)\n")
    for _ in range(2):
        assert tenon.run("submit", "-c", "local", "main.py", cwd=folder).code == 3
    first, second = sorted((tenon.home / "runs").iterdir())
    inside = (first / "work").resolve() / "inside"
    inside.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "none", inside], capture_output=True, check=False).returncode != 0:
        pytest.skip("nothing can be mounted here")
    try:
        done = tenon.run(*command, cwd=folder).ok()
        assert first.name in done.err and "is kept: remove " in done.err, repr(done)
        assert "1 run directory" in done.out, repr(done)
        assert not (second / "work").exists()
    finally:
        subprocess.run(["umount", inside], check=True)
    assert "1 run directory" in tenon.run(*command, cwd=folder).ok().out
    assert not (first / "work").exists()
