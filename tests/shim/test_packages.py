# SPDX-License-Identifier: Apache-2.0
"""The shim hides no real package."""
import os
import subprocess
import sys

import pytest
from shim.shim import PYTHONS, Run

PKGUTIL = "__path__ = __import__('pkgutil').extend_path(__path__, __name__)\n"


def make(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_beside_a_package_laid_out_as_azureml_core(run):
    site = run.folder / "site"
    make(site, {"azureml/__init__.py": PKGUTIL, "azureml/core/__init__.py": "who = 'real'",
                "azureml/_logging/__init__.py": "who = 'real'", "azure/storage/blob/__init__.py": "who = 'real'"})
    run.environment["PYTHONPATH"] += os.pathsep + str(site)
    run.script("""
import azureml.core, azureml._logging, azure.storage.blob
from azureml.logging import get_azureml_logger
assert azureml.core.who == azureml._logging.who == azure.storage.blob.who == 'real'
get_azureml_logger().log('a', 1.0)
""")
    assert run.values("a") == [1.0]


def test_beside_a_namespace_package(run):
    site = run.folder / "site"
    make(site, {"azureml/part/__init__.py": "who = 'real'"})
    run.environment["PYTHONPATH"] += os.pathsep + str(site)
    run.script("import azureml.logging, azureml.part; assert azureml.part.who == 'real'")


def test_beside_a_package_with_contents_of_its_own(run):
    site = run.folder / "site"
    make(site, {"azureml/__init__.py": "from azureml.errors import Problem\nfrom .errors import Problem as P\nclass Workspace: pass\n",
                "azureml/errors.py": "class Problem(Exception): pass\n"})
    run.environment["PYTHONPATH"] += os.pathsep + str(site)
    run.script("""
from azureml import Workspace
import azureml, azureml.errors
from azureml.logging import get_azureml_logger
assert azureml.Problem is azureml.errors.Problem is azureml.P
get_azureml_logger().log('a', 1.0)
""")
    assert run.values("a") == [1.0]


def test_beside_a_package_that_does_not_import(run):
    site = run.folder / "site"
    make(site, {"azureml/__init__.py": "raise RuntimeError('broken')\n", "azureml/x.py": ""})
    run.environment["PYTHONPATH"] += os.pathsep + str(site)
    run.script("from azureml.logging import get_azureml_logger\nget_azureml_logger().log('a', 1.0)\nimport azureml.x")
    assert run.values("a") == [1.0]


def test_package_that_comes_to_the_path_later(run):
    site = run.folder / "site"
    make(site, {"azureml/__init__.py": PKGUTIL, "azureml/core.py": "who = 'real'"})
    run.script("""
import sys
import azureml.logging
sys.path.append(%r)
import azureml.core
assert azureml.core.who == 'real'
""" % str(site))


def test_the_standard_logging_module_is_left_alone(run):
    run.script("import azureml.logging, logging; assert logging.getLogger and azureml.logging is not logging")


def test_one_logger_per_process_however_it_is_asked_for(run):
    run.script("""
from azureml.logging import get_azureml_logger
first, second = get_azureml_logger(), get_azureml_logger('name', level=1)
first.log('a', 1.0); second.log('a', 2.0)
""")
    assert run.values("a") == [1.0, 2.0] and len(run.chunks()) == 1


REAL = {"azureml/__init__.py": "", "azureml/api/__init__.py": "", "azureml/api/schema/__init__.py": "",
        "azureml/api/schema/dataTypes.py": "who = 'real'", "azureml/assets.py": "who = 'real'",
        "azureml/datacollector/__init__.py": "who = 'real'", "azureml/dataprep/__init__.py": "who = 'real'",
        "azureml_sdk/__init__.py": "who = 'real'", "azure/__init__.py": PKGUTIL, "azure/ml/__init__.py": PKGUTIL,
        "azure/ml/api/__init__.py": "who = 'real'"}


def test_real_modules_win_and_what_they_lack_is_added(run):
    site = run.folder / "site"
    make(site, REAL)
    run.environment["PYTHONPATH"] += os.pathsep + str(site)
    run.script("""
import azureml.api.schema.dataTypes, azureml.assets, azureml.datacollector, azureml.dataprep, azureml_sdk, azure.ml.api
for module in (azureml.api.schema.dataTypes, azureml.assets, azureml.datacollector, azureml.dataprep, azureml_sdk,
               azure.ml.api):
    assert module.who == 'real', module
from azureml.dataprep.package import run
from azureml.api.realtime.services import generate_schema
from azureml.logging import get_azureml_logger
""")


def test_azure_set_up_when_python_starts(run):
    """As the *-nspkg.pth files of the time do: azure is there, with a path of its own."""
    site = run.folder / "site"
    make(site, {"azure/storage/blob.py": "who = 'real'"})
    run.script("""
import sys, types
azure = sys.modules['azure'] = types.ModuleType('azure')
azure.__path__ = [%r]
from azureml.logging import get_azureml_logger
from azure.ml.api.schema.dataTypes import DataTypes
import azure.storage.blob
assert DataTypes.SPARK == 2 and azure.storage.blob.who == 'real'
""" % str(site / "azure"))


def test_what_nobody_has_is_still_missing(run):
    run.script("""
for name in ('azureml.core', 'azureml.api.nothing', 'azure.storage', 'azure.ml.nothing', 'azureml_sdk.nothing',
             'azureml._fallback.nothing'):
    try: __import__(name)
    except ImportError as error: assert 'azure' in str(error), error
    else: raise AssertionError(name)
    import azureml.logging
""")


@pytest.mark.deep
@pytest.mark.seconds(1800)
@pytest.mark.planned_skip("the packages cannot be installed here")
def test_beside_the_real_packages_of_the_time(tmp_path):
    old = [PYTHONS[v] for v in sorted(PYTHONS) if v.startswith(("3.6.", "3.7."))]
    if not old:
        pytest.skip("needs Python 3.6 or 3.7")
    run = Run(old[0], tmp_path)
    venv = tmp_path / "venv"
    subprocess.run([old[0], "-m", "venv", str(venv)], check=True)
    installed = subprocess.run([str(venv / "bin/pip"), "install", "-q", "azure-ml-api-sdk==0.1.0a11",
                                "azureml.datacollector==0.1.0a13", "azure-storage==0.36.0", "pandas"],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if installed.returncode != 0:
        pytest.skip("pip: " + installed.stdout.decode()[-300:])
    run.python = str(venv / "bin/python")
    out = run.script("""
import warnings; warnings.simplefilter('ignore')
from azureml.logging import get_azureml_logger
get_azureml_logger().log('a', 1.0)
import azureml.api.realtime.services, azure.storage.blob, azure.ml.api.schema.dataTypes
print(azureml.api.realtime.services.__file__, azure.storage.blob.__file__, azure.ml.api.schema.dataTypes.__file__)
import pandas
from azureml.api.schema.dataTypes import DataTypes
from azureml.api.schema.sampleDefinition import SampleDefinition
SampleDefinition(DataTypes.PANDAS, pandas.DataFrame({'a': [1.0]}))
from azureml.assets import get_local_path
from azureml.dataprep.package import run
import importlib.util
spec = importlib.util.find_spec('azureml.datacollector')
assert 'site-packages' in spec.origin, spec
""")
    assert all("site-packages" in path for path in out.split())
    assert run.values("a") == [1.0]


@pytest.mark.deep
@pytest.mark.seconds(1800)
@pytest.mark.planned_skip("the packages cannot be installed here")
def test_beside_the_real_packages(newest_run, tmp_path):
    run = newest_run
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    installed = subprocess.run([str(venv / "bin/pip"), "install", "-q", "azureml-core", "azure-storage-blob"],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if installed.returncode != 0:
        pytest.skip("pip: " + installed.stdout.decode()[-300:])
    run.python = str(venv / "bin/python")
    out = run.script("""
import warnings; warnings.simplefilter('ignore')
from azureml.logging import get_azureml_logger
get_azureml_logger().log('a', 1.0)
import azureml.core, azureml._logging, azure.storage.blob
from azureml.core import Workspace, Run
print(azureml.core.__file__, azure.storage.blob.__file__)
""")
    assert all("site-packages" in path for path in out.split())
    assert run.values("a") == [1.0]
