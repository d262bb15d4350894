# SPDX-License-Identifier: Apache-2.0
"""Engines that are not there or say no, images that have to be pulled or can't be."""

import hashlib
import io
import json
import os
import tarfile

import pytest

from hosts import images
from hosts.registry import Registry

pytestmark = pytest.mark.planned_skip("needs root, and docker.io, debootstrap and busybox-static installed")


def test_framework_pyspark_is_an_error_with_its_fix(runs):
    folder = runs.project("print('x')\n", runconfig={"Framework": "PySpark"})
    done = runs.submit(folder)
    assert done.code == 125 and "Framework: Python" in done.err, repr(done)


def test_engine_that_is_not_there(runs):
    folder = runs.project("print('x')\n")
    done = runs.submit(folder, env={"DOCKER_HOST": f"unix://{runs.scratch}/none.sock"})
    assert done.code == 125 and "none.sock" in done.err and "systemctl start docker" in done.err, repr(done)
    for address in ("tcp://192.0.2.7:2375", "ssh://me@vm"):
        done = runs.submit(folder, env={"DOCKER_HOST": address})
        assert done.code == 125 and "remotedocker" in done.err, repr(done)


def test_engine_that_does_not_let_us_in(plain_user):
    plain_user.engine.let_in(0)
    folder = plain_user.project("print('x')\n")
    done = plain_user.submit(folder)
    assert done.code == 125 and "group docker" in done.err, repr(done)
    plain_user.engine.let_in(plain_user.tenon.uid)


def test_engine_of_a_context(runs):
    """No DOCKER_HOST: the context of the docker program's configuration is asked."""
    config = runs.scratch / "docker-config"
    meta = config / "contexts" / "meta" / hashlib.sha256(b"mine").hexdigest()
    meta.mkdir(parents=True)
    (meta / "meta.json").write_text(json.dumps(
        {"Name": "mine", "Endpoints": {"docker": {"Host": f"unix://{runs.engine.socket}"}}}))
    (config / "config.json").write_text('{"currentContext": "mine"}')
    folder = runs.project("print('found')\n")
    done = runs.submit(folder, env={"DOCKER_HOST": None, "DOCKER_CONFIG": str(config)}).ok()
    assert done.out == "found\n"


def layers(*contents):
    made = []
    for name, data in contents:
        raw = io.BytesIO()
        with tarfile.open(fileobj=raw, mode="w") as tar:
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(data), 0o755
            tar.addfile(info, io.BytesIO(data))
        made.append(raw.getvalue())
    return made


def test_absent_image_is_pulled_with_progress(runs):
    root = images.root("busybox").read_bytes()
    with Registry([root, *layers(("big.bin", os.urandom(5_000_000)))]) as registry:
        folder = runs.project("echo pulled\n", image=registry.name("good:1"), script_name="main.sh")
        done = runs.submit(folder, "main.sh").ok()
    assert done.out == "pulled\n"
    steps = {s["name"]: s for s in runs.details(folder)["steps"]}
    pulled = [s for name, s in steps.items() if "pull" in name or "image" in name]
    assert pulled, steps
    assert any("2 layers, 7." in s["detail"] and " MB" in s["detail"] for s in pulled), pulled
    assert "layer" in done.err, repr(done)


@pytest.mark.parametrize("image, words, remedy", [("refused:1", "unauthorized", "docker login"),
                                                  ("unknown:1", "manifest unknown", "spelled right")])
def test_image_that_can_not_be_pulled_is_named_with_what_to_do(runs, image, words, remedy):
    with Registry(layers(("x", b"x"))) as registry:
        name = registry.name(image)
        folder = runs.project("print('x')\n", image=name)
        done = runs.submit(folder)
    assert done.code == 125, repr(done)
    assert name in done.err and words in done.err and remedy in done.err, repr(done)
    assert "docker.compute:2" in done.err


def test_image_of_2017_that_is_gone_names_the_upgrade(runs):
    """Whatever the engine can reach from here: it must not be a riddle."""
    folder = runs.project("print('x')\n", image="microsoft/mmlspark:plus-0.9.9")
    done = runs.submit(folder)
    assert done.code == 125, repr(done)
    assert "microsoft/mmlspark:plus-0.9.9" in done.err and "config upgrade" in done.err
