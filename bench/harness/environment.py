# SPDX-License-Identifier: Apache-2.0
"""What was measured, and on what: recorded with the figures."""
import os
import pathlib
import platform
import re
import shutil
import subprocess
import time

from . import ROOT, builds, consumers


def first_line(*command):
    try:
        told = subprocess.run(command, capture_output=True, text=True)
    except OSError:
        return None
    return (told.stdout or told.stderr).strip().split('\n')[0] or None


def git(*words):
    return subprocess.run(['git', '-C', str(ROOT), *words], capture_output=True, text=True).stdout.strip()


def machine():
    model = re.search(r'model name\s*: (.*)', pathlib.Path('/proc/cpuinfo').read_text())
    return f'{os.cpu_count()} x {model[1].strip() if model else platform.machine()}'


def compiler(build):
    commands = build / 'compile_commands.json'
    match = re.search(r'"command": "(?:ccache )?(\S+)', commands.read_text()) if commands.exists() else None
    return first_line(match[1] if match else 'c++', '--version')


def build_flags(build):
    if not (build / 'build.ninja').exists():
        return None
    options = builds.options_of(build)
    return ' '.join(
        builds.as_flag(name, options[name]) for name in (*builds.THAT_MATTER, 'probes') if name in options
    )


def describe(options, erl):
    """erl: what there is, or None."""
    return {
        'machine': machine(),
        'cores': os.cpu_count(),
        'memory_mb': os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') >> 20,
        'kernel': platform.release(),
        'compiler': compiler(options.build),
        'commit': git('rev-parse', '--short=12', 'HEAD') or None,
        'dirty': bool(git('status', '--porcelain', '--untracked-files=no')),
        'date': time.strftime('%Y-%m-%d'),
        'erl': erl.version if erl else None,
        'flags': build_flags(options.build),
        'tools': {
            tool: first_line(tool, '--version')
            for tool in ('bpftrace', 'perf', 'valgrind', 'stap')
            if shutil.which(tool)
        }
        | ({} if consumers.no_dtrace() else {'dtrace': first_line('dtrace', '-V')}),
        'load': os.getloadavg()[0],
        'options': {
            'runs': options.runs,
            'quick': options.quick,
            'flags': options.flags,
            'vmrun': options.vmrun,
            'baseline': options.baseline,
            'names': options.name,
            'configurations': options.configurations,
        },
        'pinned': options.pin,
    }
