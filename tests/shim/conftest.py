# SPDX-License-Identifier: Apache-2.0
import pytest
from e2e import sample_envs
from shim.shim import PYTHONS, Run


@pytest.fixture(params=sorted(PYTHONS, key=lambda v: [int(p) for p in v.rstrip("+").split(".")]))
def run(request, tmp_path):
    """Once for every Python of this machine."""
    return Run(PYTHONS[request.param], tmp_path)


@pytest.fixture
def newest_run(tmp_path):
    name = max(PYTHONS, key=lambda v: [int(p) for p in v.rstrip("+").split(".")])
    return Run(PYTHONS[name], tmp_path)


@pytest.fixture
def pandas_run(tmp_path):
    """In the Python of the scikit-learn sample, which has numpy and pandas."""
    try:
        return Run(sample_envs.get("scikit-learn", build=True).python, tmp_path)
    except sample_envs.Missing as missing:
        pytest.skip(str(missing))
