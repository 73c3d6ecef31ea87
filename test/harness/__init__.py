# SPDX-License-Identifier: Apache-2.0
"""The pieces of test/run: results, golden scripts, unit tests, live-attach tests and document checks."""
