# SPDX-License-Identifier: Apache-2.0
"""The logging API of Azure ML Workbench.

    from azureml.logging import get_azureml_logger
    logger = get_azureml_logger()
    logger.log("accuracy", 0.98)
"""
import os
import sys

import tenon


class _Stored:
    """What upload() returns."""

    def __init__(self, path):
        self._path = path

    def wait(self, timeout=None):
        """True once the artifact is on disk, False if it could not be written."""
        try:
            fd = os.open(self._path, os.O_RDONLY)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)
            return True
        except Exception:
            return False


class Logger:
    """What get_azureml_logger() returns. Neither method raises."""

    def __init__(self):
        self.log = tenon.log

    def upload(self, artifact_path, contents):
        """Stores text as the artifact outputs/<artifact_path> of the run."""
        folder = tenon.outputs_dir()
        if not folder:
            return _Stored("")
        try:
            return _Stored(_store(folder, str(artifact_path), contents))
        except Exception as error:
            try:
                sys.stderr.write("azureml.logging: upload of %r: %s\n" % (artifact_path, error))
            except Exception:
                pass
            return _Stored("")


def _store(folder, artifact_path, contents):
    parts = [p for p in artifact_path.replace("\\", "/").split("/") if p not in ("", ".")]
    if parts and parts[0] == "outputs":
        del parts[0]
    if not parts or ".." in parts or artifact_path.startswith("/") or "\0" in artifact_path:
        raise ValueError("the path must name a file below outputs/")
    root = os.path.realpath(folder)
    path = os.path.join(root, *parts)
    if os.path.realpath(os.path.dirname(path)) != os.path.dirname(path):
        raise ValueError("the path leads through a link")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if isinstance(contents, (bytes, bytearray)):
        data = bytes(contents)
    else:
        data = str(contents).encode("utf-8", "surrogateescape")
    making = "%s.%d.new" % (path, os.getpid())
    try:
        with open(making, "wb") as opened:
            opened.write(data)
        os.replace(making, path)
    except BaseException:
        if os.path.exists(making):
            os.unlink(making)
        raise
    return path


_logger = Logger()


def get_azureml_logger(*unused, **also_unused):
    """The logger of this process; every call gives the same one."""
    return _logger
