# SPDX-License-Identifier: Apache-2.0
"""Adds azureml.logging to whatever else is called azureml on this machine.

This folder comes first on the path, so it must hide nothing: the package's path goes on through every
other azureml folder, also those that come to sys.path later, and what another azureml/__init__.py
defines is defined here as well.
"""
import os as _os
import sys as _sys
from pkgutil import extend_path as _extend_path


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


_path = _EveryFolder(__path__)
__path__ = _path


def _run_the_other():
    own = _os.path.realpath(_os.path.dirname(__file__))
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
