# SPDX-License-Identifier: Apache-2.0
"""The %azureml magic of Workbench notebooks: %load_ext tenon makes it known."""
import os

from azureml.logging import get_azureml_logger

_HELP = "%azureml history on | history off | history show | upload FILE"


def azureml(line):
    words = line.split()
    if words[:1] == ["upload"] and len(words) > 1:
        path = line.split(None, 1)[1].strip()
        with open(path, "rb") as opened:
            return get_azureml_logger().upload(os.path.basename(path), opened.read())
    if words[:1] == ["history"]:
        run = os.environ.get("TENON_RUN_ID")
        if words[1:] == ["show"]:
            print("Run %s" % run if run else "This is no run of Tenon; \"tenon history list\" shows those there are.")
            return None
        if words[1:] in (["on"], ["off"]):
            print("Every run of Tenon is kept in its history; cells of a notebook are not runs.")
            return None
    print(_HELP)
    return None


def register(ipython):
    ipython.register_magic_function(azureml, "line", "azureml")
