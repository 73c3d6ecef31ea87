# SPDX-License-Identifier: Apache-2.0
"""What ./dev bench consists of: docs/internals/benchmarks.md has the map and the format of the figures."""
import pathlib
import sys

BENCH = pathlib.Path(__file__).resolve().parents[1]
ROOT = BENCH.parent

# Programs are compiled and run as the tests do it: test/harness.
if str(ROOT / 'test') not in sys.path:
    sys.path.insert(0, str(ROOT / 'test'))
