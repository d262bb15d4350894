# SPDX-License-Identifier: Apache-2.0
"""What a script can say to the Tenon run it is part of.

    import tenon
    tenon.log("loss", 0.5)              # a series: one point per call
    tenon.log("loss", 0.4, step=10)
    tenon.log("accuracy", 0.98).wait()  # True once it is on disk

Outside Tenon all of this does nothing and says nothing. Pure Python, 3.5 and later.
"""
import os as _os

from tenon import _files

_writer = _files.open_writer()

log = _writer.log


def active():
    """Whether this process is part of a Tenon run."""
    return isinstance(_writer, _files.Writer)


def run_id():
    """The id of the run, None outside Tenon."""
    return _os.environ.get("TENON_RUN_ID") or None


def outputs_dir():
    """The folder whose contents are kept with the run, None outside Tenon."""
    return _os.environ.get("TENON_OUTPUTS_DIR") or None


def wait(timeout=None):
    """True once all this process has logged is on disk."""
    return _writer.wait(timeout)


def load_ipython_extension(ipython):
    """%load_ext tenon: the %azureml magic of Workbench notebooks."""
    from tenon import _magics
    _magics.register(ipython)
