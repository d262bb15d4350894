# SPDX-License-Identifier: Apache-2.0
"""A target that leads to another account or another folder on its machine than before: the new place works at once, and runs of
before are still watched and canceled where they are."""

import pytest

from e2e.harness import wait_until
from hosts.ssh_runs import waiter

pytestmark = pytest.mark.planned_skip("needs root and openssh-server")


@pytest.fixture
def going(far):
    """The folder of a project and the id of a run of it that goes on."""
    folder = far.attached(waiter(far.user.home / "go"))
    run_id = far.submit(folder, "-a", "main.py").ok().out.strip()
    wait_until(far.runners, 30, "the runner")
    return folder, run_id


def ended_there(far, folder, run_id):
    """Canceled to the last process, by whoever looks for it now."""
    assert "Running" in far.tenon.run("status", run_id, cwd=folder).ok().out
    done = far.tenon.run("cancel", run_id, "--grace", "1s", cwd=folder).ok()
    wait_until(lambda: not far.runners(), 30, "the runner to be gone")
    return "processes left: 0" in done.out


@pytest.mark.parametrize("how", ["update", "by hand"])
def test_another_folder_there(far, going, how):
    folder, run_id = going
    elsewhere = far.user.home / "elsewhere"
    if how == "update":
        far.tenon.run("computetarget", "update", "far", "--tenonDirectory", elsewhere, cwd=folder).ok()
    else:
        compute = folder / "aml_config/far.compute"
        compute.write_text(compute.read_text() + f"tenonDirectory: {elsewhere}\n")
    (folder / "quick.py").write_text("print('ran')\n")
    assert far.submit(folder, "quick.py").ok().out == "ran\n"
    assert list(elsewhere.glob("host/runs/*"))
    assert ended_there(far, folder, run_id)
    far.tenon.run("computetarget", "update", "far", "--unset", "tenonDirectory", cwd=folder).ok()
    assert far.submit(folder, "quick.py").ok().out == "ran\n"
    assert len(list(elsewhere.glob("host/runs/*"))) == 1


def test_another_account(far, sshd, going):
    folder, run_id = going
    second = sshd.user()
    told = far.tenon.run("computetarget", "update", "far", "--username", second.name, cwd=folder).ok()
    assert "tenon secrets set far" in told.err, repr(told)
    (folder / "quick.py").write_text("import getpass; print(getpass.getuser())\n")
    refused = far.submit(folder, "quick.py")
    assert refused.code == 125 and "secrets set far" in refused.err, repr(refused)
    assert sshd.failed_passwords() == 0  # the other one's was not tried
    far.tenon.run("secrets", "set", "far", "--stdin", cwd=folder, stdin=second.password.encode() + b"\n").ok()
    assert far.submit(folder, "quick.py").ok().out == second.name + "\n"
    assert ended_there(far, folder, run_id)
    hosts = far.tenon.json("host", "list", "-o", "json", cwd=folder)
    assert len(hosts) == 2, hosts
    far.tenon.run("computetarget", "detach", "far", "--yes", cwd=folder).ok()
    assert far.tenon.json("host", "list", "-o", "json", cwd=folder) == []
    assert far.tenon.json("secrets", "list", "-o", "json", cwd=folder) == []
