# SPDX-License-Identifier: Apache-2.0
"""Where the machine's code asks whether anyone looks at a probe: the instructions that read a probe's words
(probes/probes.hpp), found in the disassembly. How often they are executed is what disabled probes cost: each
comes with a branch that is not taken, and at most one more instruction."""
import bisect
import re
import subprocess

from harness.results import Failure

READS = re.compile(r'^ +([0-9a-f]+):\t.*# [0-9a-f]+ <erlang_\w+_(?:watch|watches|semaphore|inside)[>+]', re.M)


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def addresses(vmrun):
    """Returns the places of those instructions in the file."""
    return frozenset(
        int(at, 16)
        for at in READS.findall(output('objdump', '-d', '--no-show-raw-insn', '--section=.text', vmrun))
    )


def out_of_line(vmrun):
    """What a firing takes lies apart from the code that runs when nobody looks: each site, where a tracer
    comes in, in a function of its own, and those that make texts for it and call it where the linker puts
    what is cold, before _start.
    """
    functions = sorted(
        (int(address, 16), name)
        for address, name in re.findall(r'^([0-9a-f]+) [tTwW] (.*)', output('nm', '-C', vmrun), re.M)
    )
    hot = next(address for address, name in functions if name == '_start')

    def function_at(address):
        return functions[bisect.bisect_right(functions, address, key=lambda row: row[0]) - 1][1]

    sites = re.findall(r'Name: (\w+)\n\s+Location: (0x[0-9a-f]+)', output('readelf', '-n', vmrun))
    firing = [row for row in functions if re.match(r'vmrun::probe::fire_(?!inside)\w+\(', row[1])]
    if not sites or not firing:
        raise Failure(f'{len(sites)} sites and {len(firing)} functions that fire found in {vmrun}')
    wrong = [
        f'the site of {name} is in {function_at(int(at, 16))}'
        for name, at in sites
        if not function_at(int(at, 16)).startswith('vmrun::probe::site::')
    ]
    wrong += [f'{name} is not cold' for address, name in firing if address > hot]
    if wrong:
        raise Failure('\n'.join(wrong[:20]))
