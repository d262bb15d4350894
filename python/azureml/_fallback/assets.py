# SPDX-License-Identifier: Apache-2.0
"""Where the contents of a promoted artifact lie.

"tenon asset download -l assets/model.pkl.link -d folder" puts the contents and a copy of the link file into
the folder; get_local_path("folder/model.pkl.link") is then the path of the contents.
"""
import json
import os


def get_local_path(link_path):
    """The path of the downloaded file or folder. FileNotFoundError says how to get it, ValueError what is
    wrong with the link file."""
    link_path = str(link_path)
    folder = os.path.dirname(link_path)
    for name in _names(link_path):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            return path
    raise FileNotFoundError(
        "the contents of %s are not beside it; get them with: tenon asset download -l %s -d %s"
        % (link_path, link_path, folder or "."))


def _names(link_path):
    """What the contents may be called: as the asset, or as the link file without its ending."""
    if not os.path.isfile(link_path):
        raise FileNotFoundError("there is no link file %s (in %s); \"tenon history promote\" makes one in assets/"
                                % (link_path, os.getcwd()))
    try:
        with open(link_path, encoding="utf-8-sig") as opened:
            link = json.load(opened)
        name = link["name"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError("%s is no link file, such as {\"assetSource\":\"azureml\",\"name\":\"model.pkl\","
                         "\"version\":\"1\"}: %s" % (link_path, error))
    own = os.path.basename(link_path)
    own = own[:-len(".link")] if own.endswith(".link") else ""
    for candidate in (name, own):
        if isinstance(candidate, str) and candidate == os.path.basename(candidate) \
                and candidate not in ("", ".", "..", os.path.basename(link_path)):
            yield candidate
