# SPDX-License-Identifier: Apache-2.0
"""Every sample is whole, and runs for real with the packages it is about.

The environments are made once (e2e/sample_envs.py). The cheap ones are made by the ordinary tests, the large ones with
TENON_DEEP=1 only; one that is there is used by both.
"""

import hashlib
import os
import struct
import subprocess
import zlib

import pytest

from e2e import harness, sample_envs, sample_projects

DEEP = os.environ.get("TENON_DEEP") == "1"
CHEAP = {"scikit-learn", "cntk", "tensorflow1"}


def environment(name):
    try:
        return sample_envs.get(name, build=DEEP or name in CHEAP)
    except sample_envs.Missing as missing:
        pytest.skip(str(missing))


def size_of_picture(path):
    """(width, height) of a PNG whose every part is intact."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    pos, kinds = 8, []
    while pos < len(data):
        length, kind = struct.unpack_from(">I4s", data, pos)
        body = data[pos + 4:pos + 8 + length]
        assert zlib.crc32(body) == struct.unpack_from(">I", data, pos + 8 + length)[0]
        kinds.append(kind)
        pos += 12 + length
    assert kinds[0] == b"IHDR" and b"IDAT" in kinds and kinds[-1] == b"IEND"
    return struct.unpack_from(">II", data, 16)


@pytest.mark.parametrize("name", sample_projects.NAMES)
def test_sample_is_whole(name):
    told = sample_projects.description(name)
    assert set(told) <= {"summary", "script", "borrow"} and "\n" not in told["summary"]
    files = sample_projects.files(name)
    for path in [*told.get("borrow", {}), *told.get("borrow", {}).values(), told["script"]]:
        assert not path.startswith("/") and ".." not in path.split("/")
    wanted = [told["script"], "README.md", "aml_config/local.compute", "aml_config/local.runconfig",
              "aml_config/conda_dependencies.yml", "data/LICENSE"]
    assert [p for p in wanted if p not in files] == []
    assert all(source.is_file() for source in files.values())
    assert sum(source.stat().st_size for source in files.values()) < 200_000


def test_no_data_is_stored_twice():
    seen = {}
    for path in sorted(sample_projects.SAMPLES.rglob("*")):
        if path.is_file() and path.stat().st_size > 3000 and "__pycache__" not in path.parts:
            other = seen.setdefault(hashlib.sha256(path.read_bytes()).digest(), path)
            assert other == path, f"{other} and {path} are the same"


@pytest.mark.parametrize("name", [n for n in sample_projects.NAMES if "borrow" in sample_projects.description(n)])
def test_sample_that_is_not_copied_says_how_to_get_it(name):
    """Without the packages too: nobody should install a framework to read this."""
    script = sample_projects.SAMPLES / name / "train.py"
    text = script.read_text()
    before = text[:text.index("import picture")]
    head = "".join(line + "\n" for line in before.splitlines()
                   if not line.startswith(("import numpy", "import tensorflow", "import torch", "from torch", "import cntk",
                                           "from azureml")))
    done = subprocess.run(["python3", "-c", f"__file__ = {str(script)!r}\n" + head], capture_output=True, check=False)
    assert done.returncode == 1 and f"tenon project sample get {name} FOLDER" in done.stderr.decode()


# (sample, environment, beginning of the metric "framework", model)
NETWORKS = [
    ("mnist-cntk", "cntk", "CNTK 2.7", "digits.model"),
    ("mnist-tensorflow", "tensorflow1", "TensorFlow 1.15", "model.h5"),
    ("mnist-tensorflow", "tensorflow2", "TensorFlow 2.", "model.h5"),
    ("mnist-pytorch", "torch", "PyTorch ", "model.pt"),
]


def create(tenon, sample, name, python):
    """As a user gets it; `az ml` and `tenon` are the same program here."""
    programs = tenon.scratch / "programs"
    tenon.run("install-az", programs).ok()
    tenon.run("project", "create", "--name", name, "--template", sample).ok()
    folder = tenon.scratch / name
    tenon.run("config", "set", "pythonLocation", python.python, "-c", "local", cwd=folder).ok()
    for variable, value in python.variables.items():
        tenon.run("config", "set", f"EnvironmentVariables.{variable}", value, "-c", "local", cwd=folder).ok()
    checked = tenon.json("config", "check", "--json", cwd=folder)
    assert checked["errors"] == checked["warnings"] == 0, checked
    return folder, harness.Tenon(programs / "az", tenon.home, tenon.scratch)


@pytest.mark.longer
@pytest.mark.seconds(1800)
@pytest.mark.planned_skip("the framework, or a Python old enough for it, can't be had here")
@pytest.mark.parametrize("sample,packages,framework,model", NETWORKS, ids=[n[1] for n in NETWORKS])
def test_network_learns_the_digits(tenon, tmp_path, sample, packages, framework, model):
    """The walk, part A: a project from a sample, packages in one's own Python, submit, look."""
    python = environment(packages)
    folder, az = create(tenon, sample, "my-digits", python)
    done = az.run("ml", "experiment", "submit", "-c", "local", "train.py", "--epochs", "5", cwd=folder,
                  env={"OMP_NUM_THREADS": "1"}, timeout=600).ok()  # threads that spin starve others
    assert done.out.startswith("RunId: my-digits_") and "epoch  5  loss" in done.out
    run = az.run("ml", "history", "last", cwd=folder).ok().json()
    assert run["status"] == "Completed" and run["script_name"] == "train.py" and run["target"] == "local"
    assert run["framework"].startswith(framework)
    assert run["final accuracy"] > 0.85 and run["accuracy"] == pytest.approx(run["final accuracy"], abs=1e-6)
    assert len(run["accuracy per digit"]) == 10 and min(run["accuracy per digit"]) > 0.3
    points = tenon.json("metrics", "last", "loss", "--json", cwd=folder)
    losses = [p["value"] for p in (points["points"] if isinstance(points, dict) else points)]
    assert len(losses) == 5 and losses[0] > 2 * losses[-1] > 0
    assert {"outputs/confusion.png", "outputs/" + model} <= set(run["attachments"].split(", "))
    tenon.run("history", "download", "-r", run["run_id"], "-d", tmp_path / "results", cwd=folder).ok()
    results = tmp_path / "results" / "outputs"
    assert size_of_picture(results / "confusion.png") == (308, 308)
    assert (results / model).stat().st_size > 20_000


@pytest.fixture
def iris(tenon):
    return create(tenon, "iris", "iris", environment("scikit-learn"))[0]


@pytest.mark.seconds(900)
@pytest.mark.planned_skip("scikit-learn can't be installed here")
def test_iris_logs_and_draws_as_it_did(tenon, iris, tmp_path):
    done = tenon.run("experiment", "submit", "-c", "local", "iris_sklearn.py", "0.1", cwd=iris, timeout=300).ok()
    assert "Regularization rate is 0.1, accuracy is 0." in done.out
    run = tenon.json("history", "last", "-o", "json", cwd=iris)
    assert run["Regularization Rate"] == 0.1 and run["Accuracy"] > 0.6
    assert len(run["Precision"]) == len(run["Recall"]) == len(run["Thresholds"]) + 1 > 10
    names = set(run["attachments"].split(", "))
    assert {"outputs/cm.png", "outputs/roc.png", "outputs/model.pkl"} <= names
    tenon.run("history", "download", "-r", run["run_id"], "-d", tmp_path / "results", cwd=iris).ok()
    for name in ("cm.png", "roc.png"):
        width, height = size_of_picture(tmp_path / "results" / "outputs" / name)
        assert width >= 400 and height >= 400


@pytest.mark.deep
@pytest.mark.seconds(1800)
@pytest.mark.planned_skip("scikit-learn can't be installed here")
def test_iris_sweep_submits_every_rate(tenon, iris, tmp_path):
    programs = tmp_path / "programs"  # made by create()
    (programs / "tenon").symlink_to(tenon.binary)
    env = tenon.env({"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"})
    done = subprocess.run(["python3", "run.py"], cwd=iris, env=env, capture_output=True, timeout=1500, check=False)
    assert done.returncode == 0, done.stderr.decode()
    runs = tenon.json("history", "list", "-o", "json", cwd=iris)
    rates = sorted(run["Regularization Rate"] for run in runs)
    assert rates == [10 / 2 ** k for k in reversed(range(11))]
    assert all(run["status"] == "Completed" and run["Accuracy"] > 0.6 for run in runs)


API = """
from azureml.logging import get_azureml_logger
from azureml.api.schema.dataTypes import DataTypes
from azureml.api.schema.sampleDefinition import SampleDefinition
from azureml.api.realtime.services import generate_schema
from azureml.assets import get_local_path
from azureml.datacollector import ModelDataCollector
from azureml_sdk import data_collector
from azureml.dataprep import package
from azure.ml.api.schema.dataTypes import DataTypes as Older

def run(value): pass

assert get_azureml_logger().upload("notes/a.txt", "text").wait()
data_collector.current_run().log("accuracy", 0.5)
generate_schema(run, {"value": SampleDefinition(DataTypes.STANDARD, 1)}, filepath="outputs/schema.json")
ModelDataCollector("model.pkl", identifier="inputs").collect([1, 2])
print(get_local_path("assets/model.pkl.link"))
try:
    package.run("x.dprep", dataflow_idx=0)
except NotImplementedError as error:
    print(error)
"""


def test_old_scripts_find_every_module_in_a_run(tenon, project):
    """What the tests in shim/ check by itself is in the program too."""
    folder = project(API, files={"assets/model.pkl": "m", "x.dprep": "{}",
                                 "assets/model.pkl.link": '{"assetSource":"azureml","name":"model.pkl","version":"1"}'})
    done = tenon.run("submit", "main.py", cwd=folder).ok()
    assert "assets/model.pkl\n" in done.out and "can't run .dprep packages" in done.out
    run = tenon.json("history", "last", "-o", "json", cwd=folder)
    assert run["accuracy"] == 0.5
    assert {"outputs/notes/a.txt", "outputs/schema.json", "outputs/modeldata/model.pkl/inputs/data.csv"} <= set(
        run["attachments"].split(", "))


def test_promoted_output_is_found_by_the_next_script(tenon, project):
    folder = project("open('outputs/m.bin', 'w').write('weights')\n", files={"use.py": """
from azureml.assets import get_local_path
path = get_local_path("models/Best Model.link")
print(path, open(path).read())
"""})
    tenon.run("submit", "main.py", cwd=folder).ok()
    tenon.run("history", "promote", "-r", "last", "-ap", "./outputs/m.bin", "-n", "Best Model", cwd=folder).ok()
    early = tenon.run("submit", "use.py", cwd=folder)
    assert early.code == 1 and "models/Best Model.link" in early.err
    tenon.run("asset", "download", "-l", "assets/Best Model.link", "-d", "models", cwd=folder).ok()
    done = tenon.run("submit", "use.py", cwd=folder).ok()
    assert done.out.startswith("models/") and done.out.endswith(" weights\n")
