# SPDX-License-Identifier: Apache-2.0
"""Environments: the key, the commands, where packages come from. Indexes and packages are of the tests' own."""

import json
import re
import threading
import time

import pytest

from e2e.harness import wait_until
from hosts.docker_runs import pip_file
from hosts.packages import Index, wheel

pytestmark = pytest.mark.planned_skip("needs root, and docker.io and debootstrap installed")
USE = "import tenon_demo\nprint(tenon_demo.__version__)\n"
LOCAL = {"aml_config/local.compute": "type: local\npythonLocation: python3\nuserManagedEnvironment: false\n",
         "aml_config/local.runconfig": "Target: local\nFramework: Python\nPrepareEnvironment: true\n"
                                       "CondaDependenciesFile: aml_config/conda_dependencies.yml\n"}


@pytest.fixture
def index():
    with Index().add("tenon-demo", "1.0").add("tenon-other", "0.5") as made:
        yield made


def rewrite(folder, text):
    (folder / "aml_config/conda_dependencies.yml").write_text(text)


def test_comments_and_order_of_no_meaning_keep_the_key(runs, index):
    line = runs.index_line(index)
    folder = runs.project(USE, conda=pip_file(line, "tenon-demo", "tenon-other==0.5"))
    runs.submit(folder).ok()
    made = runs.environments()
    before = time.time()
    rewrite(folder, "# [AzureMlVersion] = 2\n" + pip_file(line, "Tenon_Other == 0.5", "tenon-demo").replace(
        "dependencies:", "# more\ndependencies:   "))
    assert runs.submit(folder).ok().out == "1.0\n"
    assert runs.environments() == made and runs.builds_since(before) == 0
    rewrite(folder, pip_file(line, "tenon-demo", "tenon-other>=0.5"))
    runs.submit(folder).ok()
    assert len(runs.environments()) == 2


def test_image_tells_its_story(runs, index):
    folder = runs.project(USE, conda=pip_file(runs.index_line(index), "tenon-demo"))
    runs.submit(folder).ok()
    [made] = runs.environments()
    image = runs.api.image(made)
    [tag] = [t for t in image["RepoTags"] if t.startswith("tenon/env:")]
    labels = image["Config"]["Labels"]
    assert labels["tenon.key"] == tag.split(":")[1] and labels["tenon.home"] == str(runs.tenon.home)
    assert len(runs.api.json("GET", f"/images/{made}/history")) == 2


def test_list_show_and_clean(runs, index):
    folder = runs.project(USE, conda=pip_file(runs.index_line(index), "tenon-demo"))
    runs.submit(folder).ok()
    run_id = runs.last(folder)["run_id"]
    [listed] = runs.tenon.json("env", "list", "-o", "json", cwd=folder)
    [tag] = [t for t in runs.api.image(next(iter(runs.environments())))["RepoTags"]]
    key = tag.split(":")[1]
    assert key in json.dumps(listed)
    assert key[:8] in runs.tenon.run("env", "list", cwd=folder).ok().out
    shown = runs.tenon.run("env", "show", key[:12], cwd=folder).ok().out
    assert "tenon-demo" in shown and "1.0" in shown and run_id in shown
    assert run_id in runs.tenon.run("env", "show", "last", cwd=folder).ok().out
    unasked = runs.tenon.run("env", "clean", "--all", cwd=folder)
    assert unasked.code == 2 and "--yes" in unasked.err, repr(unasked)
    assert "would remove 1" in runs.tenon.run("env", "clean", key[:6], "--dry-run", cwd=folder).ok().out
    assert runs.tenon.run("env", "clean", "0" * 12, "--yes", cwd=folder).code == 3
    assert runs.tenon.run("env", "clean", "--yes", cwd=folder).code == 2
    kept = runs.tenon.json("env", "clean", "--unused-for", "1d", "--yes", "-o", "json", cwd=folder)
    assert kept["removed"] == [] and len(runs.environments()) == 1
    gone = runs.tenon.json("env", "clean", "--all", "--yes", "-o", "json", cwd=folder)
    assert gone["removed"] == [key] and gone["bytes_freed"] > 0
    assert runs.environments() == set()
    assert runs.tenon.json("env", "list", "-o", "json", cwd=folder) == []
    assert "tenon-demo" in runs.tenon.run("env", "show", run_id, cwd=folder).ok().out, "the run still knows"
    assert runs.submit(folder).ok().out == "1.0\n"


def test_clean_never_removes_what_a_live_run_uses(runs, index):
    folder = runs.project("import tenon_demo, time\nprint('ready', flush=True)\ntime.sleep(600)\n",
                          conda=pip_file(runs.index_line(index), "tenon-demo"))
    watcher = runs.start(folder)
    watcher.wait_for("ready", 240)
    made = runs.environments()
    done = runs.tenon.run("env", "clean", "--all", "--yes", cwd=folder)
    assert runs.environments() == made, repr(done)
    assert done.code == 0 and "a run that goes on uses it" in done.err, repr(done)
    [listed] = runs.tenon.json("env", "list", "-o", "json", cwd=folder)
    named = runs.tenon.run("env", "clean", listed["ready"]["key"], "--yes", cwd=folder)
    assert listed["in_use"] and named.code == 1 and runs.environments() == made, repr(named)
    swept = runs.tenon.json("experiment", "clean", "-c", "docker-python", "--yes", "-o", "json", cwd=folder)
    assert swept["containers"] == swept["environments"] == [] and len(swept["kept"]) == 2, swept
    runs.tenon.run("cancel", "last", "--grace", "0s", cwd=folder).ok()
    watcher.wait()
    runs.tenon.run("env", "clean", "--all", "--yes", cwd=folder).ok()
    assert runs.environments() == set()


def test_experiment_clean_takes_kept_containers_and_images(runs, index):
    folder = runs.project("import tenon_demo\nraise SystemExit(3)\n",
                          conda=pip_file(runs.index_line(index), "tenon-demo"))
    runs.leaves_something = True
    assert runs.submit(folder, "--keep-on-fail", "main.py").code == 3
    name = runs.container()["Name"].strip("/")
    would = runs.tenon.json("experiment", "clean", "-t", "docker", "--dry-run", "-o", "json", cwd=folder)
    assert would["containers"] == [name] and len(would["environments"]) == 1, would
    assert runs.container() and len(runs.environments()) == 1
    swept = runs.tenon.json("experiment", "clean", "-t", "docker", "--yes", "-o", "json", cwd=folder)
    assert swept["containers"] == [name] and swept["kept"] == [], swept
    assert runs.container() is None and runs.environments() == set()
    runs.leaves_something = False


def test_run_names_its_environment_and_container(runs, index):
    folder = runs.project(USE, conda=pip_file(runs.index_line(index), "tenon-demo"))
    runs.submit(folder).ok()
    page = runs.tenon.run("show", cwd=folder).ok().out
    [listed] = runs.tenon.json("env", "list", "-o", "json", cwd=folder)
    key = listed["ready"]["key"]
    assert key in page and "tenon/env:" + key in page and "Container" in page, page
    properties = runs.last(folder)["properties"]
    assert properties["EnvironmentKey"] == key and properties["EnvironmentImage"] == "tenon/env:" + key
    assert runs.details(folder)["environment"]["packages"], "with its packages"


@pytest.mark.parametrize("where", ["docker-python", "local"])
def test_refresh_resolves_anew_and_diff_shows_it(runs, index, where):
    folder = runs.project(USE, conda=pip_file(runs.index_line(index), "tenon-demo"), files=LOCAL)

    def submit(*options):
        return runs.tenon.run("submit", "-c", where, *options, "main.py", cwd=folder, timeout=240).ok().out

    assert submit() == "1.0\n"
    index.add("tenon-demo", "2.0")
    assert submit() == "1.0\n"
    assert submit("--refresh") == "2.0\n"
    assert all(i["RepoTags"] and i["RepoTags"] != ["<none>:<none>"] for i in runs.api.images()), "the old one is gone"
    assert submit() == "2.0\n"
    diff = runs.tenon.run("env", "diff", "1", "3", cwd=folder)
    assert diff.code == 0 and re.search(r"tenon-demo.*1\.0.*2\.0.*changed", diff.out), repr(diff)
    told = runs.tenon.json("env", "diff", "1", "3", "-o", "json", cwd=folder)
    assert told["changed"] == [{"name": "tenon-demo", "before": "1.0", "after": "2.0"}], told
    assert told["added"] == told["removed"] == []
    same = runs.tenon.run("env", "diff", "1", "2", cwd=folder).ok()
    assert "tenon-demo" not in same.out


def test_prepare_then_run_and_env_prepare_is_the_same(runs, index):
    folder = runs.project(USE, conda=pip_file(runs.index_line(index), "tenon-demo"))
    runs.tenon.run("env", "prepare", "-c", "docker-python", cwd=folder, timeout=240).ok()
    made = runs.environments()
    assert len(made) == 1 and runs.engine.leftovers() == []
    assert runs.tenon.json("runs", "-o", "json", cwd=folder) == [], "preparing is no run of the user's"
    before = time.time()
    again = runs.tenon.json("experiment", "prepare", "-c", "docker-python", "-o", "json", cwd=folder, timeout=240)
    assert again["prepared"] and again["environment"]["reused"], again
    assert runs.submit(folder).ok().out == "1.0\n"
    assert runs.environments() == made and runs.builds_since(before) == 0


def test_local_managed_environment_is_made_once_and_apart_from_the_users_python(runs, index):
    folder = runs.project(USE + "import sys\nprint(sys.prefix)\n", files=LOCAL,
                          conda=pip_file(runs.index_line(index), "tenon-demo"))
    first = runs.tenon.run("submit", "main.py", cwd=folder, timeout=240).ok().out.split()
    assert first[0] == "1.0" and first[1].startswith(str(runs.tenon.home))
    downloads = len(index.downloads())
    assert runs.tenon.run("submit", "main.py", cwd=folder).ok().out.split() == first
    assert len(index.downloads()) == downloads
    steps = runs.details(folder)["steps"]
    assert any("environment" in s["name"] and "reused" in s["detail"] for s in steps), steps


def test_package_cache_is_shared_between_builds(runs, index):
    line = runs.index_line(index)
    folder = runs.project(USE, conda=pip_file(line, "tenon-demo"))
    runs.submit(folder).ok()
    before = index.downloads()
    assert set(before) == {"tenon_demo-1.0-py3-none-any.whl"}
    rewrite(folder, pip_file(line, "tenon-demo", "tenon-other"))
    runs.submit(folder).ok()
    assert set(index.downloads()[len(before):]) == {"tenon_other-0.5-py3-none-any.whl"}


@pytest.mark.parametrize("where", ["docker-python", "local"])
def test_wheel_of_the_project(runs, where):
    """Its bytes count: the same name with another content is another environment."""
    name, first = wheel("tenon-demo", "1.0", code="WHICH = 'first'\n")
    folder = runs.project("import tenon_demo\nprint(tenon_demo.WHICH)\n", conda=pip_file(f"./wheels/{name}"),
                          files={f"wheels/{name}": first, **LOCAL})

    def submit():
        return runs.tenon.run("submit", "-c", where, "main.py", cwd=folder, timeout=240).ok().out

    assert submit() == "first\n"
    (folder / "wheels" / name).write_bytes(wheel("tenon-demo", "1.0", code="WHICH = 'second'\n")[1])
    assert submit() == "second\n"
    (folder / "wheels" / name).unlink()
    done = runs.tenon.run("submit", "-c", where, "main.py", cwd=folder)
    assert done.code == 125 and name in done.err and "conda_dependencies.yml:4" in done.err, repr(done)


def test_requirements_file(runs, index):
    text = f"# what we need\n{runs.index_line(index)}\n-r more.txt\n"
    folder = runs.project(USE + "import tenon_other\n", conda="", files={
        "aml_config/requirements.txt": text, "aml_config/more.txt": "tenon-demo==1.0 \\\n  # comment\ntenon-other\n"},
        runconfig={"CondaDependenciesFile": "aml_config/requirements.txt"}, compute={"userManagedEnvironment": False})
    assert runs.submit(folder).ok().out == "1.0\n"


def test_dead_packages_are_dropped_with_a_notice(runs, index):
    conda = pip_file("--index-url https://azuremldownloads.azureedge.net/python-repository/preview",
                     "--extra-index-url https://pypi.python.org/simple", "azureml-requirements",
                     "azure-ml-api-sdk==0.1.0a11", f"--extra-index-url {index.url(runs.engine.gateway)}", "tenon-demo")
    folder = runs.project(USE, conda=conda)
    done = runs.submit(folder).ok()
    assert done.out == "1.0\n"
    assert "azureml-requirements" in done.err and "azure-ml-api-sdk" in done.err


def test_proxy_of_the_host_is_used_by_the_build(runs, index):
    """The index has a name that only the proxy knows."""
    folder = runs.project(USE, conda=pip_file("--index-url http://packages.invalid/simple/", "tenon-demo"))
    proxy = f"http://{runs.engine.gateway}:{index.port}"
    done = runs.submit(folder, env={"http_proxy": proxy, "HTTP_PROXY": proxy, "no_proxy": None, "NO_PROXY": None}).ok()
    assert done.out == "1.0\n" and index.downloads()


def test_private_index_says_no(runs):
    with Index(password="right-one").add("tenon-demo", "1.0") as index:
        folder = runs.project(USE, conda=pip_file(runs.index_line(index), "tenon-demo"))
        done = runs.submit(folder)
        assert done.code == 125 and "tenon-demo" in done.err, repr(done)
        line = f"--index-url http://tenon:${{PASSWORD}}@{runs.engine.gateway}:{index.port}/simple/"
        rewrite(folder, pip_file(line, "tenon-demo"))
        assert runs.submit(folder, "--secret", "PASSWORD", "main.py", env={"PASSWORD": "right-one"}).ok().out == "1.0\n"


def test_resolved_list_is_recorded_with_every_run(runs, index):
    folder = runs.project(USE, conda=pip_file(runs.index_line(index), "tenon-demo"))
    runs.submit(folder).ok()
    runs.submit(folder).ok()
    for run in ("1", "2"):
        text = runs.tenon.run("env", "show", run, cwd=folder).ok().out
        assert re.search(r"tenon-demo\s+1\.0", text), text


def test_progress_is_told_by_step(runs):
    hold = threading.Event()
    with Index(hold=hold).add("tenon-demo", "1.0") as index:
        folder = runs.project(USE, conda=pip_file(runs.index_line(index), "tenon-demo"))
        watcher = runs.start(folder)
        wait_until(index.downloads, 120, "the download")
        wait_until(lambda: "pip packages" in watcher.err, 60, "word of the step")
        hold.set()
        watcher.wait(240).ok()
        assert re.search(r"environment: made in .*, 1 package, .* \(tenon/env:", watcher.err), watcher.err
    steps = {s["name"] for s in runs.details(folder)["steps"]}
    assert len(steps) > 2, steps


def test_prepare_that_fails_says_why_and_leaves_nothing(runs, index):
    folder = runs.project(USE, conda=pip_file(runs.index_line(index), "tenon-absent"))
    done = runs.tenon.run("env", "prepare", "-c", "docker-python", cwd=folder, timeout=240)
    assert done.code == 125 and "tenon-absent" in done.err and "conda_dependencies.yml" in done.err, repr(done)
    assert runs.environments() == set() and runs.engine.leftovers() == []
    assert runs.tenon.json("env", "list", "-o", "json", cwd=folder) == []


def test_names_that_mean_nothing(runs):
    folder = runs.project("print(1)\n")
    for words in (("show", "last"), ("show", "abcdef012345"), ("show", "7"), ("diff", "1", "2")):
        assert runs.tenon.run("env", *words, cwd=folder).code == 3, words
    runs.tenon.run("submit", "-c", "local", "main.py", cwd=folder).ok()
    own = runs.tenon.run("env", "show", "last", cwd=folder)
    assert own.code == 3 and "your own Python" in own.err, repr(own)
    assert "Workbench" in runs.tenon.run("az", "ml", "env", "show", cwd=folder).err
