# SPDX-License-Identifier: Apache-2.0
"""The name of mid-2017 for the run's logger.

    from azureml_sdk import data_collector
    data_collector.current_run().log("accuracy", 0.98)
"""
from azureml.logging import get_azureml_logger


def current_run(*unused, **also_unused):
    """The logger of this process."""
    return get_azureml_logger()
