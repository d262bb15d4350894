# SPDX-License-Identifier: Apache-2.0
"""How a container gets the GPU: the exact HostConfig that is sent, against engines of every API version and kind. The
machine only looks as if it had a GPU, the engine only claims to be another one; the refusals are real."""

import glob
import json
import os
import re
import time

import pytest

from hosts.gpu_machine import GpuMachine
from hosts.recorder import Recorder

pytestmark = pytest.mark.planned_skip("needs root, and docker.io and debootstrap installed")

CAPABILITIES = [["gpu", "compute", "utility"]]
ALL = [{"Driver": "nvidia", "Count": -1, "Capabilities": CAPABILITIES}]
CDI_ALL = [{"Driver": "cdi", "DeviceIDs": ["nvidia.com/gpu=all"]}]
LISTED = ["nvidia.com/gpu=0", "nvidia.com/gpu=1", "nvidia.com/gpu=all", "nvidia.com/gpu=GPU-5d5b0c1a"]
LIMITS = [{"Name": "memlock", "Soft": -1, "Hard": -1}, {"Name": "stack", "Soft": 64 << 20, "Hard": 64 << 20}]
SELECT = ('could not select device driver "nvidia" with capabilities: [[gpu compute utility]]')


class Gpu:
    """Submits on a machine that seems to have a GPU, to an engine that is not what it says."""

    def __init__(self, runs):
        self.runs = runs
        self._count = 0

    def submit(self, compute, *options, image=None, machine=None, **claims):
        """(result, bodies of the containers that were made for runs, recorder)"""
        self._count += 1
        seen = GpuMachine(self.runs.scratch / f"machine-{self._count}", **(machine or {}))
        folder = self.runs.project("print('ran')\n", name=f"proj{self._count}", compute=compute, image=image)
        socket = f"/tmp/tenon-recorder-{os.getpid()}-{self._count}.sock"
        with Recorder(socket, self.runs.engine.socket, **claims) as recorder:
            env = {**recorder.variables, "PATH": f"{seen.path}:{os.environ['PATH']}"}
            try:
                done = self.runs.submit(folder, *options, "main.py", env=env, prefix=seen.prefix)
            finally:
                os.unlink(socket)
        return done, [b for b in recorder.created if b["Labels"].get("tenon.kind") == "run"], recorder


@pytest.fixture
def gpu(runs):
    return Gpu(runs)


def requested(answer):
    """What of the GPU the only container of a good run was given: (device requests, runtime)."""
    done, bodies, _ = answer
    assert (done.code, done.out) == (0, "ran\n"), repr(done)
    assert len(bodies) == 1, bodies
    host = bodies[0]["HostConfig"]
    return host.get("DeviceRequests"), host.get("Runtime")


def plain(requests):
    """Without members that say nothing."""
    return requests and [{k: v for k, v in r.items() if v not in (None, {}, [])} for r in requests]


def variables(answer):
    return dict(entry.split("=", 1) for entry in answer[1][-1]["Env"])


def settled(body):
    """The body without what differs from run to run."""
    text = json.dumps(body, sort_keys=True)
    return json.loads(re.sub(r"proj\d+(_\d+)?|[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32,}|machine-\d+", "ID", text))


@pytest.mark.parametrize("api", [f"1.{minor}" for minor in range(41, 53)])
def test_device_request_on_engines_of_every_version(gpu, api):
    answer = gpu.submit({"nvidiaDocker": True}, api=api)
    requests, runtime = requested(answer)
    assert plain(requests) == ALL and runtime in (None, "")
    assert answer[2].versions == {api}


def test_gpu_changes_nothing_else_but_limits(gpu):
    without = gpu.submit({})[1][0]
    with_gpu = gpu.submit({"nvidiaDocker": True})[1][0]
    assert "DeviceRequests" not in without["HostConfig"] or not without["HostConfig"]["DeviceRequests"]
    assert without["HostConfig"].pop("Ulimits") == [] and with_gpu["HostConfig"].pop("Ulimits") == LIMITS
    for body in (without, with_gpu):
        body["HostConfig"].pop("DeviceRequests", None)
    assert settled(with_gpu) == settled(without)


def test_engine_that_may_not_raise_limits_goes_without(gpu):
    words = "error setting rlimits for ready process: error setting rlimit type 8: operation not permitted"
    done, bodies, _ = gpu.submit({"nvidiaDocker": True}, refuse={"limits": words})
    assert (done.code, done.out) == (0, "ran\n"), repr(done)
    assert [b["HostConfig"]["Ulimits"] for b in bodies] == [LIMITS, []]
    assert plain(bodies[1]["HostConfig"]["DeviceRequests"]) == ALL


@pytest.mark.parametrize("gpus, request_", [
    ("all", ALL),
    (2, [{"Driver": "nvidia", "Count": 2, "Capabilities": CAPABILITIES}]),
    ("2", [{"Driver": "nvidia", "Count": 2, "Capabilities": CAPABILITIES}]),
    ("GPU-5d5b0c1a,MIG-77", [{"Driver": "nvidia", "DeviceIDs": ["GPU-5d5b0c1a", "MIG-77"],
                              "Capabilities": CAPABILITIES}]),
    (["GPU-5d5b0c1a"], [{"Driver": "nvidia", "DeviceIDs": ["GPU-5d5b0c1a"], "Capabilities": CAPABILITIES}]),
])
def test_own_key(gpu, gpus, request_):
    assert plain(requested(gpu.submit({"gpus": gpus}))[0]) == request_


def test_option_wins_over_the_files(gpu):
    answer = gpu.submit({"nvidiaDocker": False, "gpus": "all"}, "--gpus", "1")
    assert plain(requested(answer)[0]) == [{"Driver": "nvidia", "Count": 1, "Capabilities": CAPABILITIES}]
    answer = gpu.submit({"nvidiaDocker": True}, "--gpus", "none", machine={"gpu": False, "driver": False})
    assert not requested(answer)[0]


def test_runtime_where_the_engine_has_no_device_request(gpu):
    answer = gpu.submit({"nvidiaDocker": True}, machine={"toolkit": False}, runtimes=["nvidia"])
    assert requested(answer) == (None, "nvidia")
    assert variables(answer)["NVIDIA_VISIBLE_DEVICES"] == "all"
    assert variables(answer)["NVIDIA_DRIVER_CAPABILITIES"] == "compute,utility"
    answer = gpu.submit({"gpus": 2}, machine={"toolkit": False}, runtimes=["nvidia"])
    assert variables(answer)["NVIDIA_VISIBLE_DEVICES"] == "0,1"


def test_engine_refuses_the_device_request_and_has_the_runtime(gpu):
    done, bodies, _ = gpu.submit({"nvidiaDocker": True}, runtimes=["nvidia"], refuse={"nvidia": SELECT})
    assert (done.code, done.out) == (0, "ran\n"), repr(done)
    assert [plain(b["HostConfig"].get("DeviceRequests")) for b in bodies] == [ALL, None]
    assert [b["HostConfig"].get("Runtime") for b in bodies] == [None, "nvidia"]


def test_engine_refuses_the_device_request_and_has_nothing_else(gpu):
    done, bodies, _ = gpu.submit({"nvidiaDocker": True}, refuse={"nvidia": SELECT})
    assert done.code == 125 and "could not select device driver" in done.err and "nvidia-ctk" in done.err, repr(done)
    assert len(bodies) == 1


@pytest.mark.parametrize("gpus, names", [("all", ["nvidia.com/gpu=all"]), (2, ["nvidia.com/gpu=0", "nvidia.com/gpu=1"]),
                                         ("GPU-5d5b0c1a", ["nvidia.com/gpu=GPU-5d5b0c1a"])])
def test_cdi_where_the_engine_lists_it(gpu, gpus, names):
    requests, runtime = requested(gpu.submit({"gpus": gpus}, api="1.50", cdi=LISTED, runtimes=["nvidia"]))
    assert plain(requests) == [{"Driver": "cdi", "DeviceIDs": names}] and runtime in (None, "")


def test_cdi_that_is_stale_falls_back(gpu):
    words = "CDI device injection failed: unresolvable CDI devices nvidia.com/gpu=all"
    done, bodies, _ = gpu.submit({"nvidiaDocker": True}, api="1.52", cdi=LISTED, refuse={"cdi": words})
    assert (done.code, done.out) == (0, "ran\n"), repr(done)
    assert [plain(b["HostConfig"]["DeviceRequests"]) for b in bodies] == [CDI_ALL, ALL]


def test_podman_that_would_ignore_the_request_is_refused(gpu):
    done, bodies, _ = gpu.submit({"nvidiaDocker": True}, name="Podman Engine", version="4.3.1")
    assert done.code == 125 and "5.4" in done.err, repr(done)
    assert not bodies


@pytest.fixture
def gpu_image(runs):
    return runs.derived("gpu", ["ENV NVIDIA_VISIBLE_DEVICES=all"])


def test_gpu_image_alone_gets_the_gpu(gpu, gpu_image):
    assert plain(requested(gpu.submit({}, image=gpu_image))[0]) == ALL


def test_false_wins_over_a_gpu_image(gpu, gpu_image):
    answer = gpu.submit({"nvidiaDocker": False}, image=gpu_image)
    assert requested(answer) == (None, None)
    assert variables(answer)["NVIDIA_VISIBLE_DEVICES"] == "void"
    assert "nvidiaDocker: false" in answer[0].err


def test_gpu_image_on_a_machine_without_gpu_is_a_notice(gpu, gpu_image):
    answer = gpu.submit({}, image=gpu_image, machine={"gpu": False, "driver": False, "toolkit": False})
    assert requested(answer) == (None, None)
    assert "no NVIDIA GPU" in answer[0].err


@pytest.mark.parametrize("machine, what, command", [
    ({"gpu": False, "driver": False}, "no NVIDIA GPU", "--gpus none"),
    ({"driver": False}, "no NVIDIA driver", "apt-get install nvidia-driver"),
    ({"toolkit": False}, "NVIDIA Container Toolkit", "nvidia-ctk runtime configure"),
], ids=["gpu", "driver", "toolkit"])
def test_what_is_missing_is_named_before_anything_is_pulled_or_built(gpu, machine, what, command):
    before = time.time()
    done, bodies, recorder = gpu.submit({"nvidiaDocker": True}, image="127.0.0.1:1/absent:1", machine=machine)
    assert done.code == 125 and what in done.err and command in done.err, repr(done)
    assert not bodies and not recorder.pulled and gpu.runs.builds_since(before) == 0


def test_refusal_on_this_machine(runs):
    """Nothing here is made to look like anything."""
    if glob.glob("/dev/nvidia*"):
        pytest.skip("this machine has an NVIDIA driver")
    folder = runs.project("print('ran')\n", compute={"nvidiaDocker": True})
    done = runs.submit(folder)
    assert done.code == 125 and "GPU" in done.err and "--gpus none" in done.err, repr(done)
    assert runs.last(folder)["status"] == "Failed" and runs.engine.leftovers() == []


@pytest.mark.parametrize("gpus", ["none", 0])
def test_none_at_all(gpu, gpus):
    answer = gpu.submit({"gpus": gpus}, machine={"gpu": False, "driver": False})
    assert requested(answer) == (None, None)


@pytest.mark.parametrize("gpus", ["-1", "two", "GPU-a,", "0,1"])
def test_nonsense_is_refused_with_its_place(gpu, gpus):
    done, bodies, _ = gpu.submit({"gpus": gpus})
    assert done.code == 125 and "gpus" in done.err and "docker.compute" in done.err, repr(done)
    assert not bodies
