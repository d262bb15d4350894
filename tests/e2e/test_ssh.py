# SPDX-License-Identifier: Apache-2.0
"""Runs on a machine reached by SSH: an account with nothing but a shell and Python, and machines with oddities."""

import json
import re

import pytest

from e2e.harness import wait_until
from hosts.link import Proxy
from hosts.sshd import Unusable, make_key
from hosts.ssh_runs import SLEEPER, waiter

pytestmark = pytest.mark.planned_skip("needs root and openssh-server")

SHELLS = ["/bin/bash", "/bin/dash", "/usr/bin/zsh", "/usr/bin/fish", "/bin/tcsh"]
WHOLE = """
import os, sys
from azureml.logging import get_azureml_logger
logger = get_azureml_logger()
logger.log("rate", 0.5)
logger.log("loss", [3, 2, 1])
print("user", os.environ.get("USER") or os.environ["LOGNAME"], flush=True)
print("argument", sys.argv[1], flush=True)
print("to stderr", file=sys.stderr, flush=True)
open("outputs/model.bin", "wb").write(bytes(range(256)) * 4096)
print(open("data/input.txt").read(), flush=True)
raise SystemExit(5)
"""
# Each shell's own files, of login and other shells, all of which talk.
TALKERS = {
    "/bin/bash": [".bashrc", ".bash_profile", ".profile"],
    "/bin/dash": [".profile"],
    "/usr/bin/zsh": [".zshenv", ".zshrc", ".zprofile", ".zlogin"],
    "/usr/bin/fish": [".config/fish/config.fish"],
    "/bin/tcsh": [".tcshrc", ".login"],
}


def user_with(server, shell):
    try:
        return server.user(shell=shell)
    except Unusable as why:
        pytest.skip(str(why))


def check_whole_run(runs, **options):
    """A run with everything a run can have; what came back is complete."""
    files = {"data/input.txt": "grüße\n", "aml_config/conda_dependencies.yml": "name: x\ndependencies: []\n"}
    folder = runs.attached(WHOLE, files=files, **options)
    done = runs.submit(folder, "main.py", "it's $HOME; `x` \"q\" \\ *")
    assert done.code == 5, repr(done)
    assert done.out == f"user {runs.user.name}\nargument it's $HOME; `x` \"q\" \\ *\ngrüße\n\n"
    assert "to stderr\n" in done.err
    run = runs.last(folder)
    assert (run["status"], run["rate"], run["loss"]) == ("Failed", 0.5, [3, 2, 1]), run
    target = runs.scratch / "fetched"
    runs.tenon.run("history", "download", "-r", run["run_id"], "-d", str(target), cwd=folder).ok()
    [model] = target.rglob("model.bin")
    assert model.read_bytes() == bytes(range(256)) * 4096
    return folder


def test_a_whole_run_from_an_account_with_a_shell_and_python(far):
    folder = check_whole_run(far)
    # Once for attach; the connection is kept for all that follows.
    assert far.server.logins() == 1
    again = far.submit(folder, "main.py", "x")
    assert again.code == 5 and far.server.logins() == 1
    assert far.server.failed_passwords() == 0
    # Nothing but our own folder, and in it one runner.
    assert {p.name for p in far.user.home.iterdir()} - {".cache", ".azureml"} == {".tenon"}
    assert len(far.far_files("bin/tenon-runner-*")) == 1


def test_two_files_are_written_and_nothing_secret_is_in_them(far):
    folder = far.attached()
    compute = (folder / "aml_config/far.compute").read_text()
    how = (folder / "aml_config/far.runconfig").read_text()
    assert re.search(rf"^password: \"?AzureMlSecret=far#{far.user.name}#[0-9a-f]{{32}}\"?$", compute, re.M), compute
    assert re.search(r"^PrepareEnvironment: true$", how, re.M), how
    assert far.user.password not in compute + how


@pytest.mark.parametrize("shell", SHELLS)
def test_any_login_shell(far_on, sshd, shell):
    check_whole_run(far_on(sshd, user_with(sshd, shell)))


@pytest.mark.parametrize("shell", SHELLS)
def test_shells_that_talk_at_every_occasion(far_on, sshd_with, tmp_path, shell):
    banner = tmp_path / "banner"
    banner.write_text("tenon-runner 1 0.1.0\nAuthorised use only\n" * 20)
    server = sshd_with(Banner=str(banner), PrintMotd="yes")
    user = user_with(server, shell)
    for name in TALKERS[shell]:
        user.write(name, "echo '{\"error\": \"Welcome\"}'\necho tenon-agent\necho to stderr from a shell\n")
    check_whole_run(far_on(server, user))


def test_a_login_environment_reaches_the_script(far_on, sshd):
    user = sshd.user()
    user.write(".bash_profile", "echo hello\nexport FROM_PROFILE='a b'\nPATH=$HOME/tools:$PATH\n")
    user.write("tools/only-there", "#!/bin/sh\necho found\n", 0o755)
    runs = far_on(sshd, user)
    folder = runs.attached("import os, subprocess\nprint(os.environ['FROM_PROFILE'], flush=True)\n"
                           "print(subprocess.check_output('only-there', shell=True).decode(), end='')\n")
    done = runs.submit(folder).ok()
    assert done.out == "a b\nfound\n"


def test_setup_lines_run_before_the_script(far):
    folder = far.attached("import os\nprint(os.environ['MODULE'])\n", "--setup", "export MODULE=cuda-12", "--setup", "echo loading")
    assert far.submit(folder).ok().out == "cuda-12\n"
    far.tenon.run("computetarget", "detach", "-n", "far", "--yes", cwd=folder)


def test_a_login_script_that_hangs_is_no_obstacle(far_on, sshd):
    user = sshd.user()
    user.write(".bash_profile", "sleep 1000\n")
    runs = far_on(sshd, user)
    folder = runs.attached("print('ran')\n")
    assert runs.submit(folder).ok().out == "ran\n"
    runs.user.kill_processes()


@pytest.mark.parametrize("where", ["home", "tmp", "both"])
def test_noexec(far_on, sshd_with, where):
    """Programs may not be started from the home, from /tmp, from both."""
    mounts = ["mount --bind /tmp /tmp", "mount -o remount,bind,noexec /tmp"] if where != "home" else []
    server = sshd_with(mounts=mounts)
    user = server.user()
    if where != "tmp":
        user.mount_home(options="noexec")
    check_whole_run(far_on(server, user))


def test_noexec_everywhere_says_what_to_do(far_on, sshd_with):
    """No folder the user can write to lets programs start; a folder that does can be named."""
    places = ("/tmp", "/var/tmp", "/dev/shm", "/run")
    server = sshd_with(mounts=[f"mount --rbind {p} {p} && mount -o remount,bind,noexec {p}" for p in places])
    user = server.user()
    user.mount_home(options="noexec")
    runs = far_on(server, user)
    done = runs.attach(runs.project())
    assert done.code != 0 and "noexec" in done.err and "tenonDirectory" in done.err, repr(done)


def test_a_home_on_another_file_system(far_on, sshd):
    user = sshd.user()
    user.mount_home()
    check_whole_run(far_on(sshd, user))


def test_a_home_on_a_file_system_of_a_program(far_on, sshd):
    """As with network homes: no reflinks, no unnamed files, every call goes through somebody else."""
    user = sshd.user()
    try:
        user.mount_home_by_program()
    except Unusable as why:
        pytest.skip(str(why))
    check_whole_run(far_on(sshd, user))


def test_more_sessions_than_the_server_allows_on_a_connection(far_on, sshd_with):
    server = sshd_with(MaxSessions=1)
    runs = far_on(server)
    go = runs.user.home / "go"
    folder = runs.attached(waiter(go))
    watchers = [runs.start(folder) for _ in range(3)]
    for watcher in watchers:
        watcher.wait_for("begin")
    runs.user.write("go", "")
    assert [w.wait().code for w in watchers] == [0, 0, 0]


def test_no_folder_for_sockets_means_no_sharing_and_nothing_worse(far_on, sshd, tmp_path):
    runs = far_on(sshd)
    deep = tmp_path / ("d" * 90) / ("e" * 90)
    deep.mkdir(parents=True)
    runs.tenon.home = deep / "tenon-home"
    env = {"XDG_RUNTIME_DIR": None, "TMPDIR": str(deep)}
    folder = runs.project("print('ran')\n")
    runs.attach(folder, env=env).ok()
    assert runs.submit(folder, env=env).ok().out == "ran\n"


def test_a_forced_shell_that_is_none_is_told_plainly(far_on, sshd):
    runs = far_on(sshd, sshd.user(shell="/usr/sbin/nologin"))
    folder = runs.project()
    done = runs.attach(folder)
    assert done.code != 0 and ("nologin" in done.err + done.out or "not available" in done.err), repr(done)
    assert not (folder / "aml_config/far.compute").exists()


def test_a_key_instead_of_a_password(far, tmp_path):
    key = tmp_path / "key"
    far.user.authorize(make_key(key))
    folder = far.project("print('ran')\n")
    far.tenon.run("computetarget", "attach", "remote", "-n", "far", "-a", f"127.0.0.1:{far.server.port}", "-u", far.user.name,
                  "--private-key-file", key, "--host-key", far.server.fingerprint, "--framework", "Python", cwd=folder).ok()
    compute = (folder / "aml_config/far.compute").read_text()
    assert f"port: {far.server.port}" in compute and "address: 127.0.0.1\n" in compute.replace('"', "")
    assert far.submit(folder).ok().out == "ran\n"
    assert far.server.count("Accepted publickey") >= 1


def test_a_warm_submit_takes_two_turns(far_on, sshd):
    """What goes back and forth before the script's first output, counted on the link. Opening a channel and starting a program
    in it take `ssh` two already."""
    with Proxy(sshd.port) as proxy:
        runs = far_on(sshd, port=proxy.port)
        folder = runs.attached("print('x')\n")
        runs.submit(folder).ok()
        (folder / "main.py").write_text("import time\nprint('y', flush=True)\ntime.sleep(3)\n")
        proxy.delay = 0.05
        turns = []
        for _ in range(2):  # a client that has to wait for its turn may be answered in between
            proxy.reset_counts()
            watcher = runs.start(folder)
            wait_until(lambda: watcher.out, 30, "output")
            turns.append(proxy.turns)
            assert watcher.wait().out == "y\n"
            assert proxy.connections == 0, "the kept connection was not used"
        runs.tenon.cleanup()
    assert min(turns) <= 4, turns


def test_cancel_ends_the_script_on_the_other_machine(far):
    folder = far.attached(SLEEPER)
    watcher = far.start(folder)
    watcher.wait_for("begin")
    done = far.tenon.run("cancel", "last", "--grace", "1s", cwd=folder).ok()
    assert "Canceled" in done.out and "processes left: 0" in done.out
    assert watcher.wait().code == 143
    wait_until(lambda: not far.runners(), what="the end of the runner")


def test_outputs_that_cannot_be_read_and_names_as_long_as_can_be(far, tmp_path):
    folder = far.attached("""
import os
long = "outputs/" + "c" * 255
for name in ("outputs/model", "outputs/secret", long): open(name, "w").write(name[:10])
os.mkdir("outputs/closed"); open("outputs/closed/in [it]", "w").write("in")
os.chmod("outputs/secret", 0); os.chmod("outputs/closed", 0)
""")
    far.submit(folder).ok()
    assert all(name in far.last(folder)["attachments"] for name in ("outputs/model", "outputs/secret", "outputs/closed/in [it]"))
    far.tenon.run("history", "download", "-r", "last", "-d", tmp_path / "got", cwd=folder).ok()
    assert (tmp_path / "got/outputs/secret").read_text() == "outputs/se"
    assert (tmp_path / "got/outputs/closed/in [it]").read_text() == "in"
    assert (tmp_path / "got/outputs" / ("c" * 255)).exists()


def test_what_is_kept_on_the_host_is_listed_and_cleaned(far):
    folder = far.attached("open('outputs/big', 'wb').write(b'x' * 3_000_000)\n")
    far.submit(folder).ok()
    wait_until(lambda: not far.runners(), what="the end of the runner")
    shown = far.tenon.json("host", "show", "far", "-o", "json", cwd=folder)
    assert far.last(folder)["run_id"] in json.dumps(shown)
    far.tenon.run("host", "list", cwd=folder).ok()
    assert far.far_runs()
    far.tenon.run("host", "clean", "far", "--all", "--yes", cwd=folder).ok()
    assert far.far_runs() == []
    assert far.last(folder)["status"] == "Completed"
