# SPDX-License-Identifier: Apache-2.0
"""Adds the modules of Azure ML Workbench to whatever else is called azureml on this machine.

This folder comes first on the path, so it must hide nothing: the package's path goes on through every
other azureml folder, also those that come to sys.path later, and what another azureml/__init__.py
defines is defined here as well. Only azureml.logging is always ours. The others lie in _fallback/ and are
found when nobody else has a module of that name.
"""
import os as _os
import sys as _sys
from importlib.machinery import PathFinder as _PathFinder
from pkgutil import extend_path as _extend_path

_OWN = _os.path.dirname(_os.path.abspath(__file__))


class _EveryFolder(list):
    """A package path that follows sys.path."""

    def __init__(self, own):
        super(_EveryFolder, self).__init__(own)
        self._own = list(own)
        self._seen = None

    def __iter__(self):
        if self._seen != _sys.path:
            self._seen = list(_sys.path)
            self[:] = _extend_path(list(self._own), __name__)
        return super(_EveryFolder, self).__iter__()


class _Fallback:
    """Stands last in sys.meta_path, so it is asked for what no other package has: azureml.X, and azure.ml
    where an azure package was set up at the start of Python with a path of its own."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        parts = name.split(".")
        if parts[0] == "azureml" and len(parts) > 1:
            folder = _os.path.join(_OWN, "_fallback", *parts[1:-1])
        elif parts[:2] == ["azure", "ml"]:
            folder = _os.path.join(_os.path.dirname(_OWN), *parts[:-1])
        else:
            return None
        return _PathFinder.find_spec(name, [folder])


if not any(type(finder).__name__ == "_Fallback" for finder in _sys.meta_path):
    _sys.meta_path.append(_Fallback())

_path = _EveryFolder(__path__)
__path__ = _path


def _run_the_other():
    own = _os.path.realpath(_OWN)
    for folder in _path:
        source = _os.path.join(folder, "__init__.py")
        if _os.path.realpath(folder) != own and _os.path.isfile(source):
            with open(source, "rb") as opened:
                exec(compile(opened.read(), source, "exec"), globals())
            return


try:
    _run_the_other()
except Exception:  # broken without us too; azureml.logging must work all the same
    pass
__path__ = _path
