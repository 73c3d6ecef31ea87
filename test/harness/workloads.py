# SPDX-License-Identifier: Apache-2.0
"""Runs every workload of bench/ at its smallest size. A workload checks its result itself."""
import pathlib
import re
import sys
import tempfile

from . import golden
from .native import compile_library
from .results import Failure, Test

PATIENCE_S = 60


def tests(root, vmrun):
    sys.path.insert(0, str(root))
    from bench.harness import workloads

    return [
        Test('bench', w.name, lambda w=w: measured(root, vmrun, w.path, w.arguments('small')))
        for w in workloads.find()
        if w.quick
    ]


def measured(root, vmrun, path, size):
    with tempfile.TemporaryDirectory(prefix='vmrun-workload-') as folder:
        for library in path.parent.glob('*.c'):
            shared(root, library, pathlib.Path(folder) / f'{library.stem}.so')
        command = [vmrun, '-pa', str(root / 'bench' / 'common'), str(path), *size]
        status, out, err = golden.run_program(
            command, '', PATIENCE_S, env=dict(golden.ENVIRONMENT, NATIVE_DIR=folder)
        )
    if status != 0 or not re.fullmatch(r'\d+ .+\n', out):
        raise Failure(
            f'status {status}, printed {out[-500:]!r}, not one line of microseconds and a result\n'
            f'{err[-1500:]}\n'
            f'command: {" ".join(command)}'
        )


def shared(root, source, target):
    """Makes a library of C that a workload loads."""
    compile_library(root / 'vm/include', source, target, '-O2')
