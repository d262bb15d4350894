# SPDX-License-Identifier: Apache-2.0
"""Keys, passwords and Tenon's own folder are no part of a snapshot, wherever they lie."""

import os
import subprocess

import pytest

from e2e import harness

KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA-canary\n-----END OPENSSH PRIVATE KEY-----\n"
CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMIIEvQIBADANBg\n-----END CERTIFICATE-----\n"
LIST = "import os\nprint('\\n'.join(sorted(os.path.relpath(os.path.join(d, f)) for d, _, fs in os.walk('.') for f in fs)))\n"


def files_of(done):
    return set(done.ok().out.split())


def frozen(tenon, folder, **options):
    listing = tenon.json("snapshot", "--files", "--json", cwd=folder, **options)
    return {entry["path"] for entry in listing["tree"] if entry["kind"] != "folder"}, listing


def test_submit_from_the_home_folder_takes_neither_keys_nor_tenons_home(tenon):
    user = tenon.scratch / "user-home"
    harness.make_project(user, LIST, files={
        ".ssh/id_ed25519": KEY, ".ssh/known_hosts": "x\n", ".aws/credentials": "aws_secret_access_key=canary\n",
        ".netrc": "machine a login b password canary\n", "certs/server.pem": KEY, "certs/ca.pem": CERTIFICATE,
        ".gnupg/secring.gpg": "canary", ".docker/config.json": "{}", "data.txt": "x\n"})
    env = {"TENON_HOME": None}
    tenon.run("secrets", "set", "box", "--stdin", stdin=b"the-canary-password", cwd=user, env=env).ok()
    assert (user / ".tenon/secrets.json").exists()
    try:
        done = tenon.run("submit", "main.py", cwd=user, env=env)
        assert files_of(done) == {"main.py", "data.txt", "certs/ca.pem", "aml_config/local.runconfig"}
        assert ".ssh/ (SSH keys)" in done.err and ".netrc" in done.err and ".tenon" in done.err
        shown = tenon.run("show", "last", cwd=user, env=env).ok().out
        assert "keys and passwords stay here" in shown
        paths, listing = frozen(tenon, user, env=env)
        assert not [p for p in paths if p.startswith((".tenon", ".ssh", ".aws", ".netrc"))]
        assert ".tenon" in listing["left_out"] and "certs/server.pem" in listing["left_out"]
    finally:
        harness.wait_until(lambda: not harness.marked_processes(user / ".tenon"), 20, "the runner's end")


@pytest.mark.parametrize("where", ["inside", "symlink to it", "another home", "home of TENON_HOME elsewhere"])
def test_tenons_home_is_left_out_wherever_it_lies(tenon, project, where):
    folder = project(LIST)
    env = {}
    if where == "inside":
        env["TENON_HOME"] = folder / "deep/er/state"
    elif where == "symlink to it":
        (folder / "state").mkdir()
        (tenon.scratch / "link").symlink_to(folder / "state")
        env["TENON_HOME"] = tenon.scratch / "link"
    elif where == "another home":
        other = harness.Tenon(tenon.binary, folder / "backup-of-home", tenon.scratch)
        other.run("secrets", "set", "box", "--stdin", stdin=b"the-canary-password", cwd=folder).ok()
        other.run("snapshot", cwd=folder).ok()
    else:
        user = tenon.scratch / "user-home"
        harness.make_project(user, LIST)
        (user / ".tenon").mkdir()
        (user / ".tenon/secrets.key").write_text("canary")
        folder = user
    for _ in range(2):  # once without, once with what the first has remembered
        done = tenon.run("submit", "main.py", cwd=folder, env=env)
        assert files_of(done) == {"main.py", "aml_config/local.runconfig"}
        assert "Tenon's own folder" in done.err


def test_a_project_that_is_tenons_home_or_lies_in_it_is_refused(tenon):
    tenon.home.mkdir(exist_ok=True)
    harness.make_project(tenon.home, LIST)
    done = tenon.run("submit", "main.py", cwd=tenon.home)
    assert done.code == 125 and "Tenon's own folder" in done.err
    inside = harness.make_project(tenon.home / "keys", LIST)
    done = tenon.run("snapshot", cwd=inside)
    assert done.code != 0 and "Tenon's own folder" in done.err
    beside = harness.make_project(tenon.home / "my-projects/first", LIST)
    assert files_of(tenon.run("submit", "main.py", cwd=beside)) == {"main.py", "aml_config/local.runconfig"}


def test_the_line_that_takes_a_key_along_works_when_pasted(tenon, project):
    folder = project(LIST, files={".gitignore": "data/", "data/big.bin": "x", "my keys/a [1].pem": KEY, ".ssh/id_rsa": KEY})

    def hint():
        done = tenon.run("submit", "main.py", cwd=folder).ok()
        lines = [line.split("`")[1] for line in done.err.splitlines() if " along: " in line]
        return lines[0] if lines else None, files_of(done)

    base = {"main.py", "aml_config/local.runconfig", ".gitignore"}
    line, files = hint()
    assert files == base
    subprocess.run(["bash", "-c", line], check=True, cwd="/")
    line, files = hint()
    assert files == base | {".ssh/id_rsa"}
    subprocess.run(["sh", "-c", line], check=True, cwd="/")
    done = tenon.run("submit", "main.py", cwd=folder).ok()
    assert set(done.out.splitlines()) == base | {".ssh/id_rsa", "my keys/a [1].pem"}
    assert "stay here" not in done.err
    assert not (folder / ".amlignore").exists()  # it would have put .gitignore out of force


def test_a_script_among_the_keys_is_refused_with_the_way_to_take_it(tenon, project):
    folder = project(files={".aws/main.py": "print('ran')\n"})
    done = tenon.run("submit", ".aws/main.py", cwd=folder)
    assert done.code == 125 and "credentials of AWS" in done.err
    line = next(part for part in done.err.splitlines() if "printf" in part)
    subprocess.run(["sh", "-c", line[line.index("printf"):]], check=True, cwd="/")
    assert tenon.run("submit", ".aws/main.py", cwd=folder).ok().out == "ran\n"


def test_an_env_file_is_taken_and_named(tenon, project):
    folder = project(LIST, files={".env": "TOKEN=x\n"})
    done = tenon.run("submit", "main.py", cwd=folder)
    assert ".env" in files_of(done) and ".env" in done.err and "often private" in done.err
    line = next(part for part in done.err.splitlines() if "printf" in part)
    subprocess.run(["sh", "-c", line.split("`")[1]], check=True, cwd="/")
    done = tenon.run("submit", "main.py", cwd=folder)
    assert ".env" not in files_of(done) and "often private" not in done.err


def test_keys_stay_here_whatever_they_are_called(tenon, project):
    account = '{"type": "service_account", "private_key": "-----BEGIN PRIVATE KEY-----\\nMII"}'
    folder = project(LIST, files={
        "CERT.PFX": "x", "SERVER.KEY": KEY, ".SSH/config": "x", "id_rsa_work": KEY, "deploy_key": KEY, "github": KEY,
        "my-account-1a2b.json": account, "kubeconfig": "x", "kaggle.json": "{}", "notes.md": f"how to:\n{KEY}"})
    os.link(folder / "github", folder / "innocent.txt")
    listing = {"main.py", "aml_config/local.runconfig", "notes.md"}
    for _ in range(2):  # once without, once with what the first has remembered
        done = tenon.run("submit", "main.py", cwd=folder)
        assert files_of(done) - {"how", "to:"} == listing
        assert "stay here" in done.err
    paths, shown = frozen(tenon, folder)
    assert paths == listing | {"aml_config/local.compute"}
    assert set(shown["left_out"]) >= {"CERT.PFX", "github", "innocent.txt", "my-account-1a2b.json"}


def test_an_ignore_file_of_wildcards_asks_for_no_key(tenon, project):
    """Nothing, but all folders, and these files: how people list what they want."""
    folder = project(LIST, files={".gitignore": "*\n!*/\n!*.py\n!*.json\n!*.runconfig\n", "a.json": "{}",
                                  ".azure/accessTokens.json": "canary", ".config/gcloud/x.json": "canary"})
    done = tenon.run("submit", "main.py", cwd=folder)
    assert files_of(done) == {"main.py", "a.json", "aml_config/local.runconfig"}
    assert ".azure/ (credentials of Azure)" in done.err


def test_homes_of_others_that_had_no_run_yet_are_left_out(tenon, project):
    """As below /home: whose folder is called .tenon, and whose is not."""
    folder = project(LIST)
    for home in (folder / "bob/.tenon", folder / "state"):
        other = harness.Tenon(tenon.binary, home, tenon.scratch)
        other.run("secrets", "set", "box", "--stdin", stdin=b"the-canary-password", cwd=folder).ok()
    (folder / "bob/.tenon/secrets.key").unlink()
    done = tenon.run("submit", "main.py", cwd=folder)
    assert files_of(done) == {"main.py", "aml_config/local.runconfig"}
    assert "Tenon's own folder: bob/.tenon, state" in done.err


def test_restore_leaves_key_files_alone(tenon, project):
    folder = project("print(1)\n", files={"server.pem": KEY, ".ssh/id_rsa": KEY})
    tenon.run("submit", "main.py", cwd=folder).ok()
    (folder / "main.py").write_text("print(2)\n")
    tenon.run("restore", "last", "--force", cwd=folder).ok()
    assert (folder / "main.py").read_text() == "print(1)\n"
    assert (folder / "server.pem").read_text() == KEY and (folder / ".ssh/id_rsa").read_text() == KEY


def test_data_and_copies_leave_keys_and_homes_out(tenon, project):
    folder = project(LIST, files={"set/a.csv": "1\n", "set/.ssh/id_rsa": KEY, "set/server.key": KEY})
    os.symlink(tenon.home / "secrets.json", folder / "set/innocent")
    tenon.run("secrets", "set", "box", "--stdin", stdin=b"the-canary-password", cwd=folder).ok()
    share = tenon.scratch / "share"
    compute = folder / "aml_config/local.compute"
    compute.write_text(compute.read_text() + f"nativeSharedDirectory: {share}\n")
    done = tenon.run("data", "put", folder / "set", "--name", "numbers", cwd=folder).ok()
    assert "stay here" in done.err and ".ssh" in done.err and "innocent" in done.err
    brought = {p.name for p in share.rglob("*") if p.is_file() and ".tenon-data" not in p.parts}
    assert brought == {"a.csv"}
    refused = tenon.run("data", "put", tenon.home, "--name", "home", cwd=folder)
    assert refused.code != 0 and "Tenon's own folder" in refused.err


def test_nothing_of_a_left_out_key_reaches_the_store(tenon, project):
    folder = project(LIST, files={"server.pem": KEY * 500, ".netrc": "password canary-in-netrc\n" * 500})
    tenon.run("submit", "main.py", cwd=folder).ok()
    for path in harness.all_below(tenon.home):  # the runner tidies up meanwhile
        assert b"canary" not in harness.read_if_there(path), path
