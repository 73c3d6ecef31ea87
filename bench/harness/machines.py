# SPDX-License-Identifier: Apache-2.0
"""The machines that run workloads: a vmrun, a stock erl. Each turns a workload into a command."""
import functools
import pathlib
import re
import shutil
import subprocess

from . import BENCH, ROOT
from harness import golden, script

COMMON = BENCH / 'common'


class Vmrun:
    def __init__(self, path, flags=()):
        self.path, self.flags = str(path), list(flags)

    def command(self, source, flags=(), arguments=()):
        return [self.path, *self.flags, *flags, '-pa', str(COMMON), str(source), *arguments]

    @property
    def program(self):
        """What a tracer looks into."""
        return self.path


class Erl:
    """Programs compiled by erlc into a folder, run by erl."""

    def __init__(self, folder, path='erl'):
        self.path = path
        self.stock = golden.StockErl(folder, ROOT / 'test' / 'harness')
        self.compiled = {}
        subprocess.run(['erlc', '-o', folder, *map(str, sorted(COMMON.glob('*.erl')))], check=True)

    def command(self, source, flags=(), arguments=()):
        if source not in self.compiled:
            folder, module, (status, out, err) = self.stock.compile(script.Script(source, BENCH))
            if status != 0:
                raise RuntimeError(f'erlc {source}: {out}{err}')
            self.compiled[source] = (folder, module)
        folder, module = self.compiled[source]
        return [
            self.path,
            '-noshell',
            *flags,
            '-pa',
            str(self.stock.folder),
            '-pa',
            str(folder),
            '-run',
            'act_main',
            'start',
            module,
            *(['-extra', *arguments] if arguments else []),
        ]

    @functools.cached_property
    def program(self):
        """What a tracer looks into: the emulator, not the command that starts it."""
        where = self.told('io:format("~s/erts-~s/bin", [code:root_dir(), erlang:system_info(version)])')
        return str(pathlib.Path(where) / 'beam.smp')

    def told(self, expression):
        run = subprocess.run(
            [self.path, '-noshell', '-eval', f'{expression}, halt().'], capture_output=True, text=True
        )
        return run.stdout

    @functools.cached_property
    def version(self):
        return self.told(
            'io:format("~s, ERTS ~s~s", [erlang:system_info(otp_release), erlang:system_info(version), '
            'case catch erlang:system_info(emu_flavor) of jit -> " (JIT)"; _ -> "" end])'
        )

    @functools.cached_property
    def has_probes(self):
        notes = subprocess.run(['readelf', '-nW', self.program], capture_output=True, text=True).stdout
        return bool(re.search(r'Provider: erlang\b', notes))


def no_erl():
    return None if shutil.which('erl') and shutil.which('erlc') else 'no erl here'


def compile_native(folder):
    """The C libraries of the programs in native/, for both machines: compiled against the project's own
    header."""
    for source in (BENCH / 'native').glob('*.c'):
        subprocess.run(
            [
                'cc',
                '-O2',
                '-shared',
                '-fPIC',
                f'-I{ROOT / "vm/include"}',
                str(source),
                '-o',
                f'{folder}/{source.stem}.so',
            ],
            check=True,
        )
    golden.ENVIRONMENT['NATIVE_DIR'] = str(folder)
