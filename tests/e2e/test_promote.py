# SPDX-License-Identifier: Apache-2.0
"""Assets: what is promoted survives its run, and comes back where scripts look for it."""

import json
import os
import random
import shutil

import pytest

SCRIPT = """\
import os, random
os.makedirs("outputs/saved/variables")
open("outputs/model.pkl", "wb").write(random.Random(7).randbytes(2_000_000))
open("outputs/unused", "wb").write(os.urandom(2_000_000))
open("outputs/saved/graph.pb", "w").write("graph")
open("outputs/saved/variables/data", "w").write("v" * 1000)
open("outputs/run.sh", "w").write("#!/bin/sh\\n")
os.chmod("outputs/run.sh", 0o755)
os.symlink("model.pkl", "outputs/latest")
os.symlink("/etc/passwd", "outputs/away")
print("done")
"""
MODEL = random.Random(7).randbytes(2_000_000)


@pytest.fixture
def ran(tenon, project):
    folder = project(SCRIPT)
    run = tenon.run("submit", "-q", "main.py", cwd=folder).ok().out.strip()
    return folder, run


def promote(tenon, folder, run, path, name, **options):
    return tenon.run("history", "promote", "-r", run, "-ap", path, "-n", name, cwd=folder, **options)


def tree(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_link_file_is_written_as_workbench_wrote_it(tenon, ran):
    folder, run = ran
    done = promote(tenon, folder, run, "outputs/model.pkl", "model.pkl").ok()
    assert done.out == "assets/model.pkl.link\n"
    assert (folder / "assets/model.pkl.link").read_bytes() == \
        b'{"assetSource":"azureml","name":"model.pkl","version":"1"}'


def test_same_name_again_is_the_next_version(tenon, ran):
    folder, run = ran
    for version in ("1", "2", "3"):
        made = json.loads(promote(tenon, folder, run, "./outputs/model.pkl", "m").ok() and
                          (folder / "assets/m.link").read_text())
        assert made["version"] == version
    # Another project's name of the same kind counts for itself; so does one of another name.
    promote(tenon, folder, run, "outputs/run.sh", "other").ok()
    assert json.loads((folder / "assets/other.link").read_text())["version"] == "1"
    assert [(a["name"], a["version"]) for a in tenon.json("asset", "list", "--json", cwd=folder)] == \
        [("m", "1"), ("m", "2"), ("m", "3"), ("other", "1")]


def test_version_goes_on_from_a_link_file_of_before(tenon, ran):
    folder, run = ran
    (folder / "assets").mkdir()
    (folder / "assets/m.link").write_text('{"assetSource":"azureml","name":"m","version":"7"}')
    promote(tenon, folder, run, "outputs/model.pkl", "m").ok()
    assert json.loads((folder / "assets/m.link").read_text())["version"] == "8"


def objects(tenon, folder):
    return tenon.json("du", "--json", cwd=folder)["objects"]["bytes"]


def collect(tenon, folder):
    """gc, when every object is old enough to go."""
    for path in (tenon.home / "objects").rglob("*"):
        old = path.stat().st_mtime - 7200
        os.utime(path, (old, old))
    tenon.run("gc", cwd=folder).ok()


def test_contents_survive_the_run_and_the_collection(tenon, ran):
    folder, run = ran
    promote(tenon, folder, run, "outputs/saved", "AdultCensusModel").ok()
    promote(tenon, folder, run, ".\\outputs\\model.pkl", "model.pkl").ok()
    tenon.run("runs", "delete", run, cwd=folder).ok()
    before = objects(tenon, folder)
    collect(tenon, folder)
    assert before - objects(tenon, folder) >= 1_500_000  # what nobody promoted is gone
    use = tenon.json("du", "--json", cwd=folder)
    assert use["runs"] == [] and use["assets"] == {"bytes": len(MODEL) + 1005, "count": 2}
    tenon.run("asset", "download", "-l", "./assets/AdultCensusModel.link", "-d", "got", cwd=folder).ok()
    tenon.run("asset", "download", "--link-file", "assets\\model.pkl.link", "--output-directory", "got", cwd=folder).ok()
    assert tree(folder / "got") == {
        "AdultCensusModel/graph.pb": b"graph", "AdultCensusModel/variables/data": b"v" * 1000,
        "AdultCensusModel.link": b'{"assetSource":"azureml","name":"AdultCensusModel","version":"1"}',
        "model.pkl": MODEL, "model.pkl.link": (folder / "assets/model.pkl.link").read_bytes()}
    # What is no asset any more is collected.
    tenon.run("asset", "delete", "model.pkl", "1", cwd=folder).ok()
    before = objects(tenon, folder)
    collect(tenon, folder)
    assert before - objects(tenon, folder) >= 1_500_000
    shutil.rmtree(folder / "got")
    tenon.run("asset", "download", "-l", "assets/AdultCensusModel.link", "-d", "got", cwd=folder).ok()
    gone = tenon.run("asset", "download", "-l", "assets/model.pkl.link", "-d", "got", cwd=folder)
    assert gone.code == 3 and "not on this machine" in gone.err


def test_script_finds_what_was_downloaded(tenon, ran):
    folder, run = ran
    promote(tenon, folder, run, "outputs/saved", "classifier").ok()
    promote(tenon, folder, run, "outputs/run.sh", "run.sh").ok()
    for name in ("classifier", "run.sh"):
        tenon.run("asset", "download", "-l", f"assets/{name}.link", "-d", "models", cwd=folder).ok()
    assert os.access(folder / "models/run.sh", os.X_OK)
    (folder / "use.py").write_text(
        "import os\n"
        "from azureml.assets import get_local_path\n"
        "print(open(os.path.join(get_local_path('models/classifier.link'), 'graph.pb')).read())\n"
        "print(get_local_path('models/run.sh.link'))\n")
    done = tenon.run("submit", "use.py", cwd=folder).ok()
    assert "graph\nmodels/run.sh\n" in done.out


def test_downloading_again_changes_nothing_and_never_overwrites(tenon, ran):
    folder, run = ran
    promote(tenon, folder, run, "outputs/saved", "saved").ok()
    promote(tenon, folder, run, "outputs/model.pkl", "model.pkl").ok()
    for name in ("saved", "model.pkl"):
        command = ("asset", "download", "-l", f"assets/{name}.link", "-d", "got")
        tenon.run(*command, cwd=folder).ok()
        again = tenon.run(*command, cwd=folder).ok()
        assert again.out == "" and "nothing to do" in again.err
    (folder / "got/saved/graph.pb").write_text("precious")
    (folder / "got/model.pkl").write_text("precious")
    for name, file in (("saved", "saved/graph.pb"), ("model.pkl", "model.pkl")):
        command = ("asset", "download", "-l", f"assets/{name}.link", "-d", "got")
        refused = tenon.run(*command, cwd=folder)
        assert refused.code == 2 and file.split("/")[-1] in refused.err and "--overwrite" in refused.err
        assert (folder / "got" / file).read_text() == "precious"
        tenon.run(*command, "--overwrite", cwd=folder).ok()
        assert (folder / "got" / file).read_bytes() != b"precious"


def test_a_link_to_an_output_is_promoted_as_what_it_leads_to(tenon, ran):
    folder, run = ran
    promote(tenon, folder, run, "outputs/latest", "newest").ok()
    tenon.run("asset", "download", "-l", "assets/newest.link", "-d", "got", cwd=folder).ok()
    assert MODEL in tree(folder / "got").values()


def test_log_can_be_promoted(tenon, ran):
    folder, run = ran
    promote(tenon, folder, run, "driver_log", "log").ok()
    tenon.run("asset", "download", "-l", "assets/log.link", "-d", "got", cwd=folder).ok()
    assert (folder / "got/log").read_text() == "done\n"
    assert list(tenon.home.glob("promote-*")) == []


@pytest.mark.parametrize("path,code,says", [
    ("outputs/modle.pkl", 3, "did you mean outputs/model.pkl?"),
    ("outputs/../main.py", 3, "no artifact"),
    ("outputs/away", 3, "no artifact"),
    ("main.py", 3, "it has: control_log"),
])
def test_wrong_artifact_is_named_and_nothing_is_written(tenon, ran, path, code, says):
    folder, run = ran
    refused = promote(tenon, folder, run, path, "x")
    assert refused.code == code and says in refused.err, refused
    assert not (folder / "assets").exists() and tenon.json("asset", "list", "--json", cwd=folder) == []


@pytest.mark.parametrize("name", ["../x", "a/b", "..", "a\\b", "x" * 201])
def test_name_cannot_leave_the_folder(tenon, ran, name):
    folder, run = ran
    refused = promote(tenon, folder, run, "outputs/model.pkl", name)
    assert refused.code == 2 and "cannot be the name" in refused.err
    assert not (folder / "assets").exists()


def test_asset_of_another_machine_is_said_to_be_there(tenon, project):
    folder = project(files={"assets/AdultCensusModel.link":
                            '{"assetSource":"azureml","name":"AdultCensusModel","version":"3"}'})
    refused = tenon.run("asset", "download", "-l", "assets/AdultCensusModel.link", "-d", "x", cwd=folder)
    assert refused.code == 3 and "AdultCensusModel, version 3, is not on this machine" in refused.err
    assert "history promote" in refused.err and not (folder / "x").exists()
    none = tenon.run("asset", "download", "-l", "assets/none.link", "-d", "x", cwd=folder)
    assert none.code == 3 and "assets/none.link" in none.err


@pytest.mark.parametrize("text", ["", "{", "[]", '{"name":"x"}', '{"name":"../x","version":"1"}', "\x00\xff", '{"version":"1"}'])
def test_broken_link_file_is_refused_with_its_name(tenon, project, text):
    folder = project(files={"assets/x.link": text.encode("latin-1")})
    refused = tenon.run("asset", "download", "-l", "assets/x.link", "-d", "got", cwd=folder)
    assert refused.code == 2 and "assets/x.link" in refused.err
    assert not (folder / "got").exists()


def test_project_that_was_moved_still_finds_its_assets(tenon, ran, tmp_path):
    """Without project.json the id follows the folder."""
    folder, run = ran
    promote(tenon, folder, run, "outputs/model.pkl", "m").ok()
    moved = tmp_path / "moved"
    folder.rename(moved)
    done = tenon.run("asset", "download", "-l", "assets/m.link", "-d", "got", cwd=moved).ok()
    assert (moved / "got/m").read_bytes() == MODEL and "taken from the project proj" in done.err


def test_damaged_record_of_an_asset_stops_the_collection(tenon, ran):
    folder, run = ran
    promote(tenon, folder, run, "outputs/model.pkl", "m").ok()
    record = next(tenon.home.glob("assets/*/m/1.json"))
    record.write_text("{")
    stopped = tenon.run("gc", cwd=folder)
    assert stopped.code == 1 and "1.json" in stopped.err


def test_promote_needs_an_end(tenon, project):
    folder = project("import time\nprint('up', flush=True)\ntime.sleep(600)\n")
    going = tenon.start("submit", "main.py", cwd=folder)
    going.wait_for("up")
    run = tenon.json("runs", "--json", cwd=folder)[0]["run_id"]
    refused = promote(tenon, folder, run, "outputs/model.pkl", "m")
    assert refused.code == 2 and "Running" in refused.err
    tenon.run("cancel", run, "--grace", "1s", cwd=folder).ok()
