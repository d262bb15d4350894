# SPDX-License-Identifier: Apache-2.0
"""Runs in containers from a user's side, with a real engine: what a script finds, what comes back, what is left behind."""

import json
import os
import re
import resource
import signal
import time

import pytest

from e2e import forwards
from e2e.harness import wait_until
from hosts.docker_runs import SLEEPER

pytestmark = pytest.mark.planned_skip("needs root, and docker.io, debootstrap and busybox-static installed")


def artifact(runs, folder, path):
    return runs.tenon.run("history", "info", "-r", "last", "--artifact", path, cwd=folder).ok().out


def test_exit_code_is_the_scripts(runs):
    folder = runs.project("import sys; print('out'); print('err', file=sys.stderr); sys.exit(int(sys.argv[1]))\n")
    for code in (0, 7, 255):
        done = runs.submit(folder, "main.py", code)
        assert done.code == code, repr(done)
        assert done.out == "out\n" and "err\n" in done.err
    listed = runs.tenon.json("history", "list", "-o", "json", cwd=folder)
    assert [r["status"] for r in listed] == ["Failed", "Failed", "Completed"]
    assert {r["target"] for r in listed} == {"docker"}


NASTY = r"""
import os
os.write(1, b"\x1b[31mred\x1b[0m\r 50%\r100%\n\x00NUL\xff\xfe\xc3\x28 bad utf8\n" + bytes(range(256)) * 400)
os.write(2, b"err \x80\x81\n")
os.write(1, b"no newline at the end")
"""


def test_bytes_of_the_output_are_exact(runs):
    folder = runs.project(NASTY)
    wanted = (b"\x1b[31mred\x1b[0m\r 50%\r100%\n\x00NUL\xff\xfe\xc3\x28 bad utf8\n" + bytes(range(256)) * 400
              + b"no newline at the end")
    assert runs.submit(folder).ok().out_bytes == wanted
    assert runs.tenon.run("logs", "last", "--raw", "stdout", cwd=folder).out_bytes == wanted
    assert runs.tenon.run("logs", "last", "--raw", "stderr", cwd=folder).out_bytes == b"err \x80\x81\n"


ENVIRONMENT = """
import json, os, pwd, sys, tempfile
told = {"cwd": os.getcwd(), "uid": os.getuid(), "gid": os.getgid(), "argv": sys.argv[1:], "home": os.environ.get("HOME"),
        "name": pwd.getpwuid(os.getuid()).pw_name, "passwd_home": pwd.getpwuid(os.getuid()).pw_dir,
        "variables": {k: os.environ.get(k) for k in ("FROM_FILE", "FROM_OPTION", "FROM_IMAGE", "XDG_CACHE_HOME")},
        "files": os.listdir("."), "config": os.listdir("aml_config"), "outputs": os.path.isdir("outputs")}
for folder in (os.environ["HOME"], tempfile.gettempdir(), "outputs", ".", os.environ["XDG_CACHE_HOME"]):
    os.makedirs(folder, exist_ok=True)
    open(os.path.join(folder, "probe"), "w").close()
print(json.dumps(told))
"""


def environment_of(runs, image, **options):
    folder = runs.project(ENVIRONMENT, image=image, files={"data/x.txt": "x"},
                          runconfig={"EnvironmentVariables": {"FROM_FILE": "f"}}, **options)
    done = runs.submit(folder, "--env", "FROM_OPTION=o", "main.py", "a b", "--c").ok()
    told = json.loads(done.out)
    assert told["cwd"] == "/azureml-run"
    assert told["argv"] == ["a b", "--c"] and told["outputs"]
    assert {"aml_config", "data", "main.py", "outputs"} <= set(told["files"])
    assert told["variables"]["FROM_FILE"] == "f" and told["variables"]["FROM_OPTION"] == "o"
    assert told["home"] == "/home/tenon" and told["passwd_home"] == ("/home/tenon" if told["uid"] else "/root")
    assert "conda_dependencies.yml" in told["config"] and not [n for n in told["config"] if n.endswith(".compute")]
    return told


def test_script_runs_as_the_submitting_user_with_a_home(plain_user):
    runs = plain_user
    told = environment_of(runs, runs.image())
    assert (told["uid"], told["gid"]) == (runs.tenon.uid, runs.tenon.uid)


def test_image_whose_home_is_unset(plain_user):
    image = plain_user.derived("home-unset", ["ENV HOME=", "ENV FROM_IMAGE=i"])
    assert environment_of(plain_user, image)["variables"]["FROM_IMAGE"] == "i"


def test_image_whose_user_is_another_one(plain_user):
    image = plain_user.derived("other-user", ["USER 1234:1234", "ENV HOME=/nonexistent", "WORKDIR /nowhere",
                                              'ENTRYPOINT ["/bin/false"]'])
    assert environment_of(plain_user, image)["uid"] == plain_user.tenon.uid


def test_read_only_root(plain_user):
    told = environment_of(plain_user, plain_user.image(), compute={"readOnlyRoot": True})
    assert told["uid"] == plain_user.tenon.uid


def test_root_can_not_write_on_a_read_only_root(runs):
    folder = runs.project("open('/usr/x', 'w')\n", compute={"readOnlyRoot": True})
    done = runs.submit(folder)
    assert done.code == 1 and "Read-only file system" in done.err, repr(done)


NO_SHELL = ["python3", "-c", "import os\nfor n in os.listdir('/bin'):\n  if n.endswith('sh'): os.remove('/bin/' + n)"]


def test_image_without_a_shell(plain_user):
    image = plain_user.derived("no-shell", command=NO_SHELL)
    assert environment_of(plain_user, image)["uid"] == plain_user.tenon.uid


def test_project_whose_name_no_engine_takes(runs):
    """A run id may have letters that a container's name may not; the label has it as it is."""
    folder = runs.project("print('ok')", name="Gr\u00f6\u00dfe & mehr")
    assert runs.submit(folder).ok().out == "ok\n"
    assert runs.last(folder)["run_id"].startswith("Gr\u00f6\u00dfe")


BUSYBOX = """
echo "args $*"
echo kept > outputs/x.txt
pwd; id -u
exit 3
"""


def test_shell_script_on_a_busybox_root(plain_user):
    """No glibc, no passwd file, no Python."""
    folder = plain_user.project(BUSYBOX, image=plain_user.image("busybox"), script_name="main.sh")
    done = plain_user.submit(folder, "main.sh", "a", "b c")
    assert done.code == 3, repr(done)
    assert done.out == f"args a b c\n/azureml-run\n{plain_user.tenon.uid}\n"
    assert artifact(plain_user, folder, "outputs/x.txt") == "kept\n"


@pytest.mark.parametrize("image", ["busybox", "single"])
def test_image_without_python_is_a_clear_error(runs, image):
    folder = runs.project("print('x')\n", image=runs.image(image))
    done = runs.submit(folder)
    assert done.code == 125, repr(done)
    assert runs.image(image) in done.err and "Python" in done.err
    assert runs.last(folder)["status"] == "Failed"


def test_outputs_belong_to_the_user(plain_user):
    runs = plain_user
    script = "import os\nos.makedirs('outputs/deep/er')\nopen('outputs/deep/er/x.bin', 'wb').write(b'1' * 100000)\n"
    folder = runs.project(script)
    runs.submit(folder, "--keep", "main.py").ok()
    assert not runs.of_others()
    assert any(p.name == "x.bin" for p in runs.tenon.home.rglob("*"))
    runs.tenon.run("history", "download", "-r", "last", "-p", "outputs/deep/er/x.bin", "-d", "back", cwd=folder)
    assert artifact(runs, folder, "outputs/deep/er/x.bin") == "1" * 100000


COPIED = """
import os, stat
print(open("data/in.txt").read(), os.readlink("link"), bool(os.stat("tool.sh").st_mode & stat.S_IXUSR), os.getcwd())
print([line for line in open("/proc/self/mounts") if line.split()[1] == "/azureml-run"])
os.makedirs("outputs/a/b", exist_ok=True)
open("outputs/a/b/out.bin", "wb").write(b"z" * 3000000)
os.symlink("b/out.bin", "outputs/a/link")
open("outputs/empty", "w").close()
from azureml.logging import get_azureml_logger
get_azureml_logger().log("score", 4.5)
"""


@pytest.mark.parametrize("code", [0, 9])
def test_without_shared_volumes_the_project_is_copied_in_and_outputs_out(plain_user, code):
    runs = plain_user
    folder = runs.project(COPIED + f"raise SystemExit({code})\n", compute={"sharedVolumes": False}, files={"data/in.txt": "in"})
    os.symlink("data/in.txt", folder / "link")
    (folder / "tool.sh").write_text("#!/bin/sh\n")
    (folder / "tool.sh").chmod(0o755)
    done = runs.submit(folder)
    assert done.code == code, repr(done)
    assert done.out == "in data/in.txt True /azureml-run\n[]\n"
    assert len(artifact(runs, folder, "outputs/a/b/out.bin")) == 3000000
    run = runs.last(folder)
    assert run["score"] == 4.5
    assert {"outputs/a/b/out.bin", "outputs/empty"} <= set(run["attachments"].split(", "))


SHARE = """
import os
share = os.environ["AZUREML_NATIVE_SHARE_DIRECTORY"]
path = share + "count.txt"
seen = open(path).read() if os.path.exists(path) else ""
open(path, "w").write(seen + "x")
print(share, seen)
"""


def test_shared_folder_is_the_same_for_every_run(plain_user):
    runs = plain_user
    native = runs.scratch / "share"
    folder = runs.project(SHARE, compute={"nativeSharedDirectory": str(native)})
    runs.submit(folder).ok()
    runs.submit(folder).ok()
    share, seen = runs.submit(folder).ok().out.split()
    assert share.startswith("/azureml-share/") and share.endswith("/") and seen == "xx"
    kept = native / "proj" / "count.txt"
    assert kept.read_text() == "xxx" and kept.stat().st_uid == runs.tenon.uid


def test_share_without_volumes_is_left_out_with_a_notice(runs):
    folder = runs.project("import os\nprint(os.environ.get('AZUREML_NATIVE_SHARE_DIRECTORY'))\n",
                          compute={"nativeSharedDirectory": str(runs.scratch / "share"), "sharedVolumes": False})
    done = runs.submit(folder).ok()
    assert done.out == "None\n"
    assert "nativeSharedDirectory" in done.err and "sharedVolumes" in done.err


NO_NETWORK = """
import os
from azureml.logging import get_azureml_logger
log = get_azureml_logger()
print(sorted(os.listdir("/sys/class/net")))
for i in range(10000): log.log("loss", i / 2)
assert log.log("last", 1.5).wait(120)
"""


def test_metrics_without_any_network(plain_user):
    folder = plain_user.project(NO_NETWORK, compute={"network": "none"})
    assert plain_user.submit(folder).ok().out == "['lo']\n"
    run = plain_user.last(folder)
    assert run["loss"] == 4999.5 and run["last"] == 1.5
    points = plain_user.tenon.run("metrics", "last", "loss", "--csv", cwd=folder).ok().out
    assert points.count("\n") == 10001


def test_metrics_of_a_killed_script_survive(runs):
    folder = runs.project("""
import os, signal
from azureml.logging import get_azureml_logger
log = get_azureml_logger()
for i in range(5000): log.log("loss", i)
os.kill(os.getpid(), signal.SIGKILL)
""")
    done = runs.submit(folder)
    assert done.code == 137
    run = runs.last(folder)
    assert run["loss"] == 4999 and "signal 9" in run["properties"]["Reason"]


STUBBORN = """
import os, signal, time
for n in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(n, signal.SIG_IGN)
for i in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(600)
        os._exit(0)
open("outputs/partial.txt", "w").write("kept")
print("ready", flush=True)
time.sleep(600)
"""


def test_cancel_ends_all_and_keeps_what_is_there(runs):
    folder = runs.project(STUBBORN)
    watcher = runs.start(folder)
    watcher.wait_for("ready")
    container = runs.container()
    done = runs.tenon.run("cancel", "last", "--grace", "1s", cwd=folder)
    assert done.code == 0 and "processes left: 0" in done.out, repr(done)
    assert watcher.wait().code == 143
    run = runs.last(folder)
    assert run["status"] == "Canceled" and "outputs/partial.txt" in run["attachments"]
    assert runs.api.inspect(container["Id"]) is None


def test_script_that_goes_when_asked_is_not_killed(runs):
    folder = runs.project("""
import signal, sys, time
def bye(*_):
    open("outputs/bye.txt", "w").write("bye")
    sys.exit(5)
signal.signal(signal.SIGTERM, bye)
print("ready", flush=True)
time.sleep(600)
""")
    watcher = runs.start(folder)
    watcher.wait_for("ready")
    runs.tenon.run("cancel", "last", "--grace", "60s", cwd=folder).ok()
    assert watcher.wait().code == 143
    assert artifact(runs, folder, "outputs/bye.txt") == "bye"


def test_timeout(runs):
    folder = runs.project(SLEEPER)
    done = runs.submit(folder, "--timeout", "2s", "--grace", "1s", "main.py")
    assert done.code == 124, repr(done)
    run = runs.last(folder)
    assert run["status"] == "Failed" and "timed out" in run["properties"]["Reason"]


def test_detached_run_is_followed_to_its_end(runs):
    go = runs.scratch / "share" / "proj" / "go"
    folder = runs.project("""
import os, time
print("begin", flush=True)
while not os.path.exists(os.environ["AZUREML_NATIVE_SHARE_DIRECTORY"] + "go"): time.sleep(0.02)
print("end")
""", compute={"nativeSharedDirectory": str(runs.scratch / "share")})
    answer = runs.submit(folder, "-a", "main.py").ok()
    run_id = re.search(r"proj_\d+", answer.out).group()
    wait_until(lambda: "begin" in runs.tenon.run("logs", run_id, cwd=folder).out, 60, "the script's first line")
    assert runs.container()["Config"]["Labels"]["tenon.run"] == run_id
    assert runs.container()["Name"] == f"/tenon-{run_id}"
    assert [r["run_id"] for r in runs.tenon.json("ps", "-o", "json", cwd=folder)] == [run_id]
    follower = runs.tenon.start("logs", "-f", run_id, cwd=folder)
    go.touch()
    assert follower.wait().out == "begin\nend\n"
    assert runs.last(folder)["status"] == "Completed"


def test_secret_reaches_the_script_and_nothing_else(runs):
    folder = runs.project("import os\nprint('value', os.environ['TOKEN'], len(os.environ['TOKEN']))\n")
    done = runs.submit(folder, "--secret", "TOKEN", "main.py", env={"TOKEN": "hunter2-canary"}).ok()
    assert "hunter2" not in done.out + done.err and done.out.endswith(" 14\n")
    assert not runs.tenon.processes_left()
    assert not [p for p in runs.tenon.home.rglob("*") if p.is_file() and b"hunter2-canary" in p.read_bytes()]


LIMITS = """
import json, os, resource, time
shm = os.statvfs("/dev/shm")
print(json.dumps({"shm": shm.f_blocks * shm.f_frsize, "nofile": resource.getrlimit(resource.RLIMIT_NOFILE),
                  "memlock": resource.getrlimit(resource.RLIMIT_MEMLOCK)}), flush=True)
if os.environ.get("WAIT"): time.sleep(600)
"""


def test_limits_of_the_target_file(runs):
    # An engine that may not raise its own limits can't raise those of a container.
    locked = resource.getrlimit(resource.RLIMIT_MEMLOCK)[1]
    compute = {"shmSize": "300m", "memory": "900m", "cpus": 1.5, "ulimits": ["nofile=1234:2345", f"memlock={locked}"]}
    folder = runs.project(LIMITS, compute=compute)
    watcher = runs.start(folder, "--env", "WAIT=1", "main.py")
    watcher.wait_for("memlock")
    told = json.loads(watcher.out)
    host = runs.container()["HostConfig"]
    runs.tenon.run("cancel", "last", "--grace", "0s", cwd=folder).ok()
    watcher.wait()
    assert told["shm"] in (300_000_000, 300 << 20)
    assert told["nofile"] == [1234, 2345] and told["memlock"] == [locked, locked]
    assert host["Memory"] in (900_000_000, 900 << 20) and host["NanoCpus"] == 1_500_000_000
    assert host["ShmSize"] == told["shm"]


def test_shared_memory_is_enough_for_data_loaders(runs):
    folder = runs.project(LIMITS)
    assert json.loads(runs.submit(folder).ok().out)["shm"] >= 1 << 30


def test_out_of_memory_is_told_from_other_kills_with_the_peak(runs):
    folder = runs.project("block = []\nwhile True: block.append(bytearray(1 << 20))\n", compute={"memory": "96m"})
    done = runs.submit(folder)
    assert done.code == 137, repr(done)
    run = runs.last(folder)
    assert run["status"] == "Failed"
    reason = run["properties"]["Reason"].lower()
    assert "out of memory" in reason and re.search(r"\d+(\.\d+)? [mg]i?b", reason), reason


def test_container_kept_on_fail_can_be_entered(runs):
    folder = runs.project("open('/tmp/trace', 'w').write('evidence')\nraise SystemExit(4)\n")
    done = runs.submit(folder, "--keep-on-fail", "main.py")
    assert done.code == 4 and "tenon exec" in done.err, repr(done)
    look = runs.tenon.run("exec", "last", "--", "cat", "/tmp/trace", cwd=folder)
    assert (look.code, look.out) == (0, "evidence"), repr(look)
    assert runs.tenon.run("exec", "last", "--", "sh", "-c", "exit 9", cwd=folder).code == 9
    shell = runs.tenon.pty("shell", "last", cwd=folder, keys=b"cat /tmp/trace; exit 6\n")
    assert shell.code == 6 and "evidence" in shell.out
    runs.tenon.run("experiment", "clean", "-t", "docker", cwd=folder).ok()
    assert runs.engine.leftovers() == []


def test_container_is_not_kept_after_success(runs):
    folder = runs.project("print('fine')\n")
    runs.submit(folder, "--keep-on-fail", "main.py").ok()
    assert runs.engine.leftovers() == []


def test_exec_enters_a_live_run(plain_user):
    runs = plain_user
    folder = runs.project("import time\nopen('here.txt', 'w').write('live')\nprint('ready', flush=True)\ntime.sleep(600)\n")
    watcher = runs.start(folder)
    watcher.wait_for("ready")
    look = runs.tenon.run("exec", "last", "--", "sh", "-c", "cat here.txt; id -u; pwd", cwd=folder)
    assert (look.code, look.out) == (0, f"live{runs.tenon.uid}\n/azureml-run\n"), repr(look)
    assert runs.tenon.run("exec", "last", "--", "/no/such/program", cwd=folder).code in (126, 127)
    runs.tenon.run("cancel", "last", "--grace", "0s", cwd=folder).ok()
    assert watcher.wait().code == 143
    over = runs.tenon.run("exec", "last", "--", "true", cwd=folder)
    assert over.code != 0 and over.err


def test_forward_reaches_what_listens_inside_alone(plain_user):
    forwards.check(plain_user, plain_user.project(forwards.SERVER))


def test_forward_reaches_a_container_without_network(runs):
    forwards.check(runs, runs.project(forwards.SERVER, compute={"network": "none"}))


def test_exec_enters_the_folder_of_a_local_run(tenon, project):
    folder = project("import time\nopen('here.txt', 'w').write('live')\nprint('ready', flush=True)\ntime.sleep(600)\n")
    watcher = tenon.start("submit", "main.py", cwd=folder)
    watcher.wait_for("ready")
    look = tenon.run("exec", "last", "--", "cat", "here.txt", cwd=folder)
    assert (look.code, look.out) == (0, "live"), repr(look)
    tenon.run("cancel", "last", "--grace", "0s", cwd=folder).ok()
    watcher.wait()


DAMAGE = """
import os, shutil, sys
print("before", flush=True)
for line in open("/proc/self/mounts"):
    place = line.split()[1]
    if place in ("/", "/proc", "/dev", "/sys") or place.startswith(("/proc/", "/sys/", "/dev/")): continue
    for parent, folders, files in os.walk(place, topdown=False):
        for name in files:
            try:
                with open(os.path.join(parent, name), "r+b") as f: f.truncate(0); f.write(b"junk")
            except OSError: pass
            try: os.remove(os.path.join(parent, name))
            except OSError: pass
        for name in folders:
            shutil.rmtree(os.path.join(parent, name), ignore_errors=True)
try:
    for name in os.listdir("/proc/1/fd"):
        try:
            with open("/proc/1/fd/" + name, "r+b") as f: f.truncate(0)
        except OSError: pass
except OSError: pass
print("after", flush=True)
os._exit(8)
"""


@pytest.mark.parametrize("who", ["root", "user"])
def test_script_can_not_damage_the_record(request, who):
    """It destroys every file it can reach; its output and exit code are on record all the same."""
    runs = request.getfixturevalue("runs" if who == "root" else "plain_user")
    folder = runs.project(DAMAGE)
    done = runs.submit(folder)
    assert (done.code, done.out) == (8, "before\nafter\n"), repr(done)
    assert runs.last(folder)["status"] == "Failed"
    assert runs.tenon.run("logs", "last", cwd=folder).out == "before\nafter\n"
    assert runs.submit(runs.project("print('still works')\n", name="second")).ok().out == "still works\n"


def test_clean_sweeps_what_others_left_of_this_home_only(runs):
    folder = runs.project("print('x')\n")
    runs.submit(folder).ok()
    run_id = runs.last(folder)["run_id"]
    ids = {}
    for whose, home in (("mine", runs.tenon.home), ("foreign", "/somewhere/else")):
        labels = {"tenon.run": run_id, "tenon.kind": "run", "tenon.home": str(home), "tenon.key": "0" * 32}
        ids[whose] = runs.api.json("POST", "/containers/create",
                                   {"Image": runs.image(), "Cmd": ["sleep", "600"], "Labels": labels})["Id"]
    runs.tenon.run("experiment", "clean", "-t", "docker", cwd=folder).ok()
    assert runs.api.inspect(ids["mine"]) is None
    assert runs.api.inspect(ids["foreign"]) is not None
    runs.leaves_something = True


def test_rerun_and_client_killed(runs):
    """The client's death is nobody's affair; a later run from the same snapshot has the same files."""
    folder = runs.project("import time\nprint(open('data.txt').read(), flush=True)\ntime.sleep(1)\nprint('end')\n",
                          files={"data.txt": "first"})
    watcher = runs.start(folder)
    watcher.wait_for("first")
    watcher.send(signal.SIGKILL)
    watcher.wait()
    assert runs.tenon.run("logs", "-f", "last", cwd=folder).out == "first\nend\n"
    (folder / "data.txt").write_text("second")
    assert runs.tenon.run("rerun", "last", cwd=folder, timeout=120).ok().out == "first\nend\n"
    assert [r["status"] for r in runs.tenon.json("history", "list", "-o", "json", cwd=folder)] == ["Completed"] * 2


def test_twenty_containers_at_once(runs):
    folder = runs.project("""
import sys
from azureml.logging import get_azureml_logger
get_azureml_logger().log("value", int(sys.argv[1]))
print("n", sys.argv[1])
""")
    watchers = [runs.start(folder, "main.py", str(n)) for n in range(20)]
    for n, watcher in enumerate(watchers):
        done = watcher.wait(timeout=240)
        assert (done.code, done.out) == (0, f"n {n}\n"), repr(done)
    listed = runs.tenon.json("history", "list", "-o", "json", cwd=folder)
    assert sorted(r["value"] for r in listed) == list(range(20))
    started = time.monotonic()
    while runs.engine.leftovers() and time.monotonic() < started + 30:
        time.sleep(0.05)
