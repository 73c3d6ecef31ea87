# SPDX-License-Identifier: Apache-2.0
"""OTP's own D scripts (the examples of runtime_tools, package erlang-runtime-tools), unchanged, under vmtrace
attached to a running machine. cluster.py has those of distribution with nodes."""
import glob
import pathlib
import re
import shlex
import subprocess

from harness.results import Failure, Skip, Test

from . import session
from .attach import expect

HERE = pathlib.Path(__file__).resolve().parent
FOLDERS = '/usr/lib/erlang/lib/runtime_tools-*/examples'


def tests(vmrun):
    suite = Suite(pathlib.Path(vmrun))
    return [
        *(
            Test('live', "OTP's " + name[5:].replace('_', '-') + '.d', getattr(suite, name), in_turn=True)
            for name in dir(suite)
            if name.startswith('test_')
        ),
        Test('live', "OTP's own dyntrace fires", suite.own_dyntrace, in_turn=True),
    ]


def path_of(script):
    folders = glob.glob(FOLDERS)
    if not folders:
        raise Skip('no erlang-runtime-tools here')
    return pathlib.Path(folders[0]) / (script + '.d')


class Suite:
    def __init__(self, vmrun):
        self.vmrun = vmrun

    def run(self, name, program, flags=('+S', '2')):
        """Returns what the program knows, and the lines that the script prints of it."""
        script, vmtrace = path_of(name), self.vmrun.parent / 'vmtrace'
        with session.Target(self.vmrun, HERE / program, flags) as target:
            tracer = subprocess.Popen(
                [
                    vmtrace,
                    '-q',
                    '-p',
                    str(target.process.pid),
                    '-n',
                    'BEGIN { printf("tracing\\n"); }',
                    '-s',
                    script,
                ],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            output, errors = session.Lines(tracer.stdout), session.Lines(tracer.stderr)
            try:
                output.until('tracing', 'vmtrace')
                target.line('go')
                target.wait_for('done')
                known = target.finish()
                lines = output.rest()
                status = tracer.wait(session.LIMIT)
            except Failure as failure:
                raise Failure(f'{failure}\n' + '\n'.join(errors.seen)) from None
            finally:
                tracer.kill()
        expect(status == 0 and not errors.rest(), f'vmtrace: status {status}', *errors.seen[:20])
        return known, lines[1:]

    def own_dyntrace(self):
        """Loads OTP's module, whose library has no probes in Debian's package; the machine's library stands
        in for it."""
        path_of('user-probe')
        calls = [
            'available()',
            'put_tag("tag")',
            'p(11, "eleven")',
            'pn(7, 70)',
            'pn(951)',
            'user_trace_s1("s")',
            'user_trace_s1(x)',
            'p(1, 2, 3, 4, a)',
            'enabled(call, [], self())',
            'trace(call, state, self(), term, #{extra => more})',
            'trace_send(send, state, self(), term, #{})',
        ]
        text = (
            'io:format("~s ~w~n", [code:which(dyntrace), '
            f'[{", ".join("dyntrace:" + call for call in calls)}]]), init:stop().'
        )
        erl = [self.vmrun.parent / 'bin/erl', '-noshell', '-eval', text]
        alone = subprocess.run(erl, capture_output=True, text=True, timeout=session.LIMIT)
        expect(
            alone.stdout.endswith(
                '/dyntrace.beam [true,undefined,false,false,error,false,false,false,discard,ok,ok]\n'
            )
            and '/runtime_tools-' in alone.stdout,
            'when nobody looks',
            alone.stdout,
            alone.stderr,
        )
        script = (
            'user_trace-i4s4 { printf("i4s4 %s %d %s\\n", copyinstr(arg1), arg2, arg6 == NULL ? "none" : '
            'copyinstr(arg6)); } '
            'user_trace-n7 { printf("n7 %d\\n", arg2); } user_trace-s1 { printf("s1 %s\\n", '
            'copyinstr(arg0)); } '
            'trace { printf("trace %s %s %s\\n", copyinstr(arg1), copyinstr(arg3), arg4 == NULL ? "none" : '
            'copyinstr(arg4)); }'
        )
        watched = subprocess.run(
            [self.vmrun.parent / 'vmtrace', '-q', '-c', shlex.join(map(str, erl)), '-n', script],
            capture_output=True,
            text=True,
            timeout=session.LIMIT,
        )
        lines = watched.stdout.splitlines()
        expect(
            any(
                line.endswith(' [true,undefined,true,true,error,true,badarg,true,trace,ok,ok]')
                for line in lines
            ),
            'when somebody looks',
            watched.stdout,
            watched.stderr,
        )
        fired = sorted(line for line in lines if line and 'runtime_tools' not in line)
        expect(
            fired
            == [
                'i4s4 tag 1 none',
                'i4s4 tag 11 eleven',
                'n7 70',
                's1 s',
                'trace call term more',
                'trace send term none',
            ],
            'what has fired',
            *lines,
        )

    @staticmethod
    def count(lines, pattern):
        return sum(bool(re.fullmatch(pattern, line)) for line in lines)

    @staticmethod
    def in_order(lines, wanted):
        """Checks that the wanted lines come in this order, among others."""
        rest = iter(lines)
        for line in wanted:
            expect(line in rest, f'not there, or not in its place: {line}', *lines[-30:])

    def test_messages(self):
        known, lines = self.run('messages', 'counts.act')
        main, sink = known['main'], known['sink']
        sent = self.count(lines, f'send:   {main} -> {sink}: [34] words')
        expect(sent == int(known['sent']), f'{sent} sent, the program says {known["sent"]}')
        for what, number in (('queued', known['sent']), ('receive', known['received'])):
            shown = self.count(lines, f'{what}: {sink}: [34] words, queue len \\d+')
            expect(shown == int(number), f'{what}: {shown}, the program says {number}')

    def test_spawn_exit(self):
        known, lines = self.run('spawn-exit', 'g1.act')
        p, a, killed = known['mfa'], known['main'], known['killed']
        self.in_order(lines, [f'pid {p} mfa g1:f/1', f'pid {p} reason normal'])
        self.in_order(lines, [f'pid {known["reason"]} reason {{a,"b"}}'])
        self.in_order(lines, [f'sender {a} -> pid {killed} reason killed', f'pid {killed} reason killed'])

    def test_function_calls(self):
        known, lines = self.run('function-calls', 'g12.act')
        mine = [
            re.sub(r' depth \d+', '', line[len(f'pid {known["bif"]} ') :])
            for line in lines
            if line.startswith(f'pid {known["bif"]} ')
        ]
        expect(
            mine[:3]
            == [
                'enter (global)  g12:names/1',
                'BIF entry  mfa erlang:atom_to_list/1',
                'BIF return mfa erlang:atom_to_list/1',
            ],
            'another beginning',
            *mine,
        )
        calls = [line for line in lines if line.startswith(f'pid {known["calls"]} ')]
        expect(
            self.count(calls, r'.* enter \(local\)  calls:f/1 depth \d+') == 1
            and self.count(calls, r'.* return calls:h/1 depth \d+') == 1,
            'calls of f/1, returns of h/1',
            *calls,
        )

    def test_garbage_collection(self):
        known, lines = self.run('garbage-collection', 'g5.act')
        p = known['p']
        begun, ended = (
            self.count(lines, f'GC major {what} pid {p} .* \\d+ words') for what in ('start', 'end')
        )
        expect(begun == ended > 1, f'{begun} major collections begun, {ended} ended', *lines)
        # The script shows the start of a minor one twice, the second time as its end.
        expect(
            self.count(lines, f'GC minor start pid {p} .*')
            == self.count(lines, f'GC minor end pid {p} .*')
            > 0,
            'minor collections',
            *lines,
        )

    def test_memory1(self):
        known, lines = self.run('memory1', 'copies.act')
        self.in_order(
            lines,
            [
                line
                for n in (19, 9, 9)
                for line in (f'copy_object pid {known["main"]} {n} bytes', f'copy_struct {n} bytes')
            ],
        )

    def test_process_scheduling(self):
        known, lines = self.run('process-scheduling', 'g6.act', ('+S', '1'))
        p = known['p']
        mine = [line.strip() for line in lines if f' {p}' in line]
        wanted = [
            f'Schedule pid {p} mfa erlang:apply/2',
            f'Hibernate pid {p} resume mfa erlang:apply/2',
            f'Unschedule pid {p}',
            f'Schedule pid {p} mfa erlang:apply/2',
            f'Unschedule pid {p}',
        ]
        expect(mine == wanted, 'other lines', *mine)

    def test_user_probe(self):
        known, lines = self.run('user-probe', 'g10.act')
        a = known['main']
        wanted = [
            f"{a}  1 0 0 0 'x' '' '' ''",
            f"{a} GO 7 8 9 0 'one' 'four' '' ''",
            f"{a}  0 0 0 0 '' '' '' ''",
            f"{a}  0 0 0 0 '{'x' * 256}' '' '' ''",
            f"{a}  1 2 3 4 'abc' '' '' ''",
            f"{a}  0 {-2**63} 0 0 '' '' '' ''",
            f"{a}  1 0 0 0 'x' '' '' ''",
            f"{a} tag 1 0 3 0 'a' '' 'c' ''",
            'text',
        ]
        expect([line for line in lines if line] == wanted, 'other lines', *lines)

    def test_user_probe_n(self):
        known, lines = self.run('user-probe-n', 'g10.act')
        expect(
            [line for line in lines if line] == [f"probe n0: {known['main']}  0 0 0 0 '' '' '' ''"],
            'other lines',
            *lines,
        )

    def test_port1(self):
        known, lines = self.run('port1', 'pipe.act')
        p, port = known['main'], known['port']
        self.in_order(
            lines,
            [
                f'port open pid {p} port name cat port {port}',
                f'port command pid {p} port {port} port name cat command type command',
                f'port command pid {p} port {port} port name cat command type close',
            ],
        )

    def test_driver1(self):
        known, lines = self.run('driver1', 'pipe.act')
        p, port = known['main'], known['port']
        expect(
            any(line == f'driver start pid {p} driver name spawn port {port}' for line in lines),
            'no driver-start',
            *lines,
        )
        self.in_order(
            [re.sub('outputv', 'output', line) for line in lines],
            [
                f'driver output pid {p} port {port} port name cat bytes 5',
                f'driver ready_input pid {p} port {port} port name cat',
                f'driver stop pid {p} driver name spawn port {port}',
            ],
        )

    def test_dist(self):
        """This machine is not a node, so no process is ever blocked."""
        _, lines = self.run('dist', 'counts.act')
        expect(not ''.join(lines), 'it shows something', *lines)
