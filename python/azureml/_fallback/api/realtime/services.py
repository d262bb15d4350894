# SPDX-License-Identifier: Apache-2.0
"""Writes down what a scoring function takes and gives. Tenon runs no web services; the file is for whoever does."""
import inspect
import json
import os


def generate_schema(run_func, inputs=None, outputs=None, filepath=None):
    """{"input": {name: description}, "output": …}; also into a file if one is named.

    inputs and outputs: {name: SampleDefinition}. Raises ValueError if they don't fit the function."""
    schema = {}
    for member, samples in (("input", inputs), ("output", outputs)):
        if samples is not None:
            schema[member] = _serialize(member, samples)
    _check_arguments(run_func, inputs or {})
    if filepath is not None:
        folder = os.path.dirname(filepath)
        if folder:
            os.makedirs(folder, exist_ok=True)
        with open(filepath, "w") as opened:
            json.dump(schema, opened, indent=1, sort_keys=True)
            opened.write("\n")
    return schema


def _serialize(member, samples):
    if not isinstance(samples, dict):
        raise ValueError("%ss must be {name: SampleDefinition}, not %s" % (member, type(samples).__name__))
    for name, sample in samples.items():
        if not callable(getattr(sample, "serialize", None)):
            raise ValueError("%s %r must be a SampleDefinition, not %s" % (member, name, type(sample).__name__))
    return {str(name): sample.serialize() for name, sample in samples.items()}


def _check_arguments(run_func, inputs):
    wanted = list(inspect.signature(run_func).parameters)
    missing = [name for name in wanted if name not in inputs]
    unknown = [name for name in inputs if name not in wanted]
    if missing or unknown:
        raise ValueError("%s(%s) and the inputs (%s) don't fit together"
                         % (getattr(run_func, "__name__", "the function"), ", ".join(wanted),
                            ", ".join(sorted(inputs)) or "none"))
