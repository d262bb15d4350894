# SPDX-License-Identifier: Apache-2.0
"""docs/formats/sample.md carried out in Python, to compare the program with and to make projects for tests."""

import json
import os
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "samples"
NAMES = sorted(p.parent.name for p in SAMPLES.glob("*/sample.json"))
LEFT_OUT = {"outputs", "__pycache__", ".pytest_cache", ".mypy_cache", ".ipynb_checkpoints", "azureml-logs"}


def description(name):
    return json.loads((SAMPLES / name / "sample.json").read_text())


def files(name):
    """{path in the new project: file it comes from}"""
    found = {}
    for path in sorted((SAMPLES / name).rglob("*")):
        relative = path.relative_to(SAMPLES / name)
        if path.is_file() and not LEFT_OUT & set(relative.parts) and relative != Path("sample.json"):
            found[relative.as_posix()] = path
    for target, source in description(name).get("borrow", {}).items():
        assert target not in found, f"{name}: {target} is borrowed and there"
        found[target] = SAMPLES / source
    return found


def make(name, folder, python=None):
    """The project in a new folder; `python` becomes its pythonLocation."""
    for target, source in files(name).items():
        path = Path(folder) / target
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(source.read_bytes())
        os.chmod(path, source.stat().st_mode & 0o777)
    if python:
        compute = Path(folder) / "aml_config" / "local.compute"
        text, count = re.subn(r"^pythonLocation: .*$", lambda _: f'pythonLocation: "{python}"', compute.read_text(),
                              flags=re.M)
        assert count == 1
        compute.write_text(text)
    return Path(folder)
