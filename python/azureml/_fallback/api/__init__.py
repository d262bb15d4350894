# SPDX-License-Identifier: Apache-2.0
"""The part of the web service SDK that training and scoring scripts import."""
