# SPDX-License-Identifier: Apache-2.0
"""Suites that take minutes: run with ./dev test --slow."""
