# SPDX-License-Identifier: Apache-2.0
"""File operations on a disk that fails."""
