# SPDX-License-Identifier: Apache-2.0
"""What a scoring function takes and gives, described by examples."""
