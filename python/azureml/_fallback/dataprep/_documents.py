# SPDX-License-Identifier: Apache-2.0
"""What can be told from a .dprep or .dsource document: the data files it names."""
import json
import os

_ENDINGS = (".csv", ".tsv", ".txt", ".json", ".parquet", ".xls", ".xlsx", ".gz", ".zip")


class DataPrepError(NotImplementedError):
    """The document needs the data preparation engine, which Tenon has not got."""


def named_files(path):
    """The data files a document names, as they are written there. OSError, ValueError."""
    with open(path, encoding="utf-8-sig") as opened:
        document = json.load(opened)
    found = []
    for text in _strings(document):
        if text.lower().endswith(_ENDINGS) and "\n" not in text and text not in found:
            found.append(text)
    return found


def _strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for member in value:
            for text in _strings(member):
                yield text


def local_file(path, name):
    """A file of that name from where the document lies or from here; None if there is none. Documents of other
    machines have absolute paths, so the last part alone will do."""
    name = name.replace("\\", "/")
    for folder in (os.path.dirname(path), "."):
        for candidate in (name, os.path.basename(name)):
            full = os.path.join(folder, candidate)
            if os.path.isfile(full):
                return full
    return None


def refuse(path, what):
    if not os.path.isfile(path):
        raise FileNotFoundError("there is no file %s in %s" % (path, os.getcwd()))
    text = "%s: Tenon can't %s: that took the data preparation engine of Azure ML Workbench. " % (path, what)
    try:
        names = named_files(path)
    except (OSError, ValueError):
        names = []
    if names:
        text += "The document names %s: read that instead, for example " % ", ".join(names[:3])
    else:
        text += "Read the data itself instead, for example "
    first = os.path.basename(names[0].replace("\\", "/")) if names else "data.csv"
    raise DataPrepError(text + "pandas.read_csv(%r), and do the steps of the package in Python." % first)
