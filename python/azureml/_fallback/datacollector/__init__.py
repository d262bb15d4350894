# SPDX-License-Identifier: Apache-2.0
"""Keeps what a scoring script is asked and answers. The storage it once went to is gone; within Tenon it goes
into outputs/modeldata/ of the run, elsewhere nowhere."""
from azureml.datacollector.modeldatacollector import ModelDataCollector  # noqa: F401
