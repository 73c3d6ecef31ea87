# SPDX-License-Identifier: Apache-2.0
"""+JPperf: what perf reads of functions that have machine code of their own, taken apart as its documents
say. +JDdump: listings."""
import pathlib
import re
import struct

from harness.results import Failure, Test
from harness.sanitizers import need_machine_code

from .suite import run

PROGRAM = '''main() ->
    300 = length([fib(15) || _ <- lists:seq(1, 300)]),
    {ok, Maps} = file:read_file("/proc/self/maps"),
    io:format("~s~n~s", [os:getpid(), Maps]).

fib(N) when N < 2 -> N;
fib(N) ->
    fib(N - 1) +
        fib(N - 2).
'''
LINES_OF_FIB = {6, 7, 8, 9}  # of the program


def program_done(vmrun, value):
    """Its maps, and the files it has left."""
    done = run(vmrun, PROGRAM, '+hot', '1', '+JPperf', value)
    done.expect(0)
    pid, _, maps = done.out.partition('\n')
    files = [pathlib.Path(f'/tmp/perf-{pid}.map'), pathlib.Path(f'/tmp/jit-{pid}.dump')]
    contents = [f.read_bytes() if f.exists() else None for f in files]
    for f in files:
        f.unlink(missing_ok=True)
    return maps, *contents


def text(data, at):
    end = data.index(b'\0', at)
    return data[at:end].decode(), end + 1


def records(dump):
    """Name to code and lines: {address: (file, line)}."""
    magic, version, size, machine, _, _, _, flags = struct.unpack_from('=IIIIIIQQ', dump)
    if (magic, version, size, machine, flags) != (0x4A695444, 1, 40, 62, 0):
        raise Failure(f'the dump begins with {dump[:40]!r}')
    functions, lines, at, unwound = {}, {}, size, 0
    while at < len(dump):
        kind, length, _ = struct.unpack_from('=IIQ', dump, at)
        body = dump[at + 16 : at + length]
        if kind == 2:
            code, count = struct.unpack_from('=QQ', body)
            lines[code], place = {}, 16
            for _ in range(count):
                address, line, _ = struct.unpack_from('=QII', body, place)
                file, place = text(body, place + 16)
                lines[code][address] = file, line
        elif kind == 0:
            _, _, address, code, size, _ = struct.unpack_from('=IIQQQQ', body)
            name, place = text(body, 40)
            if address != code or len(body) - place != size:
                raise Failure(
                    f'{name}: {size} bytes at {code:x} are said to be at {address:x}, and '
                    f'{len(body) - place} follow'
                )
            functions[name] = code, body[place:], lines.get(code, {})
        elif kind == 4:
            size, table, mapped = struct.unpack_from('=QQQ', body)
            if (size, table, mapped) != (len(body) - 24, 20, size):
                raise Failure(
                    f'{size} bytes to unwind by, {table} of a table, {mapped} behind the code: {body!r}'
                )
            unwound += 1
        else:
            raise Failure(f'a record of kind {kind}')
        at += length
    if unwound < len(functions):
        raise Failure(f'{unwound} of {len(functions)} functions can be unwound')
    return functions


def names_and_lines(vmrun):
    need_machine_code(vmrun)
    maps, names, dump = program_done(vmrun, 'true')
    ((start, size),) = [
        (int(a, 16), int(n, 16)) for a, n in re.findall(rb'^(\w+) (\w+) \$\w+:fib/1$', names, re.MULTILINE)
    ]
    # perf asks the map only of memory it takes for anonymous (tools/perf/util/map.c).
    around = [
        line
        for line in maps.splitlines()
        if re.match('[0-9a-f]+-', line)
        and int(line.split('-')[0], 16) <= start < int(re.split('[- ]', line)[1], 16)
    ]
    if len(around) != 1 or not re.search(r' r-xp 00000000 00:00 0 *$', around[0]):
        raise Failure(f'fib/1 is at {start:x}, in {around}')
    ((code, machine_code, lines),) = [f for name, f in records(dump).items() if name.endswith(':fib/1')]
    if (code, len(machine_code)) != (start, size):
        raise Failure(f'fib/1 is at {start:x} with {size} bytes, and at {code:x} with {len(machine_code)}')
    outside = [a for a in lines if not code <= a < code + size]
    if (
        outside
        or {line for _, line in lines.values()} - LINES_OF_FIB
        or len(lines) < 3
        or {pathlib.Path(file).name for file, _ in lines.values()} != {'program.act'}
    ):
        raise Failure(f'lines of fib/1, at {code:x}: {lines}')


def one_of_them(vmrun):
    for value, has_names, has_dump in [('map', True, False), ('dump', False, True), ('false', False, False)]:
        _, names, dump = program_done(vmrun, value)
        if (names is not None, dump is not None) != (has_names, has_dump):
            raise Failure(f'+JPperf {value}: map {names!r}, dump {(dump or b"")[:100]!r}')


def elsewhere(vmrun):
    done = run(
        vmrun, PROGRAM, '+hot', '1', '+JPperf', 'true', '+JPperfdirectory', '.', shell='"$@"; ls perf-* jit-*'
    )
    pid = done.out.partition('\n')[0]
    done.expect(0)
    if done.out.split()[-2:] != [f'jit-{pid}.dump', f'perf-{pid}.map']:
        raise Failure(done.out[-300:])


def what_is_in_their_place(vmrun):
    """A link, which is not followed; a file that all can read; what cannot go."""
    for plant, refused in (('ln -s "$PWD/mark"', False), ('install -m 666 mark', False), ('mkdir', True)):
        files = '/tmp/perf-$n.map /tmp/jit-$n.dump'
        shell = (
            f'echo mine >mark; (n=$BASHPID; echo $n >number; for f in {files}; do {plant} $f; done; exec '
            '"$@"); echo status $?; '
            f'n=$(cat number); cat mark; stat -c "%F %a" {files}; rm -rf {files}'
        )
        done = run(
            vmrun,
            'main() -> 300 = length([fib(15) || _ <- lists:seq(1, 300)]).\nfib(N) when N < 2 -> N;\n'
            'fib(N) -> fib(N - 1) + fib(N - 2).\n',
            '+hot',
            '1',
            '+JPperf',
            'true',
            shell=shell,
        )
        if refused:
            done.expect(
                0,
                out='status 0\nmine\ndirectory 755\ndirectory 755\n',
                err=[r'cannot write what perf reads to /tmp: File exists'],
            )
        else:
            done.expect(0, out='status 0\nmine\nregular file 600\nregular file 600\n')


def listings(vmrun):
    done = run(
        vmrun,
        'main() -> f(3).\nf(N) -> lists:last([N]).\n',
        '+JDdump',
        'true',
        shell='"$@" && grep -x "main/0:\\|f/1:" program.asm && grep -c func_info program.asm && ls lists.asm',
    )
    done.expect(0, out='main/0:\nf/1:\n4\nlists.asm\n')
    run(vmrun, 'main() -> ok.\n', '+JDdump', 'false', shell='"$@" && ls *.asm').expect(2)
    run(vmrun, 'main() -> ok.\n', '+JDdump', 'true', shell='mkdir program.asm && "$@"').expect(
        0, err=[r'program\.asm: Is a directory']
    )


def tests(vmrun):
    return [
        Test('command', name, lambda case=case: case(vmrun))
        for name, case in [
            ('perf is told of hot functions: names, code, lines', names_and_lines),
            ('perf is told what it was asked for', one_of_them),
            ('perf is told in another folder', elsewhere),
            ('perf is told in files of its own', what_is_in_their_place),
            ('listings of what is loaded', listings),
        ]
    ]
