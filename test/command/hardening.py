# SPDX-License-Identifier: Apache-2.0
"""What keeps a fault from becoming somebody else's code, read from the programs: nothing can be written and
executed, what the loader has relocated is read-only, and overruns of buffers are found."""
import json
import pathlib
import re
import subprocess

from harness.results import Failure, Test

PROGRAMS = ('vmrun', 'vmtrace', 'runtime/compile/vmrunc')


def readelf(program, *options):
    return subprocess.run(['readelf', *options, program], capture_output=True, text=True, check=True).stdout


def finds_overruns(build):
    """Whether meson.build has asked for that: of a build as users have it."""
    option = {
        o['name']: o['value'] for o in json.loads((build / 'meson-info/intro-buildoptions.json').read_text())
    }
    return (
        option['b_ndebug'] != 'false'
        and option['optimization'] in ('2', '3')
        and option['b_sanitize'] == 'none'
    )


def lacking(program, overruns):
    dynamic, segments, header = (readelf(program, option) for option in ('-dW', '-lW', '-hW'))
    flags = dict(re.findall(r'^  (LOAD|GNU_STACK|GNU_RELRO) .*? 0x\w+ ([R ][W ][E ]) 0x\w+$', segments, re.M))
    loaded = re.findall(r'^  LOAD .*? 0x\w+ ([R ][W ][E ]) 0x\w+$', segments, re.M)
    wanted = {
        'a position-independent executable': 'DYN' in header,
        'immediate binding (BIND_NOW)': re.search(r'\(FLAGS\).*BIND_NOW|\(FLAGS_1\).*\bNOW\b', dynamic),
        'relocations that are read-only (GNU_RELRO)': flags.get('GNU_RELRO', '').strip() == 'R',
        'a stack that is not executed (GNU_STACK)': flags.get('GNU_STACK', '').strip() == 'RW',
        'no segment that is written and executed': loaded and not any('W' in f and 'E' in f for f in loaded),
        'no relocations of code (TEXTREL)': 'TEXTREL' not in dynamic,
    }
    if overruns:
        called = set(
            re.findall(r' UND (__\w+_chk(?:_fail)?)(?:@|$| )', readelf(program, '--dyn-syms', '-W'), re.M)
        )
        wanted['a stack protector'] = '__stack_chk_fail' in called
        wanted['calls that check the size of their buffer (FORTIFY)'] = called - {'__stack_chk_fail'}
    return [what for what, is_there in wanted.items() if not is_there]


def tests(build, vmrun):
    def check(program):
        if missing := lacking(program, finds_overruns(pathlib.Path(build))):
            raise Failure(f'{program} lacks ' + ', '.join(missing))

    return [
        Test(
            'command',
            f'{name} is hardened',
            lambda name=name: check(vmrun if name == 'vmrun' else build / name),
        )
        for name in PROGRAMS
    ]
