# SPDX-License-Identifier: Apache-2.0
"""The machine also compiles with the other ways of firing probes, which the build folder does not have. Only
the relevant files are compiled, without making code: the generated sources, and some that fire."""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from .results import Failure, Skip, Test

GENERATED = {
    'provider': 'probes/erlang.d',
    'header': 'probes/probes.hpp',
    'site-header': 'probes/sites.hpp',
    'sites': 'probes/probe_sites.cpp',
    'fire-header': 'vm/probes/fire.hpp',
    'fire-source': 'vm/probes/fire.cpp',
}
# Files with messages, ranges of probes, texts of many kinds, and the interpreter with its two tables.
FIRING = {
    'none': [
        'vm/message/send.cpp',
        'vm/message/deliver.cpp',
        'vm/lifecycle/exit.cpp',
        'vm/port/closing.cpp',
        'runtime/bif/dyntrace.cpp',
        'drivers/efile/probes.cpp',
        'vm/code/interpreter.cpp',
        'probes/attach/firing.cpp',
        'probes/attach/machine_host.cpp',
        'probes/attach/endpoint.cpp',
        'probes/attach/consumer_connection.cpp',
    ],
    'dtrace': ['vm/message/send.cpp', 'runtime/bif/dyntrace.cpp', 'probes/attach/firing.cpp'],
}


def tests(root, build):
    return [
        Test('docs', f'compiles with -Dprobes={mode}', lambda mode=mode: compiles(root, build, mode))
        for mode in FIRING
    ]


def generate(root, folder, mode):
    generator, table = str(root / 'probes/gen_probes.py'), str(root / 'probes/probes.tab')
    for what, name in GENERATED.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        middle = {'provider': [], 'sites': [mode, 'probes/erlang_provider.h']}.get(what, [mode])
        subprocess.run([sys.executable, generator, table, what, *middle, str(folder / name)], check=True)
    if mode != 'none':
        subprocess.run(
            [
                'dtrace',
                '-h',
                '-s',
                str(folder / 'probes/erlang.d'),
                '-o',
                str(folder / 'probes/erlang_provider.h'),
            ],
            check=True,
        )


def compiles(root, build, mode):
    if mode != 'none' and not shutil.which('dtrace'):
        raise Skip('no dtrace to make the provider header')
    options = (build / 'meson-info/intro-buildoptions.json').read_text()
    if re.search(r'"name": "probes", "value": "%s"' % mode, options):
        raise Skip('the build folder is of this kind')
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        generate(root, folder, mode)
        sources = [
            folder / GENERATED['sites'],
            folder / GENERATED['fire-source'],
            *(root / f for f in FIRING[mode]),
        ]
        found = [folder, root, build] + [build / f for f in ('vm', 'vm/code', 'vm/term', 'runtime/bif')]
        command = [
            'c++',
            '-std=c++20',
            '-fsyntax-only',
            '-fno-rtti',
            '-Wall',
            '-Wextra',
            '-Werror',
            '-Wno-unused-parameter',
            *(f'-I{f}' for f in found),
        ] + ['-DVMRUN_NATIVE_DTRACE'] * (mode == 'dtrace')
        told = subprocess.run(command + [str(s) for s in sources], capture_output=True, text=True)
        if told.returncode:
            raise Failure('\n'.join(told.stderr.splitlines()[:20]))
