# SPDX-License-Identifier: Apache-2.0
"""Random Erlang programs."""
