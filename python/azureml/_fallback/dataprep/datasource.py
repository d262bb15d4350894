# SPDX-License-Identifier: Apache-2.0
"""Data sources (.dsource)."""
import sys

from azureml.dataprep import _documents
from azureml.dataprep._documents import DataPrepError  # noqa: F401


def load_datasource(path, secrets=None, spark=None, **unused):
    """A pandas DataFrame of the one text file that the data source names, if it is here; else DataPrepError.
    Samples and steps of the data source are not applied, and standard error says so."""
    path = str(path)
    try:
        files = [_documents.local_file(path, name) for name in _documents.named_files(path)]
    except (OSError, ValueError):
        files = []
    files = sorted({name for name in files if name and name.lower().endswith((".csv", ".tsv"))})
    if len(files) != 1:
        _documents.refuse(path, "load this data source")
    try:
        import pandas
    except ImportError:
        raise DataPrepError("%s: pandas is needed to read %s; install it: pip install pandas" % (path, files[0]))
    sys.stderr.write("azureml.dataprep: %s: reading all of %s; samples and steps of the data source are not applied\n"
                     % (path, files[0]))
    return pandas.read_csv(files[0], sep="\t" if files[0].lower().endswith(".tsv") else ",")
