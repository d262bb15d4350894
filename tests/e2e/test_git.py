# SPDX-License-Identifier: Apache-2.0
"""The state of git: true whatever the repository is set to, and read without running a program that it names."""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

CANARY = "ran-a-program"


@pytest.fixture
def repository(tenon, project):
    """make() → a project with one commit, and its git()."""

    def make(files=None, before_commit=None):
        folder = project("print('ran')\n", files=files)

        def git(*args, cwd=folder, **options):
            words = ["git", "-c", "user.name=n", "-c", "user.email=e@example.com", "-c", "protocol.file.allow=always"]
            done = subprocess.run([*words, *map(str, args)], cwd=cwd, check=True, capture_output=True, text=True,
                                  env={"PATH": os.environ["PATH"], "HOME": str(tenon.scratch)}, **options)
            return done.stdout.strip()

        git("init", "-q", "-b", "trunk")
        if before_commit:
            before_commit(git, folder)
        git("add", ".")
        git("commit", "-q", "-m", "first")
        return folder, git

    return make


def program(tenon, name="spy", last="cat"):
    """A program that leaves a mark when it is run."""
    path = tenon.scratch / name
    path.write_text(f"#!/bin/sh\necho \"$0 $*\" >> {tenon.scratch / CANARY}\n{last}\n")
    path.chmod(0o755)
    return path


def nothing_ran(tenon):
    mark = tenon.scratch / CANARY
    assert not mark.exists(), mark.read_text()


def submit(tenon, folder, **options):
    done = tenon.run("submit", "main.py", cwd=folder, **options).ok()
    assert done.out == "ran\n"
    return done, tenon.json("history", "last", "-o", "json", cwd=folder)["properties"]


def test_no_program_that_a_repository_names_is_run(tenon, repository):
    spy = program(tenon)
    folder, git = repository({"data.txt": "one\n", "big.bin": "pointer\n", "doc.x": "text\n"})
    hooks = folder / "hooks"
    hooks.mkdir()
    for name in ("post-index-change", "pre-commit", "post-checkout", "fsmonitor-watchman", "reference-transaction"):
        shutil.copy(spy, hooks / name)
    settings = {"core.fsmonitor": spy, "core.hooksPath": hooks, "diff.external": spy, "diff.x.textconv": spy,
                "diff.x.command": spy, "filter.f.clean": spy, "filter.f.smudge": spy, "filter.f.process": spy,
                "filter.f.required": "true", "core.pager": spy, "core.sshCommand": spy, "core.editor": spy,
                "core.askPass": spy, "credential.helper": spy, "gpg.program": spy, "uploadpack.packObjectsHook": spy,
                "core.alternateRefsCommand": spy, "interactive.diffFilter": spy, "alias.diff": f"!{spy}",
                "core.gitProxy": spy, "merge.m.driver": spy, "core.untrackedCache": "true", "pager.diff": spy}
    for name, value in settings.items():
        git("config", name, value)
    (folder / ".gitattributes").write_text("*.x diff=x\n*.bin filter=f\n*.txt merge=m\n")
    for name in ("data.txt", "big.bin", "doc.x"):
        (folder / name).write_text("changed\n")
    git_env = {"GIT_EXTERNAL_DIFF": str(spy), "GIT_PAGER": str(spy), "GIT_SSH_COMMAND": str(spy),
               "GIT_ASKPASS": str(spy), "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor",
               "GIT_CONFIG_VALUE_0": str(spy)}
    done, properties = submit(tenon, folder, env=git_env)
    nothing_ran(tenon)
    assert properties["GitDirty"] is True
    assert "not compared" in done.err and "big.bin" in done.err and "data.txt" not in done.err


@pytest.mark.parametrize("path", ["{outside}", ".:{outside}", ":{outside}", "bin:{outside}", "{folder}/bin:{outside}",
                                  "{link}/bin:{outside}"])
def test_no_program_of_the_repository_that_path_leads_to_is_run(tenon, repository, path):
    """`git` and `env` are looked up from the project's folder, where anybody may have put some."""
    folder, git = repository({"data.txt": "one\n"})
    (folder / "bin").mkdir()
    for name in ("git", "env", "bin/git", "bin/env"):
        shutil.copy(program(tenon, "spy", f'exec /usr/bin/{Path(name).name} "$@"'), folder / name)
    (tenon.scratch / "link").symlink_to(folder)
    (folder / "data.txt").write_text("two\n")
    words = {"folder": folder, "link": tenon.scratch / "link", "outside": os.environ["PATH"]}
    done, properties = submit(tenon, folder, env={"PATH": path.format(**words)})
    nothing_ran(tenon)
    assert properties["GitDirty"] is True and "not recorded" not in done.err


def test_a_git_that_the_repository_alone_has_is_said(tenon, repository):
    folder, git = repository({"data.txt": "one\n"})
    (folder / "bin").mkdir()
    shutil.copy(program(tenon), folder / "bin/git")
    done, _ = submit(tenon, folder, env={"PATH": f"{folder}/bin:{without_git(tenon)}"})
    nothing_ran(tenon)
    assert "not recorded" in done.err and "part of the repository" in done.err


def test_a_filter_does_not_make_a_changed_file_look_clean(tenon, repository):
    def before(git, folder):
        # Whatever the file holds, git would see what was committed.
        git("config", "filter.lie.clean", "printf 'as committed\\n'")
        (folder / ".gitattributes").write_text("model.bin filter=lie\n")

    folder, git = repository({"model.bin": "first\n"}, before)
    (folder / "model.bin").write_text("second, and longer\n")
    done, properties = submit(tenon, folder)
    assert "not compared" in done.err and "model.bin" in done.err
    assert properties["GitDirty"] == "unknown" and properties["GitCommit"]
    shown = tenon.run("show", "last", cwd=folder).ok().out
    assert "not all files compared" in shown and "model.bin" in shown


def test_files_under_a_filter_are_not_compared_and_others_are(tenon, repository):
    """As with LFS: the commit has pointers, the folder has the contents."""
    clean = program(tenon, "clean", "sha256sum | cut -c1-8")

    def before(git, folder):
        git("config", "filter.lfs.clean", clean)
        git("config", "filter.lfs.required", "true")
        (folder / ".gitattributes").write_text("*.bin filter=lfs -text\n")

    folder, git = repository({f"m{i}.bin": f"contents {i}\n" for i in range(8)} | {"plain.txt": "a\n"}, before)
    (tenon.scratch / CANARY).unlink()
    done, properties = submit(tenon, folder)
    nothing_ran(tenon)
    assert properties["GitDirty"] == "unknown"
    assert "not compared" in done.err and "m0.bin" in done.err and "and 3 more" in done.err
    (folder / "plain.txt").write_text("b\n")
    assert submit(tenon, folder)[1]["GitDirty"] is True
    (folder / "m3.bin").unlink()
    (folder / "plain.txt").write_text("a\n")
    assert submit(tenon, folder)[1]["GitDirty"] is True  # a file that is gone needs no filter
    nothing_ran(tenon)


def test_a_filter_that_nobody_has_set_up_hides_nothing(tenon, repository):
    folder, git = repository({"m.bin": "pointer\n", ".gitattributes": "*.bin filter=lfs -text\n"})
    done, properties = submit(tenon, folder)
    assert "GitDirty" not in properties and "not compared" not in done.err
    (folder / "m.bin").write_text("other\n")
    assert submit(tenon, folder)[1]["GitDirty"] is True


@pytest.mark.parametrize("hide", [
    ("update-index", "--assume-unchanged", "data.txt"),
    ("update-index", "--skip-worktree", "data.txt"),
    ("config", "core.ignoreStat", "true"),
    ("config", "core.trustctime", "false"),
    ("config", "core.checkStat", "minimal"),
    ("update-index", "--split-index"),
])
def test_no_mark_in_the_index_makes_a_changed_file_look_clean(tenon, repository, hide):
    folder, git = repository({"data.txt": "one\n"})
    git(*hide)
    git("status")
    before = (folder / "data.txt").stat()
    assert "GitDirty" not in submit(tenon, folder)[1]
    (folder / "data.txt").write_text("two\n")  # as long as before
    os.utime(folder / "data.txt", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert submit(tenon, folder)[1]["GitDirty"] is True


@pytest.mark.planned_skip("needs a git with sparse checkouts")
def test_a_file_that_is_not_checked_out_is_not_called_removed(tenon, repository):
    folder, git = repository({"wanted/a.txt": "a\n", "unwanted/b.txt": "b\n"})
    git("sparse-checkout", "set", "wanted", "aml_config")
    if (folder / "unwanted/b.txt").exists():
        pytest.skip("this git has no sparse checkouts")
    assert "GitDirty" not in submit(tenon, folder)[1]
    (folder / "unwanted").mkdir(exist_ok=True)
    (folder / "unwanted/b.txt").write_text("other\n")
    assert submit(tenon, folder)[1]["GitDirty"] is True


def test_line_ends_that_git_changes_by_itself_are_no_change(tenon, repository):
    folder, git = repository({"data.txt": "one\r\ntwo\r\n"}, lambda git, folder: git("config", "core.autocrlf", "true"))
    os.utime(folder / "data.txt", ns=(1, 1))
    assert "GitDirty" not in submit(tenon, folder)[1]


def test_a_submodule_is_not_looked_into(tenon, repository):
    spy = program(tenon)
    inner, _ = repository({"lib.py": "x = 1\n"})
    inner = inner.rename(tenon.scratch / "inner")
    folder, git = repository()
    git("submodule", "add", "-q", inner, "lib")
    git("commit", "-q", "-m", "with lib")
    git("config", "core.fsmonitor", spy, cwd=folder / "lib")
    (folder / "lib/lib.py").write_text("x = 2\n")
    done, properties = submit(tenon, folder)
    nothing_ran(tenon)
    assert properties["GitDirty"] == "unknown" and "not compared" in done.err and "lib" in done.err


def test_a_linked_worktree_and_an_environment_of_git(tenon, repository):
    folder, git = repository({"data.txt": "one\n"})
    other = tenon.scratch / "linked"
    git("worktree", "add", "-q", "-b", "side", other)
    (other / "data.txt").write_text("two\n")
    # As in a hook of another repository.
    env = {"GIT_DIR": str(folder / ".git"), "GIT_INDEX_FILE": str(folder / ".git/index"), "GIT_WORK_TREE": str(folder)}
    _, properties = submit(tenon, other, env=env)
    assert properties["GitBranch"] == "side" and properties["GitDirty"] is True
    assert "GitDirty" not in submit(tenon, folder)[1]


def snapshot_of(folder):
    return {str(p.relative_to(folder)): (p.lstat().st_mtime_ns, p.lstat().st_size, stat.S_IFMT(p.lstat().st_mode))
            for p in folder.rglob("*")}


def test_nothing_in_the_repository_is_touched(tenon, repository):
    folder, git = repository({"data.txt": "one\n"})
    (folder / "data.txt").write_text("two\n")
    git("update-index", "--assume-unchanged", "data.txt")
    (folder / ".git/index.lock").touch()  # another git is at work
    before = snapshot_of(folder / ".git")
    assert submit(tenon, folder)[1]["GitDirty"] is True
    assert snapshot_of(folder / ".git") == before
    assert not list(tenon.scratch.glob("tenon-git-*"))


def without_git(tenon):
    """A PATH with all that a run needs, but git."""
    path = tenon.scratch / "bin-without-git"
    path.mkdir()
    for name in ("env", "sh"):
        (path / name).symlink_to(shutil.which(name))
    (path / "python3").symlink_to(os.path.realpath(sys.executable))
    return str(path)


@pytest.mark.parametrize("damage", ["head", "index", "branch", "objects", "gitfile", "empty", "no git",
                                    "fifo for the index", "fifo for .git"])
def test_a_state_that_cannot_be_read_is_a_notice_and_the_run_goes_on(tenon, repository, damage):
    folder, git = repository({"data.txt": "one\n"})
    env = {}
    if damage == "head":
        (folder / ".git/HEAD").write_text("garbage\n")
    elif damage == "index":
        (folder / ".git/index").write_bytes(b"DIRCgarbage")
    elif damage == "branch":
        (folder / ".git/refs/heads/trunk").write_text("garbage\n")
    elif damage == "objects":
        shutil.rmtree(folder / ".git/objects")
        (folder / ".git/objects").mkdir()
    elif damage == "gitfile":
        shutil.rmtree(folder / ".git")
        (folder / ".git").write_text("gitdir: /nowhere\n")
    elif damage == "empty":
        shutil.rmtree(folder / ".git")
        (folder / ".git").mkdir()
    elif damage == "fifo for the index":
        (folder / ".git/index").unlink()
        os.mkfifo(folder / ".git/index")
    elif damage == "fifo for .git":
        shutil.rmtree(folder / ".git")
        os.mkfifo(folder / ".git")
    else:
        env["PATH"] = without_git(tenon)
    (folder / "data.txt").write_text("two\n")
    done, properties = submit(tenon, folder, env=env)
    assert "not recorded" in done.err
    if "GitCommit" in properties:
        assert properties["GitDirty"] == "unknown"
    notices = tenon.run("show", "last", cwd=folder).ok().out
    assert "not recorded" in notices


def test_a_repository_without_a_commit_is_no_problem(tenon, project):
    folder = project("print('ran')\n")
    subprocess.run(["git", "init", "-q", "-b", "trunk", str(folder)], check=True)
    done, properties = submit(tenon, folder)
    assert "not recorded" not in done.err and "GitCommit" not in properties
    assert properties["GitBranch"] == "trunk"


@pytest.mark.planned_skip("needs root to give files away")
def test_a_repository_of_another_user_is_read_and_its_programs_are_not_run(tenon, repository):
    if os.geteuid() != 0:
        pytest.skip("needs root to give files away")
    spy = program(tenon)
    folder, git = repository({"data.txt": "one\n"})
    git("config", "core.fsmonitor", spy)
    for path in [folder, *folder.rglob("*")]:
        os.lchown(path, 64321, 64321)
    (folder / "data.txt").write_text("two\n")
    assert submit(tenon, folder)[1]["GitDirty"] is True
    nothing_ran(tenon)
