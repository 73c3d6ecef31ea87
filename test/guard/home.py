# SPDX-License-Identifier: Apache-2.0
"""Where counts of instructions can be compared with those recorded: another compiler, another C library or
other options make other instructions of the same source."""
import json
import pathlib
import platform
import re
import shutil

from .probe_tests import output

SYSTEM, PROCESSOR, COMPILER = 'Debian 12', 'x86_64', 'GCC 12'
OPTIONS = {
    'optimization': '2',
    'b_ndebug': 'true',
    'probes': 'usdt',
    'allocator': 'mimalloc',
    'limits': 'usual',
    'b_sanitize': 'none',
    'b_coverage': False,
    'b_lto': False,
    'b_pie': True,
    'cpp_args': [],
    'cpp_link_args': [],
}


def difference(vmrun):
    """In words, what is not as it was where the counts were recorded; None: nothing."""
    release = platform.freedesktop_os_release() if pathlib.Path('/etc/os-release').exists() else {}
    here = {
        'system': f"{release.get('ID', 'unknown').capitalize()} {release.get('VERSION_ID', '')}".strip(),
        'processor': platform.machine(),
    }
    for what, home in (('system', SYSTEM), ('processor', PROCESSOR)):
        if here[what] != home:
            return f'counts are of {home}, not of {here[what]}'
    for tool in ('valgrind', 'objdump', 'cc'):
        if not shutil.which(tool):
            return f'no {tool} here'
    compilers = re.findall(r'(GCC|clang)[^0-9\n]*(\d+)', output('readelf', '-p', '.comment', vmrun))
    if {' '.join(c) for c in compilers} != {COMPILER}:
        return f'counts are of {COMPILER}, and vmrun was compiled by ' + (
            ' and '.join(' '.join(c) for c in compilers) or 'another compiler'
        )
    return other_options(pathlib.Path(vmrun).resolve().parent / 'meson-info/intro-buildoptions.json')


def other_options(path):
    if not path.exists():
        return None
    values = {option['name']: option['value'] for option in json.loads(path.read_text())}
    other = [
        f'-D{name}={values[name]}'
        for name, home in OPTIONS.items()
        if name in values and values[name] != home
    ]
    return f'counts are of the usual build, and this one has {" ".join(other)}' if other else None
