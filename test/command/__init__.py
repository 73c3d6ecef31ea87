# SPDX-License-Identifier: Apache-2.0
"""vmrun as a command among others: what it is started with, how it ends."""
