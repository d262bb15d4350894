# SPDX-License-Identifier: Apache-2.0
"""The samples in containers, with packages from the package index: what the 2017 layout asks for, end to end."""

import time

import pytest

from hosts import images
from hosts.docker_runs import give_to, yaml_lines

pytestmark = pytest.mark.planned_skip("needs root, and docker.io and debootstrap installed")
METRICS = ("Regularization Rate", "Accuracy", "Precision", "Recall", "Thresholds")


def sample(runs, name, image, **compute):
    """The sample as a project whose container target has our image, in the reference's layout."""
    folder = runs.scratch / name
    runs.tenon.run("project", "sample", "get", name, str(folder), cwd=runs.scratch).ok()
    config = folder / "aml_config"
    (config / "docker.compute").write_text(yaml_lines(
        {"type": "localdocker", "baseDockerImage": image, "sharedVolumes": True, **compute}))
    (config / "docker.runconfig").unlink(missing_ok=True)
    (config / "docker-python.runconfig").write_text(yaml_lines(
        {"ArgumentVector": ["$file"], "Target": "docker", "Framework": "Python", "PrepareEnvironment": True,
         "CondaDependenciesFile": "aml_config/conda_dependencies.yml", "TrackedRun": True}))
    # The same recipe makes the environment of the local target.
    (config / "local.compute").write_text("type: local\npythonLocation: python3\nuserManagedEnvironment: false\n")
    (config / "local.runconfig").write_text(
        "ArgumentVector:\n- $file\nTarget: local\nFramework: Python\nPrepareEnvironment: true\nTrackedRun: true\n"
        "CondaDependenciesFile: aml_config/conda_dependencies.yml\n")
    if runs.tenon.uid is not None:
        give_to(runs.tenon.uid, folder)
    return folder


def preparing(runs, folder):
    """Seconds that the steps which prepare the environment took, by name."""
    return {s["name"]: s for s in runs.details(folder)["steps"] if "environment" in s["name"] or "image" in s["name"]}


@pytest.mark.seconds(1200)
def test_iris_gives_the_same_in_a_container_and_here(plain_user):
    """Image made once, the second submit reuses it, outputs belong to a user who is not root."""
    runs = plain_user
    folder = sample(runs, "iris", runs.image())
    before = time.time()
    first = runs.submit(folder, "iris_sklearn.py", timeout=900).ok()
    assert "Python 3.11" in first.out
    assert runs.builds_since(before) == 1
    made = runs.environments()
    assert len(made) == 1
    in_container = runs.last(folder)
    first_steps = preparing(runs, folder)
    assert first_steps, runs.details(folder)["steps"]

    before = time.time()
    second = runs.submit(folder, "iris_sklearn.py", timeout=300).ok()
    assert second.out == first.out
    assert runs.builds_since(before) == 0 and runs.environments() == made
    second_steps = preparing(runs, folder)
    assert any("reused" in s["detail"] for s in second_steps.values()), second_steps
    shown = runs.tenon.run("show", "last", "--no-charts", cwd=folder).ok().out
    assert "reused" in shown

    here = runs.tenon.run("submit", "-c", "local", "iris_sklearn.py", cwd=folder, timeout=900).ok()
    assert here.out.splitlines()[1:] == first.out.splitlines()[1:]
    locally = runs.last(folder)
    assert [locally[name] for name in METRICS] == [in_container[name] for name in METRICS]
    assert 0.6 < locally["Accuracy"] < 1
    for run in (in_container, locally):
        assert {"outputs/model.pkl", "outputs/cm.png", "outputs/roc.png"} <= set(run["attachments"].split(", "))
    assert not runs.of_others()

    numbers = [r["run_number"] for r in runs.tenon.json("history", "list", "-o", "json", cwd=folder)]
    diff = runs.tenon.run("env", "diff", str(numbers[-1]), str(numbers[0]), cwd=folder).ok()
    assert "scikit-learn" not in diff.out


@pytest.mark.seconds(1200)
def test_mnist_cntk_in_a_python_of_its_time(runs):
    try:
        image = runs.image("cntk")
    except images.Missing as missing:
        pytest.skip(str(missing))
    folder = sample(runs, "mnist-cntk", image)
    text = (folder / "aml_config/conda_dependencies.yml").read_text()
    assert "cntk==2.7" in text and "python=3.6" in text
    done = runs.submit(folder, "--env", "OMP_NUM_THREADS=1", "train.py", "--epochs", "5", timeout=900).ok()
    assert "epoch  5  loss" in done.out
    run = runs.last(folder)
    assert run["status"] == "Completed" and run["framework"].startswith("CNTK 2.7"), run
    assert run["final accuracy"] > 0.85 and "outputs/digits.model" in run["attachments"]
    shown = runs.tenon.run("env", "show", "last", cwd=folder).ok().out
    assert "cntk" in shown and "2.7" in shown
