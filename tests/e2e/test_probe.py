# SPDX-License-Identifier: Apache-2.0
"""What a machine tells about itself (docs/runner.md § probe), and reaching an engine as root."""

import contextlib
import hashlib
import json
import os
import shutil
import socket
import subprocess
import threading
import time

import pytest

from e2e.runner_harness import Runner

RC_FILES = {"bash": ".bash_profile", "dash": ".profile", "sh": ".profile", "zsh": ".zprofile", "tcsh": ".login",
            "fish": ".config/fish/config.fish"}


@pytest.fixture
def runner(tmp_path):
    made = Runner(tmp_path / "root" / "host", tmp_path)
    yield made
    assert not made.cleanup()


def probe(runner, shell, rc="", **env):
    runner.extra_env = {"HOME": str(runner.scratch), "SHELL": shell, **env}
    file = runner.scratch / RC_FILES[os.path.basename(shell)]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(rc)
    return runner.ask("probe", {"home": str(runner.home)})


def test_tells_the_machine(runner):
    told = probe(runner, "/bin/sh")
    assert told["machine"] == os.uname().machine and told["kernel"] == os.uname().release
    assert told["cpus"] >= 1 and told["memory_bytes"] > 1 << 20
    assert 0 < told["disk_free_bytes"] <= told["disk_total_bytes"]
    assert told["os"] and told["boot_id"] and told["user_home"] == str(runner.scratch)
    assert {e["kind"] for e in told["engines"]} == {"docker", "podman"}
    assert all(e["how"] in ("direct", "sudo", "none") and (e["how"] != "none" or e["problem"]) for e in told["engines"])
    assert any(p["version"].startswith("3.") for p in told["pythons"])
    assert told["kills_at_logout"] in ("yes", "no", "unknown") and told["kills_reason"]


@pytest.mark.planned_skip("needs the shell")
@pytest.mark.parametrize("shell", RC_FILES)
def test_reads_the_login_environment_of_any_shell(runner, shell):
    path = shutil.which(shell)
    if not path:
        pytest.skip(f"{shell} is not installed")
    say = "setenv MODULES 'from the login'" if shell == "tcsh" else "export MODULES='from the login'"
    if shell == "fish":
        say = "if status is-login\n  set -gx MODULES 'from the login'\nend"
    told = probe(runner, path, f"echo welcome to this machine\n{say}\n", SSH_TTY="/dev/pts/3", DISPLAY=":0", KEPT="yes")
    variables = told["login_environment"]
    assert told["login_problem"] == ""
    assert variables["MODULES"] == "from the login" and variables["KEPT"] == "yes"
    assert not {"SSH_TTY", "DISPLAY", "SHLVL", "_", "PWD", "TERM"} & set(variables)
    assert not [name for name in variables if name.startswith("TENON_")]


def test_a_path_that_shells_read_differently_is_no_obstacle(runner, tmp_path):
    odd = tmp_path / "it's a $HOME! `x` \\ \"folder\""
    odd.mkdir()
    shutil.copy(runner.binary, odd / "tenon-runner")
    runner.binary = odd / "tenon-runner"
    for shell in ("bash", "dash", "tcsh", "fish", "zsh"):
        if not shutil.which(shell):
            continue
        told = probe(runner, shutil.which(shell))
        assert told["login_problem"] == "" and told["login_environment"], shell


def test_a_login_that_fails_is_told_and_no_obstacle(runner):
    told = probe(runner, "/bin/bash", "echo 'quota exceeded' >&2; exit 7\n", KEPT="yes")
    assert "exit code 7" in told["login_problem"] and "quota exceeded" in told["login_problem"]
    assert told["login_environment"]["KEPT"] == "yes"
    runner.extra_env["SHELL"] = "/nowhere/bash"
    assert "/nowhere/bash" in runner.ask("probe", {"home": str(runner.home)})["login_problem"]


def test_a_login_that_hangs_is_ended(runner):
    told = probe(runner, "/bin/bash", "sleep 600\n")
    assert "10 s" in told["login_problem"]


def test_what_a_login_leaves_running_is_no_obstacle(runner):
    told = probe(runner, "/bin/bash", "sleep 600 &\nexport MODULES=yes\n")
    assert told["login_environment"]["MODULES"] == "yes" and told["login_problem"] == ""


def test_check_knows_its_own_bytes(runner):
    right = hashlib.sha256(runner.binary.read_bytes()).hexdigest()
    for words, code in ((right, 0), ("0" * 64, 1), ("", 1)):
        done = subprocess.run([runner.binary, "check", words], capture_output=True, check=False)
        assert (done.returncode, done.stdout) == (code, b"")


@contextlib.contextmanager
def engine_at(path):
    """Something that answers like an engine when it is asked for its version."""
    body = json.dumps({"Version": "99.1", "ApiVersion": "1.41", "MinAPIVersion": "1.12"}).encode()
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    os.chmod(path, 0o600)
    server.listen(16)

    def serve(client):
        with client:
            asked = b""
            while b"\r\n\r\n" not in asked:
                piece = client.recv(4096)
                if not piece:
                    return
                asked += piece
            client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            while client.recv(4096):
                pass

    def accept():
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        os.unlink(path)


def test_dial_joins_both_directions(runner, tmp_path):
    with engine_at(tmp_path / "s"):
        done = subprocess.run([runner.binary, "dial", tmp_path / "s"], input=b"GET /version HTTP/1.1\r\n\r\n", capture_output=True,
                              timeout=30, check=False)
        assert done.returncode == 0 and done.stdout.endswith(b'"1.12"}')
        idle = subprocess.Popen([runner.binary, "dial", tmp_path / "s"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        idle.stdin.close()
        assert idle.wait(30) == 0
        idle.stdout.close()
    done = subprocess.run([runner.binary, "dial", tmp_path / "s"], capture_output=True, check=False)
    assert done.returncode == 1 and b"/s" in done.stderr


@pytest.fixture
def outsider(sshd):
    """A user who may not use the engine's socket, with a runner of the user's own."""
    if not shutil.which("sudo"):
        pytest.skip("there is no sudo")
    return sshd.user()


def ask_as(user, binary, verb, request, **env):
    program = user.home / "tenon-runner"
    if not program.exists():
        shutil.copy(binary, program)
        os.chmod(program, 0o755)
    words = ["setpriv", f"--reuid={user.uid}", f"--regid={user.gid}", "--clear-groups", str(program), verb]
    done = subprocess.run(words, input=json.dumps({"protocol": 1, **request}).encode(), capture_output=True, timeout=120, check=False,
                          cwd="/", env={"PATH": os.environ["PATH"], "HOME": str(user.home), "USER": user.name, "SHELL": "/bin/sh", **env})
    return json.loads(done.stdout.decode().splitlines()[1])


@contextlib.contextmanager
def sudo_rule(user, rule="NOPASSWD: ALL"):
    path = f"/etc/sudoers.d/{user.name}"
    with open(path, "w", encoding="ascii") as file:
        file.write(f"{user.name} ALL=(root) {rule}\n")
    os.chmod(path, 0o440)
    try:
        yield
    finally:
        os.unlink(path)


@pytest.mark.planned_skip("needs root to make users, and sudo")
def test_an_engine_is_reached_through_sudo_where_it_is_closed(outsider, runner, sshd):
    where = sshd.folder / "engine.sock"
    request = {"home": str(outsider.home / "host")}
    environment = {"DOCKER_HOST": f"unix://{where}"}
    with engine_at(where):
        engine = ask_as(outsider, runner.binary, "probe", request, **environment)["engines"][0]
        assert engine["how"] == "none"
        assert "group docker" in engine["problem"] and "sudo" in engine["problem"]
        with sudo_rule(outsider):
            engine = ask_as(outsider, runner.binary, "probe", request, **environment)["engines"][0]
            assert (engine["how"], engine["version"], engine["problem"]) == ("sudo", "99.1", "")
            # Nothing of it stays behind.
            deadline = time.monotonic() + 20
            while subprocess.run(["pgrep", "-f", str(where)], capture_output=True, check=False).stdout and time.monotonic() < deadline:
                time.sleep(0.05)
            assert not subprocess.run(["pgrep", "-f", str(where)], capture_output=True, check=False).stdout


@pytest.mark.planned_skip("needs root to make users, and sudo")
def test_a_closed_engine_says_what_was_tried_and_what_to_do(outsider, runner, sshd):
    where = sshd.folder / "engine.sock"
    home = outsider.home / "host"
    with engine_at(where):
        told = ask_as(outsider, runner.binary, "sweep", {"home": str(home), "runs": [], "all": True, "dry_run": True},
                      DOCKER_HOST=f"unix://{where}")
        assert "not open to this user" in told["kept"][0]["why"]
