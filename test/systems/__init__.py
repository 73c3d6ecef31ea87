# SPDX-License-Identifier: Apache-2.0
"""Real systems on vmrun and on a stock erl."""
