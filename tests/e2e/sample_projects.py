# SPDX-License-Identifier: Apache-2.0
"""docs/formats/sample.md carried out in Python, to compare the program with."""

import json
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
