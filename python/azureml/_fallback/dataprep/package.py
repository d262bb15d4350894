# SPDX-License-Identifier: Apache-2.0
"""Packages of data preparation steps (.dprep)."""
from azureml.dataprep import _documents
from azureml.dataprep._documents import DataPrepError  # noqa: F401


def run(package_path, dataflow_idx=0, secrets=None, spark=None, **unused):
    """Raises DataPrepError, with the data file to read instead."""
    _documents.refuse(str(package_path), "run .dprep packages")


def submit(package_path, dataflow_idx=0, secrets=None, spark=None, **unused):
    """Raises DataPrepError."""
    _documents.refuse(str(package_path), "run .dprep packages")


def run_on_data(user_config, package_path, dataflow_idx=0, secrets=None, spark=None, **unused):
    """Raises DataPrepError."""
    _documents.refuse(str(package_path), "run .dprep packages")
