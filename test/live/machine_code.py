# SPDX-License-Identifier: Apache-2.0
"""Tracers and a machine some of whose functions have machine code: its mappings, and DTrace, which reads
them."""
import os
import pathlib
import re
import shutil
import signal
import subprocess

from harness.results import Failure, Skip, Test
from harness.sanitizers import need_machine_code

from . import session, site_code
from .attach import expect

HERE = pathlib.Path(__file__).resolve().parent
ELF = b'\x7fELF'
DTRACE = 'VMRUN_DTRACE'  # the environment's word for a command in place of the dtrace in PATH


def tests(vmrun):
    suite = Suite(pathlib.Path(vmrun))
    return [
        *(
            Test('live', 'machine code: ' + name[5:].replace('_', ' '), getattr(suite, name), in_turn=True)
            for name in vars(Suite)
            if name.startswith('test_')
        ),
        # Few systems have DTrace, so its absence is not a failure in CI.
        Test('dtrace', 'counts what a program with machine code does', suite.dtrace_counts, in_turn=True),
    ]


class Mapping:
    """A line of /proc/PID/maps."""

    def __init__(self, line):
        fields = line.split(None, 5)
        self.line, self.permissions, self.inode = line, fields[1], fields[4]
        self.name = fields[5] if len(fields) > 5 else ''

    def is_executed(self):
        return 'x' in self.permissions


def mappings(pid):
    return [Mapping(line) for line in pathlib.Path(f'/proc/{pid}/maps').read_text().splitlines()]


def dtrace():
    """Returns the command; raises Skip without one. SystemTap's program of that name is another."""
    command = os.environ.get(DTRACE) or shutil.which('dtrace')
    if not command:
        raise Skip(f'no dtrace here, and {DTRACE} names none')
    version = subprocess.run([command, '-V'], capture_output=True, text=True)
    if not re.search(r'dtrace: .*\bD \d', version.stdout):
        raise Skip(f'{command} is not DTrace (SystemTap has a program of that name), and {DTRACE} names none')
    return command


class Suite:
    def __init__(self, vmrun):
        self.vmrun = vmrun

    def machine(self):
        need_machine_code(self.vmrun)
        return session.Target(self.vmrun, HERE / 'hot.act')

    def test_mappings_are_such_as_tracers_read(self):
        """DTrace 2 (libdtrace/dt_pid.c, dt_pid_create_stapsdt_probes_proc) goes through the executable
        mappings that have a name. It skips those with a bracket in the name and looks for a memfd among the
        process's descriptors. It opens every other name as an ELF file. At one that it cannot open, or that
        is not an ELF file, it stops, and has no probe of what comes after. perf takes names from its map
        (/tmp/perf-PID.map) for memory that has no name, or that of shared memory."""
        with self.machine() as target:
            all_of_it = mappings(target.process.pid)
            for m in filter(Mapping.is_executed, all_of_it):
                expect('w' not in m.permissions, f'is written and executed: {m.line}')
                if m.name and '[' not in m.name and not m.name.startswith('/memfd:'):
                    file = pathlib.Path(m.name)
                    expect(file.exists() and file.open('rb').read(4) == ELF, f'no ELF file: {m.line}')
            made = [m for m in all_of_it if m.is_executed() and not m.name]
            expect(
                made,
                'no machine code is there, or it has a name',
                *(m.line for m in all_of_it if m.is_executed()),
            )
            target.line('go')
            target.wait_for('done')
            target.finish()

    def test_no_site_is_in_the_interpreter(self):
        site_code.check_outside_the_loop(self.vmrun)

    def dtrace_counts(self, command=None):
        command = command or dtrace()
        session.require_tracer()
        with self.machine() as target:
            sink = next(line for line in target.output.seen if line.startswith('sink ')).split()[1]
            script = (
                'dtrace:::BEGIN { printf("tracing\\n"); } '
                f'erlang{target.process.pid}:::message-send /copyinstr(arg1) == "{sink}"/ {{ @ = count(); }} '
                'dtrace:::END { printa("sent %@d\\n", @); }'
            )
            tracer = subprocess.Popen(
                [command, '-q', '-xswitchrate=10hz', '-n', script],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            output, errors = session.Lines(tracer.stdout), session.Lines(tracer.stderr)
            try:
                output.until('tracing', command)
                target.line('go')
                target.wait_for('done')
                known = target.finish()
                tracer.send_signal(signal.SIGINT)
                lines = output.rest()
            except Failure as failure:
                raise Failure(f'{failure}\n' + '\n'.join(errors.rest()[-20:])) from None
            finally:
                tracer.kill()
                tracer.wait()
            # The count includes the message that asks how many have come.
            expect(
                f'sent {int(known["sent"]) + 1}' in lines,
                f'the program has sent {known["sent"]} and a question',
                *lines[-5:],
                *errors.rest()[-5:],
            )
