# SPDX-License-Identifier: Apache-2.0
"""What 0.1.0 has left behind goes on working: its home, saved by save_home.py. And, where a `tenon` of 0.1.0 is at
hand (TENON_OLD), the two side by side on one home and on one machine's live run."""

import json
import os
import tarfile
from pathlib import Path

import pytest

from e2e import harness
from e2e.harness import make_project, wait_until
from hosts.ssh_runs import waiter

SAVED = harness.ROOT / "tests/data/home-0.1.0"
SAID = json.loads((SAVED / "said.json").read_text())
ENDED = sorted(SAID["show"])
OLD = os.environ.get("TENON_OLD", "")


@pytest.fixture
def old_home(tenon):
    """The saved home, in the place of ours."""
    with tarfile.open(SAVED / "home.tar.gz") as archive:
        archive.extractall(tenon.home.parent / "unpacked")
    (tenon.home.parent / "unpacked/home").rename(tenon.home)
    return tenon


def as_said(new, old, path=""):
    """Every member that 0.1.0 printed is printed still, and says the same. New ones may stand beside it."""
    if isinstance(old, dict):
        assert isinstance(new, dict), path
        for key, value in old.items():
            assert key in new, f"{path}.{key} is gone"
            as_said(new[key], value, f"{path}.{key}")
    elif isinstance(old, list):
        assert isinstance(new, list) and len(new) == len(old), path
        for i, (one, other) in enumerate(zip(new, old)):
            as_said(one, other, f"{path}[{i}]")
    else:
        assert new == old, f"{path}: {new!r} was {old!r}"


def by_id(runs):
    return {run["run_id"]: run for run in runs}


def test_runs_of_the_first_release_are_listed_as_they_were(old_home):
    listed = by_id(old_home.json("runs", "-o", "json"))
    as_said(listed, by_id(SAID["runs"]))
    # One more was started after that was said, and killed.
    assert set(listed) == {*by_id(SAID["runs"]), SAID["named"]["killed"]}


@pytest.mark.parametrize("name", ENDED)
def test_a_run_of_the_first_release_is_shown_as_it_was(old_home, name):
    run_id = SAID["named"][name]
    as_said(old_home.json("show", run_id, "-o", "json"), SAID["show"][name])
    as_said(old_home.json("metrics", run_id, "-o", "json"), SAID["metrics"][name])
    assert old_home.run("logs", run_id).ok().out == SAID["logs"][name]


def test_the_index_made_anew_says_the_same(old_home):
    before = old_home.json("runs", "-o", "json")
    old_home.run("history", "rebuild").ok()
    assert old_home.json("runs", "-o", "json") == before


@pytest.mark.parametrize("name", ["done", "boxed", "away"])
def test_outputs_and_files_of_the_first_release_come_back(old_home, tmp_path, name):
    run_id = SAID["named"][name]
    old_home.run("history", "download", "-r", run_id, "-d", tmp_path / "got").ok()
    assert [p.read_text() for p in (tmp_path / "got").rglob("model.txt")] == ["weights"]
    old_home.run("restore", run_id, tmp_path / "then").ok()
    assert any("learned" in p.read_text() for p in (tmp_path / "then").glob("*.py"))


def test_a_run_that_the_first_release_left_without_an_end_gets_one(old_home):
    run_id = SAID["named"]["killed"]
    restarted = {"TENON_TEST_BOOT_ID": "a2b2c2d2-0000-4000-8000-000000000000"}
    old_home.run("status", run_id, "-o", "json", env=restarted).ok()
    shown = old_home.json("show", run_id, "-o", "json")
    assert shown["status"] == "Failed", shown
    assert "the machine was restarted" in json.dumps(shown["details"])
    assert "begin" in old_home.run("logs", run_id).ok().out


def test_a_new_run_beside_those_of_the_first_release(old_home, tmp_path):
    folder = make_project(tmp_path / "here", "print('new')\n")
    old_home.run("submit", "-c", "local", "main.py", cwd=folder).ok()
    listed = old_home.json("runs", "-o", "json")
    assert len(listed) == len(SAID["runs"]) + 2


# ---- Side by side

needs_old = pytest.mark.planned_skip("needs a tenon of 0.1.0, which TENON_OLD names")


@pytest.fixture
def both(tenon):
    """(0.1.0, ours) on one home."""
    if not OLD:
        pytest.skip("TENON_OLD is not set")
    old = harness.Tenon(harness.for_everybody(Path(OLD)), tenon.home, tenon.scratch)
    yield old, tenon
    assert not old.cleanup()


def listed_by(tenon):
    """{id: state}; None where this release refuses in words."""
    answer = tenon.run("runs", "-o", "json")
    if answer.code == 0:
        return {run["run_id"]: run["status"] for run in answer.json()}
    assert answer.err.startswith("error: ") and "newer" in answer.err, answer
    return None


@needs_old
def test_two_releases_take_turns_on_one_home(both, tmp_path):
    old, new = both
    folder = make_project(tmp_path / "here", "print('hello')\n")
    made = 0
    for _ in range(3):
        for tenon in both:
            tenon.run("submit", "-c", "local", "main.py", cwd=folder).ok()
            made += 1
            assert len(listed_by(new)) == made
            seen = listed_by(old)
            assert seen is None or len(seen) == made
    numbers = [run["run_number"] for run in new.json("runs", "-o", "json")]
    assert sorted(numbers) == list(range(1, made + 1))
    assert set(listed_by(new).values()) == {"Completed"}


@needs_old
@pytest.mark.parametrize("starts", ["old", "new"])
def test_a_live_run_of_one_release_is_followed_and_canceled_by_the_other(both, tmp_path, starts):
    old, new = both
    first, second = (old, new) if starts == "old" else (new, old)
    folder = make_project(tmp_path / "here", waiter(tmp_path / "never"))
    watched = first.start("submit", "-c", "local", "main.py", cwd=folder)
    watched.wait_for("begin")
    run_id = new.json("history", "last", "-o", "json", cwd=folder)["run_id"]
    canceled = second.run("cancel", run_id, cwd=folder)
    assert canceled.code == 0 or "newer" in canceled.err, canceled
    if canceled.code != 0:
        new.run("cancel", run_id, cwd=folder).ok()
    watched.wait()
    wait_until(lambda: listed_by(new)[run_id] == "Canceled", 20, "the end")


@needs_old
@pytest.mark.planned_skip("needs root and openssh-server")
@pytest.mark.parametrize("starts", ["old", "new"])
def test_a_live_run_on_a_machine_is_looked_after_by_the_other_release(both, far, starts):
    old_binary, _ = both[0].binary, both[1]
    first, second = far.tenon, far.another_client()
    (first if starts == "old" else second).binary = old_binary
    folder = far.project(waiter(far.user.home / "go"))
    far.attach(folder, tenon=first).ok()
    watched = far.start(folder, tenon=first)
    watched.wait_for("begin")
    run_id = far.last(folder, tenon=first)["run_id"]
    copy = second.scratch / folder.name
    harness.shutil.copytree(folder, copy)
    far.attach(copy, "--force", tenon=second).ok()
    second.run("runs", "fetch", run_id, "-t", "far", cwd=copy).ok()
    assert "begin" in second.run("logs", run_id, cwd=copy).ok().out
    (far.user.home / "go").touch()
    watched.wait()
    wait_until(lambda: second.run("status", run_id, cwd=copy).out.count("Completed"), 20, "the end")
    assert "end" in second.run("logs", run_id, cwd=copy).ok().out
    assert not second.cleanup()
