# SPDX-License-Identifier: Apache-2.0
"""Checks the scripts of scripts/ against the probe table and, where the tool is installed, with the tool's
own parser."""
import functools
import os
import platform
import pathlib
import re
import shutil
import subprocess
import tempfile

from .results import Failure, Skip, Test

# Folder, ending, and how a script of that tool names a probe and its arguments (argument numbers start at
# first).
TOOLS = {
    'd': ('.d', r'erlang\$target:::([\w-]+)', r'(copyinstr\()?\barg(\d+)', 0),
    'stap': ('.stp', r'mark\("([\w-]+)"\)', r'(user_string\()?\$arg(\d+)', 1),
    'bpftrace': ('.bt', r'usdt:\*:erlang:(\w+)', r'(str\()?\barg(\d+)', 0),
}


def tests(root, table, vmrun):
    result = []
    for tool, (ending, *_) in TOOLS.items():
        folder = root / 'scripts' / tool
        result.append(
            Test('docs', f'a {tool} script per family', lambda t=tool: one_per_family(root, table, t))
        )
        for path in sorted(folder.glob('*' + ending)):
            result.append(
                Test(
                    'docs',
                    f'{tool} script {path.name}',
                    lambda p=path, t=tool: names_and_arguments(p, t, table),
                )
            )
    result.append(
        Test('docs', 'tracing scripts are there for every tool, and in the guide', lambda: all_listed(root))
    )
    for path in sorted((root / 'scripts' / 'bpftrace').glob('*.bt')):
        result.append(Test('docs', f'bpftrace parses {path.name}', lambda p=path: bpftrace_parses(p, vmrun)))
    for path in sorted((root / 'scripts' / 'stap').glob('*.stp')):
        result.append(Test('docs', f'stap parses {path.name}', lambda p=path: stap_parses(p, vmrun)))
    for path in sorted((root / 'scripts' / 'd').glob('*.d')):
        result.append(Test('docs', f'dtrace parses {path.name}', lambda p=path: dtrace_parses(p)))
    return result


def d_name(name):
    return name.replace('__', '-')


def one_per_family(root, table, tool):
    ending, probe_pattern, _, _ = TOOLS[tool]
    for family, _ in table.families:
        path = root / 'scripts' / tool / (family.replace('-', '_') + ending)
        if not path.exists():
            raise Failure(f'{path} is missing')
        named = {d_name(name) for name in re.findall(probe_pattern, path.read_text())}
        wanted = {p.d_name for p in table.singles if p.family == family}
        for many in table.ranges:
            if many.probes[0].family == family and not named & {p.d_name for p in many.probes}:
                raise Failure(f'{path.name} uses none of {many.probes[0].d_name} … {many.probes[-1].d_name}')
        if wanted - named:
            raise Failure(f'{path.name} leaves out {", ".join(sorted(wanted - named))}')


def all_listed(root):
    names = {
        tool: {path.stem for path in (root / 'scripts' / tool).glob('*' + ending)}
        for tool, (ending, *_) in TOOLS.items()
    }
    everywhere = set().union(*names.values())
    for tool, found in names.items():
        if everywhere - found:
            raise Failure(f'scripts/{tool} lacks {", ".join(sorted(everywhere - found))}')
        for name in found:
            path = root / 'scripts' / tool / (name + TOOLS[tool][0])
            head = path.read_text().split('tracing', 1)[0]
            if f'scripts/{tool}/{path.name}' not in head or 'PID' not in head:
                raise Failure(f'{path.name} does not say how to run it')
    rows = [line for line in (root / 'docs/watching.md').read_text().splitlines() if line.startswith('| `')]
    listed = {name for row in rows for name in re.findall('`([\\w-]+)`', row.split('|')[1])}
    if everywhere - listed:
        raise Failure(f'docs/watching.md does not list {", ".join(sorted(everywhere - listed))}')


def names_and_arguments(path, tool, table):
    """Checks that every named probe exists, and that every argument exists and is taken as a string just when
    it is one."""
    _, probe_pattern, argument_pattern, first = TOOLS[tool]
    known = {p.d_name: p for p in table.probes}
    text = path.read_text()
    for brackets in ('{}', '()', '[]'):
        if text.count(brackets[0]) != text.count(brackets[1]):
            raise Failure(f'{path.name}: unbalanced {brackets}')
    pieces = re.split(probe_pattern, text)[1:]
    if not pieces:
        raise Failure(f'{path.name} names no probe')
    for name, body in zip(pieces[::2], pieces[1::2]):
        probe = known.get(d_name(name))
        if not probe:
            raise Failure(f'{path.name}: there is no probe {name}')
        # a string may be missing: a test is not a use
        body = re.sub(r'\$?\barg\d+ ([!=]= (0\b|NULL)|\?)', '', body)
        for as_string, number in re.findall(argument_pattern, body):
            index = int(number) - first
            if not 0 <= index < len(probe.arguments):
                raise Failure(f'{path.name}: {name} has no argument {number}')
            if bool(as_string) != (probe.arguments[index].kind == 'string'):
                raise Failure(f'{path.name}: {name}, argument {number} is a {probe.arguments[index].kind}')


def run(command):
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if result.returncode != 0:
        raise Failure(
            f'{" ".join(command)}: status {result.returncode}\n{result.stdout[-500:]}{result.stderr[-1500:]}'
        )


@functools.cache
def parse_only():
    """The option of this bpftrace by which a script runs no further than its probes are found."""
    told = subprocess.run(['bpftrace', '--help'], capture_output=True, text=True)
    return '--dry-run' if '--dry-run' in told.stdout + told.stderr else '-d'


def bpftrace_parses(path, vmrun):
    if not shutil.which('bpftrace') or os.geteuid() != 0:
        raise Skip('bpftrace is not here, or we are not root')
    with tempfile.NamedTemporaryFile('w', suffix='.bt') as file:
        file.write(path.read_text().replace('usdt:*:', f'usdt:{vmrun}:'))
        file.flush()
        run(['bpftrace', parse_only(), file.name])


def stap_parses(path, vmrun):
    if not shutil.which('stap'):
        raise Skip('no stap here; the guest of the slow suite runs them')
    if not pathlib.Path('/lib/modules', platform.release(), 'build', '.config').exists():
        raise Skip("stap has no headers of this machine's kernel; the guest of the slow suite runs them")
    with tempfile.NamedTemporaryFile('w', suffix='.stp') as file:
        file.write(path.read_text().replace('process("vmrun")', f'process("{vmrun}")'))
        file.flush()
        run(['stap', '-p2', '-x', str(os.getpid()), file.name])


def dtrace_parses(path):
    """Needs a real DTrace: SystemTap's program of that name makes headers and runs nothing."""
    dtrace = shutil.which('dtrace')
    if not dtrace or open(dtrace, 'rb').read(2) == b'#!':
        raise Skip('no dtrace here that runs D')
    run([dtrace, '-e', '-s', str(path), '-p', str(os.getpid())])
