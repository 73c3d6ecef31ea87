# SPDX-License-Identifier: Apache-2.0
"""Erlang/OTP's own suites, run by vmrun."""
