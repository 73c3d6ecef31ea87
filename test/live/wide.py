# SPDX-License-Identifier: Apache-2.0
"""All arguments of probes, read by gdb, because bpftrace 0.17 sees six at most. This is slower, with one stop
per firing, so it is for small programs."""
import os
import pathlib
import shutil
import subprocess

from harness.results import Failure, Skip

from . import session

READER = pathlib.Path(__file__).resolve().parent / 'gdb_probes.py'
LETTERS = {'string': 's', 'int': 'i', 'uint32': 'i', 'int64': 'i'}


class Firing:
    def __init__(self, line):
        _, self.thread, self.probe, *self.arguments = line.split('|')

    def __repr__(self):
        return ' '.join([self.probe.replace('__', '-'), *self.arguments])


def trace(vmrun, source, table, names, flags=('+S', '2'), arguments=(), environment=None):
    """Runs a program of test/live under gdb. Returns the lines it printed and the firings in order."""
    if not shutil.which('gdb'):
        raise Skip('no gdb here')
    wanted = ' '.join(
        f'{p.name}:{"".join(LETTERS[a.kind] for a in p.arguments)}' for p in table.probes if p.name in names
    )
    with session.Target(vmrun, source, flags, arguments, environment) as target:
        gdb = subprocess.Popen(
            [
                'gdb',
                '-q',
                '-nx',
                '-batch',
                '-p',
                str(target.process.pid),
                '-ex',
                'set pagination off',
                '-ex',
                'set print thread-events off',
                '-ex',
                f'set $probes = "{wanted}"',
                '-ex',
                f'source {READER}',
                '-ex',
                'continue',
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors='replace',
            env=dict(os.environ, DEBUGINFOD_URLS=''),
        )
        try:
            output = session.Lines(gdb.stdout)
            try:
                output.until('tracing', 'gdb')
            except Failure as failure:
                if any('Operation not permitted' in line for line in output.seen):
                    raise Skip('gdb may not attach here') from None
                raise failure
            target.line('go')
            target.wait_for('done')
            target.finish()
            lines = output.rest()
        finally:
            gdb.kill()
            gdb.wait()
    return target.output.seen, [Firing(line) for line in lines if line.startswith('firing|')]
