# SPDX-License-Identifier: Apache-2.0
"""Real conda packages, from a channel made here, solved and installed by py-rattler: in an image and on this machine."""

import json
import re
import subprocess

import pytest

from hosts.channel import Channel
from hosts.docker_runs import pip_file
from hosts.packages import Index

pytestmark = [pytest.mark.planned_skip("needs root, docker.io, debootstrap, and a Python of 3.10 or later"),
              pytest.mark.seconds(600)]
USE = """
import json, sys
import tenon_conda_demo, tenon_conda_part
print(json.dumps([tenon_conda_demo.__version__, tenon_conda_part.__version__, sys.prefix]))
"""

LOCAL = {"aml_config/local.compute": "type: local\nuserManagedEnvironment: false\n",
         "aml_config/local.runconfig": "Target: local\nFramework: Python\nPrepareEnvironment: true\n"
                                       "CondaDependenciesFile: aml_config/conda_dependencies.yml\n"}


@pytest.fixture
def channel(tmp_path):
    """Two versions of a package, one that depends on it, and a Python for them all."""
    made = Channel(tmp_path / "channel")
    made.add_python(system_python())
    made.add_module("tenon-conda-part", "1.0")
    made.add_module("tenon-conda-part", "2.0")
    made.add_module("tenon-conda-demo", "3.5", depends=["python", "tenon-conda-part <2"])
    return made.write()


def system_python():
    """The version of /usr/bin/python3: the same here as in the image, which is of the same Debian."""
    done = subprocess.run(["/usr/bin/python3", "-c", "import platform; print(platform.python_version())"],
                          capture_output=True, check=False)
    version = done.stdout.decode().strip()
    if not version.startswith("3.11."):
        pytest.skip(f"/usr/bin/python3 is {version or 'not there'}, the image's is 3.11")
    return version


def conda_file(channel, *packages, pip=()):
    lines = ["name: project_environment", "channels:", f"- {channel.url}", "dependencies:"]
    lines += [f"- {package}" for package in packages]
    if pip:
        lines += ["- pip:"] + [f"  - {json.dumps(line)}" for line in pip]
    return "\n".join(lines) + "\n"


def test_channel_in_an_image(runs, channel):
    folder = runs.project(USE, conda=conda_file(channel, "python=3.11", "tenon-conda-demo"))
    told = json.loads(runs.submit(folder, timeout=500).ok().out)
    assert told[:2] == ["3.5", "1.0"]
    shown = runs.tenon.run("env", "show", "last", cwd=folder).ok().out
    assert re.search(r"tenon-conda-part\s+1\.0", shown) and re.search(r"tenon-conda-demo\s+3\.5", shown), shown


def test_channel_on_this_machine(runs, channel):
    folder = runs.project(USE, conda=conda_file(channel, "python=3.11", "tenon-conda-demo=3.5"),
                          files=LOCAL)
    done = runs.tenon.run("submit", "-c", "local", "main.py", cwd=folder, timeout=500).ok()
    version, part, prefix = json.loads(done.out)
    assert (version, part) == ("3.5", "1.0") and prefix.startswith(str(runs.tenon.home))
    again = runs.tenon.run("submit", "-c", "local", "main.py", cwd=folder).ok()
    assert json.loads(again.out)[2] == prefix


def test_channel_and_pip_part_together(runs, channel):
    with Index().add("tenon-demo", "1.0") as index:
        conda = conda_file(channel, "python=3.11", "tenon-conda-demo", pip=[runs.index_line(index), "tenon-demo"])
        folder = runs.project(USE + "import tenon_demo\n", conda=conda)
        assert json.loads(runs.submit(folder, timeout=500).ok().out)[:2] == ["3.5", "1.0"]
        assert index.downloads()


@pytest.mark.parametrize("where", ["docker-python", "local"])
def test_conflict_shows_the_solvers_words(runs, channel, where):
    conda = conda_file(channel, "python=3.11", "tenon-conda-demo", "tenon-conda-part>=2")
    folder = runs.project(USE, conda=conda,
                          files=LOCAL)
    done = runs.tenon.run("submit", "-c", where, "main.py", cwd=folder, timeout=500)
    assert done.code == 125, repr(done)
    assert "tenon-conda-demo" in done.err and "tenon-conda-part" in done.err and "<2" in done.err, repr(done)
    assert "aml_config/conda_dependencies.yml" in done.err
    assert runs.last(folder)["status"] == "Failed" and not runs.environments()


def test_package_that_no_channel_has(runs, channel):
    conda = conda_file(channel, "python=3.11", "tenon-conda-missing")
    folder = runs.project(USE, conda=conda)
    done = runs.submit(folder, timeout=500)
    line = conda.splitlines().index("- tenon-conda-missing") + 1
    assert done.code == 125 and "tenon-conda-missing" in done.err, repr(done)
    assert f"aml_config/conda_dependencies.yml:{line}" in done.err


def without_a_channel(runs, index, *packages):
    lines = "".join(f"- {package}\n" for package in packages)
    return pip_file(runs.index_line(index)).replace("dependencies:\n",
                                                    f"channels:\n- http://127.0.0.1:1/nobody\ndependencies:\n{lines}")


def test_no_channel_can_be_reached_known_projects_are_taken_from_the_index(runs):
    """By their names there, with a notice that says so."""
    with Index().add("msgpack", "99.0") as index:
        conda = without_a_channel(runs, index, "msgpack-python=99.0")
        folder = runs.project("import msgpack\nprint(msgpack.__version__)\n", conda=conda)
        done = runs.submit(folder, timeout=500).ok()
    assert done.out == "99.0\n"
    assert "msgpack==99.0.*" in done.err and "channel" in done.err, repr(done)


@pytest.mark.parametrize("where", ["docker-python", "local"])
def test_a_namesake_on_the_index_never_stands_in_for_a_conda_package(runs, where):
    """conda's jasper is an image library, its tk a toolkit; somebody else has these names on the index."""
    with Index().add("jasper", "2.0").add("tk", "8.6").add("six", "99.0") as index:
        conda = without_a_channel(runs, index, "six", "jasper=2.0", "tk", "acme::six")
        folder = runs.project("import jasper\n", conda=conda, files=LOCAL)
        done = runs.tenon.run("submit", "-c", where, "main.py", cwd=folder, timeout=500)
        assert not index.downloads()
    assert done.code == 125, repr(done)
    lines = conda.splitlines()
    for package in ("jasper=2.0", "tk", "acme::six"):
        place = f"aml_config/conda_dependencies.yml:{lines.index('- ' + package) + 1}: {package}"
        assert place in done.err, repr(done)
    assert "- pip:" in done.err and not runs.environments(), repr(done)
