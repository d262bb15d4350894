# SPDX-License-Identifier: Apache-2.0
"""Commands that look after the record: restore, snapshot, du, gc, history rebuild, version."""

import os
import re
import shutil

OLD = 40 * 24 * 3600


def submit(tenon, folder, *arguments, code=0):
    result = tenon.run("submit", "-q", "main.py", *arguments, cwd=folder)
    assert result.code == code, result
    return result.out.strip()


def tree(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_restore_brings_a_runs_files_back_into_a_new_folder(tenon, project, tmp_path):
    folder = project(files={"data/a.txt": "a", "tool.sh": "#!/bin/sh\n"})
    (folder / "tool.sh").chmod(0o755)
    (folder / "link").symlink_to("data/a.txt")
    before = tree(folder)
    run = submit(tenon, folder)
    shutil.rmtree(folder / "data")
    (folder / "main.py").write_text("changed\n")
    back = tmp_path / "back"
    written = tenon.run("restore", run, back, cwd=folder).ok()
    assert tree(back) == before
    assert os.readlink(back / "link") == "data/a.txt" and os.access(back / "tool.sh", os.X_OK)
    assert sorted(written.out.splitlines()) == sorted([*before, "link"] if "link" not in before else before)


def test_restore_never_overwrites_changes_unasked(tenon, project):
    folder = project(files={"data/a.txt": "a", "data/b.txt": "b"})
    run = submit(tenon, folder)
    (folder / "data/a.txt").write_text("precious")
    (folder / "data/b.txt").unlink()
    (folder / "new.txt").write_text("mine")
    refused = tenon.run("restore", run, cwd=folder)
    assert refused.code == 2 and "data/a.txt" in refused.err and "--force" in refused.err
    assert (folder / "data/a.txt").read_text() == "precious"
    assert not (folder / "data/b.txt").exists()

    forced = tenon.json("restore", run, "--force", "--json", cwd=folder)
    assert forced["written"] == ["data/a.txt", "data/b.txt"]
    assert (folder / "data/a.txt").read_text() == "a"
    assert (folder / "new.txt").read_text() == "mine"
    saved = forced["saved_snapshot"]
    assert re.fullmatch("[0-9a-f]{64}", saved)
    # What was overwritten can be had back, also after gc.
    tenon.run("gc", cwd=folder).ok()
    tenon.run("restore", saved, folder.parent / "saved", cwd=folder).ok()
    assert (folder.parent / "saved/data/a.txt").read_text() == "precious"
    assert "nothing to do" in tenon.run("restore", run, cwd=folder).ok().err


def test_restore_leaves_the_present_password_alone(tenon, project):
    vm = "type: remotedocker\naddress: 203.0.113.7\nusername: u\npassword: hunter2hunter2\n"
    folder = project(files={"aml_config/vm.compute": vm})
    run = submit(tenon, folder)
    (folder / "aml_config/vm.compute").write_text(vm.replace("hunter2hunter2", "another-one"))
    assert "nothing to do" in tenon.run("restore", run, cwd=folder).ok().err
    assert "another-one" in (folder / "aml_config/vm.compute").read_text()
    back = folder.parent / "back"
    tenon.run("restore", run, back, cwd=folder).ok()
    assert (back / "aml_config/vm.compute").read_text() == vm.replace("password: hunter2hunter2\n", "")


def test_restore_into_the_wrong_project_is_refused(tenon, project, tmp_path):
    run = submit(tenon, project(name="one"))
    other = project("print('other')\n", name="two")
    refused = tenon.run("restore", run, cwd=other)
    assert refused.code == 2 and "DIR" in refused.err
    assert (other / "main.py").read_text() == "print('other')\n"
    outside = tmp_path / "outside"
    outside.mkdir()
    assert tenon.run("restore", run, cwd=outside).code == 2
    assert list(outside.iterdir()) == []


def test_words_that_are_names_of_commands_are_arguments_too(tenon, project):
    folder = project()
    before = tree(folder)
    submit(tenon, folder)
    assert tenon.json("tag", "last", "data", "show", "--json", cwd=folder) == {"data": "", "show": ""}
    assert tenon.run("note", "last", "data", cwd=folder).ok().out == "data\n"
    tenon.run("restore", "--force", "1", "data", cwd=folder).ok()
    assert tree(folder / "data") == before
    assert tenon.run("history", "info", "last", "-a", "driver_log", cwd=folder).ok().out == "hello\n"
    compared = tenon.json("history", "compare", "last", "1", "-o", "json", cwd=folder)
    assert compared == tenon.json("compare", "1", "1", "--json", cwd=folder)
    assert "\nhello\n" in tenon.run("experiment", "submit", "-c", "local", "main.py", "submit", "show", cwd=folder).ok().out
    for words, code, text in [
            (("secrets", "import", "list"), 3, "there is no target `list`"),
            (("show", "version"), 3, "no run is called version"),
            (("show", "1", "version"), 2, "tenon show does not take version"),
            (("history", "submit"), 2, "there is no command `tenon history submit`")]:
        done = tenon.run(*words, cwd=folder)
        assert done.code == code and text in done.err and not done.out, repr(done)


def test_snapshot_changes_with_the_files_and_only_with_them(tenon, project):
    folder = project(files={"data/a.txt": "a" * 100, ".amlignore": "*.log\n", "x.log": "ignored"})
    first = tenon.json("snapshot", "--json", cwd=folder)
    assert re.fullmatch("[0-9a-f]{64}", first["root"]) and first["commit_id"] == first["root"][:40]
    assert first["ignored"] == 1
    assert tenon.run("snapshot", cwd=folder).ok().out.strip() == first["root"]
    (folder / "x.log").write_text("still ignored")
    assert tenon.json("snapshot", "--json", cwd=folder)["root"] == first["root"]
    (folder / "data/a.txt").write_text("b" * 100)
    changed = tenon.json("snapshot", "--json", cwd=folder)
    assert changed["root"] != first["root"] and changed["files"] == first["files"]
    (folder / "data/a.txt").write_text("a" * 100)
    assert tenon.json("snapshot", "--json", cwd=folder)["root"] == first["root"]
    talk = tenon.run("snapshot", cwd=folder).ok().err
    assert "read again" in talk and "files" in talk


def test_snapshot_is_what_a_submit_records_and_can_be_listed(tenon, project):
    folder = project(files={"data/a.txt": "abc"})
    frozen = tenon.json("snapshot", "--files", "--json", cwd=folder)
    submit(tenon, folder)
    last = tenon.json("history", "last", "-o", "json", cwd=folder)
    assert last["properties"]["CommitId"] == frozen["commit_id"]
    files = {f["path"]: f for f in frozen["tree"] if f["kind"] == "file"}
    assert set(files) == {"main.py", "data/a.txt", "aml_config/local.compute", "aml_config/local.runconfig"}
    assert files["data/a.txt"]["size"] == 3
    listing = tenon.run("snapshot", "--files", cwd=folder).ok().out
    assert re.search(r"^0644 +3 +data/a\.txt$", listing, re.M), listing


def test_du_counts_what_is_there(tenon, project):
    folder = project("open('outputs/big', 'wb').write(__import__('os').urandom(3_000_000))\n")
    assert tenon.json("du", "--json", cwd=folder)["runs"] == []
    run = submit(tenon, folder)
    use = tenon.json("du", "--json", cwd=folder)
    assert use["objects"]["bytes"] >= 3_000_000
    assert [r["run_id"] for r in use["runs"]] == [run] and use["runs"][0]["journal_bytes"] > 0
    assert use["bytes"] == sum(use[k]["bytes"] for k in ("objects", "journals", "work", "index", "other"))
    table = tenon.run("du", cwd=folder).ok().out
    assert run in table and "MB" in table


def test_gc_keeps_what_runs_need_and_frees_the_rest(tenon, project, tmp_path):
    folder = project("import sys\nopen('outputs/o', 'wb').write(__import__('os').urandom(2_000_000))\n"
                     "sys.exit(int(sys.argv[1]))\n")
    kept = submit(tenon, folder, "0")
    gone = submit(tenon, folder, "0")
    failed = submit(tenon, folder, "3", code=3)
    work = tenon.home / "runs" / failed / "work"
    assert work.is_dir()
    tenon.run("runs", "delete", gone, cwd=folder).ok()
    # An hour must pass before an unnamed object goes, a week before a failed run's folder does.
    clock = tmp_path / "clock"
    clock.write_text(str(OLD * 1_000_000))
    later = {"TENON_TEST_CLOCK_OFFSET_FILE": str(clock)}
    two_hours_ago = os.stat(folder).st_mtime - 7200
    for path in (tenon.home / "objects").rglob("*"):
        os.utime(path, (two_hours_ago, two_hours_ago))
    before = tenon.json("du", "--json", cwd=folder)["objects"]["bytes"]
    assert tenon.json("gc", "--dry-run", "--json", cwd=folder, env=later)["work_folders"] == 1
    assert work.is_dir() and tenon.json("du", "--json", cwd=folder)["objects"]["bytes"] == before
    freed = tenon.json("gc", "--json", cwd=folder, env=later)
    assert freed["work_folders"] == 1 and not work.exists()
    after = tenon.json("du", "--json", cwd=folder)["objects"]["bytes"]
    assert before - after >= 1_500_000, (before, after, freed)
    assert freed["bytes_freed"] >= 1_500_000
    target = tmp_path / "still-there"
    tenon.run("history", "download", "-r", kept, "-d", target, cwd=folder).ok()
    assert len((target / "outputs/o").read_bytes()) == 2_000_000
    tenon.run("restore", kept, tmp_path / "restored", cwd=folder).ok()
    assert tenon.run("gc", "--keep-work", "soon", cwd=folder).code == 2


def test_gc_keep_work_removes_a_failed_runs_folder_early(tenon, project):
    folder = project("raise SystemExit(3)\n")
    failed = submit(tenon, folder, code=3)
    work = tenon.home / "runs" / failed / "work"
    tenon.run("gc", "--keep-work", "1h", cwd=folder).ok()
    assert work.is_dir()
    assert "1 run directory" in tenon.run("gc", "--keep-work", "0", cwd=folder).ok().out
    assert not work.exists()


def test_rebuilt_history_equals_the_old_one(tenon, project):
    folder = project("import tenon\nfor i in range(100): tenon.log('x', i)\n")
    run = submit(tenon, folder)
    submit(tenon, folder, "again")
    tenon.run("tag", run, "best", cwd=folder).ok()
    before = tenon.json("runs", "--json", cwd=folder)
    points = tenon.run("metrics", run, "--csv", cwd=folder).ok().out
    assert "2 runs" in tenon.run("history", "rebuild", cwd=folder).ok().out
    assert tenon.json("runs", "--json", cwd=folder) == before
    assert tenon.run("metrics", run, "--csv", cwd=folder).ok().out == points
    for path in tenon.home.glob("history.db*"):
        path.write_bytes(b"no database at all" * 500)
    assert tenon.json("history", "rebuild", "--json", cwd=folder) == {"runs": 2}
    assert tenon.json("runs", "--json", cwd=folder) == before
    assert tenon.run("metrics", run, "--csv", cwd=folder).ok().out == points


def test_version_names_all_that_a_report_needs(tenon, tmp_path):
    plain = tenon.run("--version").ok().out.strip()
    told = tenon.json("version", "--json")
    assert plain == "tenon " + told["tenon"] and re.fullmatch(r"\d+\.\d+\.\d+\S*", told["tenon"])
    assert re.fullmatch("[0-9a-f]{64}", told["runner"])
    assert told["home"] == str(tenon.home) and isinstance(told["protocol"], int)
    text = tenon.run("version").ok().out
    assert told["runner"][:12] in text and told["home"] in text
    assert not tenon.home.exists(), "asking for the version makes no home"
