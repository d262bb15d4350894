# SPDX-License-Identifier: Apache-2.0
"""The kinds of sample data."""


class DataTypes(object):
    STANDARD = 0
    NUMPY = 1
    SPARK = 2
    PANDAS = 3
