# SPDX-License-Identifier: Apache-2.0
"""What the code around the sites of a binary must obey, read from the binary. Linux (6.18 and later) puts a
call in place of a five-byte nop that is traced, and a call writes below the stack pointer, where leaf
functions may keep values."""
import re
import subprocess

from harness.results import Failure, Skip


def notes(vmrun):
    """Returns [(location, arguments)] of all sites."""
    text = subprocess.run(['readelf', '-n', vmrun], capture_output=True, text=True, check=True).stdout
    return [
        (int(at, 16), arguments)
        for at, arguments in re.findall(r'Location: (0x[0-9a-f]+),.*\n\s+Arguments: ?(.*)', text)
    ]


def disassembled(vmrun, first, last):
    """Returns [(address, bytes, instruction)] of the functions with sites, which lie in one piece."""
    text = subprocess.run(
        [
            'objdump',
            '-d',
            '--no-show-raw-insn',
            '-w',
            f'--start-address={first}',
            f'--stop-address={last}',
            vmrun,
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return re.findall(r'^\s*([0-9a-f]+):\s+(.*)$', text, re.M)


def check(vmrun):
    sites = notes(vmrun)
    if (
        'X86-64'
        not in subprocess.run(['readelf', '-h', vmrun], capture_output=True, text=True, check=True).stdout
    ):
        raise Skip('sites of this processor are no nops of several bytes')
    below = [arguments for _, arguments in sites if re.search(r'@-\d+\(%rsp', arguments)]
    first, last = min(at for at, _ in sites), max(at for at, _ in sites)
    code = disassembled(vmrun, first, last + 16)
    below += [
        f'{at}: {instruction}' for at, instruction in code if re.search(r'-0x[0-9a-f]+\(%rsp', instruction)
    ]
    if below:
        raise Failure(
            'code of the sites keeps values below the stack pointer, which a traced site overwrites\n'
            + '\n'.join(below[:20])
        )
    at_sites = {int(at, 16): instruction.strip() for at, instruction in code}
    kinds = {at_sites.get(at, 'nothing') for at, _ in sites}
    if len(kinds) != 1 or not kinds <= {'nop', 'nopl   0x0(%rax,%rax,1)'}:
        raise Failure(f'sites are {", ".join(sorted(kinds))}; expected one kind of nop')


def check_outside_the_loop(vmrun):
    """Machine code is made from the loop's code: a site there would be copied without its note, and a
    breakpoint with it."""
    symbols = subprocess.run(
        ['nm', '-SC', '--defined-only', vmrun], capture_output=True, text=True, check=True
    ).stdout
    loop = [
        (int(at, 16), int(at, 16) + int(size, 16))
        for at, size in re.findall(r'^([0-9a-f]+) ([0-9a-f]+) [tT] vmrun::interpret\(', symbols, re.M)
    ]
    if not loop:
        raise Failure(f'no interpreter among the symbols of {vmrun}')
    inside = [at for at, _ in notes(vmrun) if any(first <= at < last for first, last in loop)]
    if inside:
        raise Failure('sites of probes lie in the interpreter: ' + ', '.join(map(hex, inside)))
