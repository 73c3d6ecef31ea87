# SPDX-License-Identifier: Apache-2.0
"""What anything that may open the machine's endpoint can do to it: sessions that stop in the middle, that
never read, that pass descriptors, that are too many; consumers that stop; machines that end. written.py tests
what vmtrace makes of full disks. The machine goes on as if nothing had connected, and has freed everything.
The protocol: probes/engine/attach_protocol.hpp."""
import array
import contextlib
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile

from harness.golden import first_line
from harness.results import Failure, Skip, Test
from harness.sanitizers import need_its_own_memory

from . import session
from .attach import expect
from .inside import NOBODY, Suite as Inside
from .session import until

HERE = pathlib.Path(__file__).resolve().parent
(
    HELLO,
    PROBES,
    PROGRAM,
    READY,
    REFUSED,
    GO,
    RING,
    AGGREGATIONS,
    ATOMS,
    ADDRESSES,
    NAMES,
    DROPS,
    STOP,
    STOPPED,
    EXIT,
    ATOMS_FROM,
    FIRINGS,
) = range(1, 18)
MOST_CONNECTIONS = 64
MANY = 30  # tracers at once
MEBIBYTE = 1 << 20
# A script with everything: numbers and texts, keys, aggregations, variables, timers, named functions.
SCRIPT = '''BEGIN { printf("%d %s", pid, execname); n = 1; a["x", 1] = 2; }
message-send { @[copyinstr(arg0), pid] = count(); self->t = timestamp; @q = quantize(timestamp - self->t); }
process-spawn { printf("%s %d", copyinstr(arg1), arg2); @s[ustack(3)] = sum(n++); s = strjoin("a", "b"); }
erlang*:lists:reverse:entry { @r["reverse"] = lquantize(n, 0, 100, 10); }
tick-20 { printa(@); } profile-97 { @p[mfa] = count(); } END { trunc(@, 1); }'''


def tests(root, vmrun):
    suite = Suite(pathlib.Path(vmrun))
    return [
        Test('live', 'inside: endpoint: ' + name[5:].replace('_', ' '), getattr(suite, name), in_turn=True)
        for name in vars(Suite)
        if name.startswith('test_')
    ]


def message(kind, body=b''):
    return struct.pack('<II', kind, len(body)) + body


WIRE = (HERE.parents[1] / 'probes' / 'engine' / 'attach_protocol.hpp').read_text()
HELLO_AS_IT_IS = message(HELLO, struct.pack('<I', int(re.search(r'kWireVersion = (\d+);', WIRE)[1])))


def as_nobody(function):
    """Returns the status of a process of another user that calls the function. No program is run, because
    others may not be able to read it."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            function()
            status = 0
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1]


def connects(path):
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(path)
        one.settimeout(session.LIMIT)
        one.sendall(HELLO_AS_IT_IS)
        if not one.recv(1):
            raise ConnectionResetError


class Peer:
    """A peer that speaks to the machine."""

    def __init__(self, pid):
        def connected():
            os.kill(pid, signal.SIGRTMIN + 5)
            with contextlib.suppress(FileNotFoundError, ConnectionRefusedError, BlockingIOError):
                if endpoint := session.endpoint_of(pid):
                    self.socket.connect(str(endpoint))
                    return True

        self.socket = socket.socket(socket.AF_UNIX)
        self.wait_at_most()
        until(connected, 'the endpoint opens')

    def wait_at_most(self):
        # A timeout of Python's would make the socket non-blocking, so it would not wait for a whole message.
        self.socket.setblocking(True)
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            self.socket.setsockopt(socket.SOL_SOCKET, option, struct.pack('ll', session.LIMIT, 0))

    def send(self, *messages):
        """Returns False when the machine has closed the connection."""
        try:
            self.socket.sendall(b''.join(messages))
        except (BrokenPipeError, ConnectionResetError):
            return False
        return True

    def fill(self, data):
        """Sends until the buffers of a machine that does not read are full. Returns how much that was."""
        self.socket.setblocking(False)
        sent = 0
        with contextlib.suppress(BlockingIOError):
            while sent < len(data):
                sent += self.socket.send(data[sent:])
        self.wait_at_most()
        return sent

    def next(self):
        """Returns kind and body, or None at the end."""
        try:
            head = self.socket.recv(8, socket.MSG_WAITALL)
            if len(head) < 8:
                return None
            kind, size = struct.unpack('<II', head)
            return kind, self.socket.recv(size, socket.MSG_WAITALL) if size else b''
        except ConnectionResetError:
            return None

    def answer(self, kind):
        while answer := self.next():
            if answer[0] == kind:
                return answer[1]
        raise Failure(f'the connection ended before message {kind}')

    def rest(self):
        while self.next():
            pass

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Suite(Inside):
    def __init__(self, vmrun):
        super().__init__(vmrun)
        self.vmtrace = vmrun.parent / 'vmtrace'

    @contextlib.contextmanager
    def machine(self, program='counts.act', works=True):
        """Runs a machine and checks that its program does afterwards what it would have done, and that it has
        then what it had before."""
        if not self.vmtrace.exists():
            raise Skip('vmtrace is not built')
        with session.Target(self.vmrun, HERE / program) as target:
            # A thread of its own opens it to learn of changes of the system's clock, which may be late.
            until(lambda: 'timerfd' in ' '.join(self.descriptors(target)), 'the machine follows the clock')
            before = self.descriptors(target)
            yield target
            self.expect_nothing_left(target)
            until(lambda: self.descriptors(target) == before, f'descriptors are given back, besides {before}')
            if works:
                target.line('go')
                target.wait_for('done')
            target.finish()

    @staticmethod
    def descriptors(target):
        folder = pathlib.Path(f'/proc/{target.process.pid}/fd')
        open_now = []
        for entry in folder.iterdir():
            with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                open_now.append(f'{entry.name} {os.readlink(entry)}')
        return sorted(open_now)

    @staticmethod
    def memory(target, what='VmRSS'):
        status = pathlib.Path(f'/proc/{target.process.pid}/status').read_text()
        return int(re.search(rf'{what}:\s+(\d+) kB', status)[1]) << 10

    @staticmethod
    def worked(target):
        """Returns its processor time, in ticks."""
        return sum(
            map(
                int,
                pathlib.Path(f'/proc/{target.process.pid}/stat').read_text().rsplit(')', 1)[1].split()[11:13],
            )
        )

    def traced(self, target, *arguments, begin=True, **options):
        """Runs vmtrace on it; begin: from its first line on, which the script prints."""
        tracer = subprocess.Popen(
            [self.vmtrace, '-p', str(target.process.pid), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )
        if begin and (line := first_line(tracer.stdout)) != 'tracing\n':
            raise Failure(f'vmtrace: {line}' + tracer.communicate()[1])
        return tracer

    def ended(self, tracer, *status):
        """Returns how it ends: standard output and error."""
        try:
            output, errors = tracer.communicate(timeout=session.LIMIT)
        except subprocess.TimeoutExpired:
            tracer.kill()
            raise Failure('vmtrace does not end: ' + '\n'.join(tracer.communicate())) from None
        expect(
            tracer.returncode in status,
            f'vmtrace: status {tracer.returncode}, not {status}',
            output[-500:],
            errors,
        )
        return output, errors

    def sent_for(self, target, script=SCRIPT):
        """Returns what vmtrace sends for a script."""
        with tempfile.TemporaryDirectory(prefix='vmrun-live-') as name, Peer(target.process.pid) as peer:
            folder = pathlib.Path(name)
            peer.send(HELLO_AS_IT_IS)
            (folder / 'probes').write_bytes(peer.answer(PROBES))
            command = f'{sys.executable} {HERE / "stand_in.py"} {folder}'
            told = subprocess.run(
                [self.vmtrace, '-c', command, '-n', script],
                capture_output=True,
                text=True,
                timeout=session.LIMIT,
            )
            expect((folder / 'program').exists(), 'vmtrace sends no program', told.stderr)
            return (folder / 'program').read_bytes()

    # -- what is sent

    @staticmethod
    def whole_session(program):
        numbers = struct.pack('<6Q', 0, 1, 11, 2**63, 2**64 - 1, 0x400000)
        return [
            HELLO_AS_IT_IS,
            message(PROGRAM, program),
            message(GO),
            message(DROPS),
            message(ATOMS, numbers),
            message(ADDRESSES, numbers),
            message(ATOMS_FROM, struct.pack('<I', 30)),
            message(AGGREGATIONS, struct.pack('<4I', 0, 1, 1, 2**32 - 1)),
            message(STOP),
            message(AGGREGATIONS),
        ]

    def test_a_script_runs_once(self):
        with self.machine() as target:
            program = self.sent_for(target)
            for order in ((GO, STOP, GO, GO, STOP, GO), (STOP, GO), (GO, GO, STOP, STOP)):
                with Peer(target.process.pid) as peer:
                    peer.send(message(PROGRAM, program), *map(message, order), message(DROPS))
                    peer.answer(READY)
                    peer.answer(DROPS)
                    if order[0] == GO:
                        until(
                            lambda: not any(self.words_of_probes(target.process.pid)),
                            'no probe is raised any more',
                        )

    def test_lengths_that_cannot_be(self):
        with self.machine() as target:
            before = self.memory(target, 'VmHWM')
            for size in (2**32 - 1, 2**31, 64 * MEBIBYTE + 1):
                with Peer(target.process.pid) as peer:
                    peer.send(struct.pack('<II', PROGRAM, size))
                    expect(peer.next() is None, f'{size} bytes are waited for')
            with Peer(target.process.pid) as slow, Peer(target.process.pid) as other:
                slow.send(struct.pack('<II', PROGRAM, 64 * MEBIBYTE))
                other.send(HELLO_AS_IT_IS)
                other.answer(PROBES)
            expect(
                self.memory(target, 'VmHWM') - before < 16 * MEBIBYTE, 'memory is taken for what has not come'
            )

    def test_who_asks_and_never_reads(self):
        """All questions are there when the machine reads, and their answers are much longer."""
        need_its_own_memory(self.vmrun)
        with self.machine() as target:
            before = self.memory(target, 'VmHWM')
            with Peer(target.process.pid) as peer, Peer(target.process.pid) as other:
                peer.send(HELLO_AS_IT_IS)
                answer = len(peer.answer(PROBES))
                target.process.send_signal(signal.SIGSTOP)
                connections = len(self.descriptors(target))
                sent = peer.fill(HELLO_AS_IT_IS * 200_000)
                target.process.send_signal(signal.SIGCONT)
                asked = sent // 12 * answer
                expect(asked > 256 * MEBIBYTE, f'{asked} bytes were asked for: not enough to tell')
                until(
                    lambda: len(self.descriptors(target)) < connections, 'the machine closes who never reads'
                )
                other.send(HELLO_AS_IT_IS)
                other.answer(PROBES)
            grown = self.memory(target, 'VmHWM') - before
            expect(grown < 200 * MEBIBYTE, f'{grown} bytes were taken for the answers')

    def test_many_names_at_once(self):
        with self.machine() as target, Peer(target.process.pid) as peer:
            peer.send(message(ATOMS, bytes(8 * 4096)))
            peer.answer(NAMES)
            peer.send(message(ATOMS, bytes(8 * 4097)))
            expect(b'too many names' in peer.answer(REFUSED), 'any number of names may be asked for')

    def test_thousands_of_messages_keep_nobody_waiting(self):
        with self.machine() as target, Peer(target.process.pid) as many, Peer(target.process.pid) as other:
            for _ in range(20):
                expect(many.send(message(DROPS) * 1000), 'the machine closes who reads')
                other.send(message(DROPS))
                other.answer(DROPS)
                for _ in range(1000):
                    many.answer(DROPS)

    def test_descriptors_nobody_asked_for(self):
        with self.machine() as target, Peer(target.process.pid) as peer, open('/dev/null', 'rb') as file:
            with_peer = len(self.descriptors(target))
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [file.fileno()] * 100))]
            for kind in (HELLO, RING, DROPS):
                peer.socket.sendmsg([message(kind)], rights)
            peer.answer(DROPS)
            expect(
                len(self.descriptors(target)) < with_peer + 100,
                'the machine keeps them',
                *self.descriptors(target)[:10],
            )

    def test_no_descriptors_are_left(self):
        """vmtrace reports that there are no descriptors; once there are some, it gets in."""
        with self.machine() as target:
            pid = target.process.pid
            used = {int(name) for name in os.listdir(f'/proc/{pid}/fd')}
            free = [n for n in range(len(used) + 10) if n not in used]
            _, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
            for limit, arguments in ((free[0], ['-l']), (free[2], ['-qn', 'BEGIN { exit(0); }'])):
                resource.prlimit(pid, resource.RLIMIT_NOFILE, (limit, hard))
                _, errors = self.ended(self.traced(target, *arguments, begin=False), 1)
                expect(
                    re.search(rf'too few free descriptors for that, \d+ of {limit} are open', errors),
                    'vmtrace does not say why',
                    errors,
                )
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (free[3], hard))
            output, _ = self.ended(
                self.traced(target, '-qn', 'BEGIN { printf("in"); exit(0); }', begin=False), 0
            )
            expect(output.strip() == 'in', 'vmtrace does not get in', output)

    def test_rings_cost_no_descriptors(self):
        """With hardly any descriptors left in the machine, dozens of tracers get the records of all of its
        threads."""
        with self.machine('inside_load.act', works=False) as target, contextlib.ExitStack() as stack:
            pid, used = target.process.pid, len(self.descriptors(target))
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (used + MANY + 10, used + MANY + 10))
            text = (
                'BEGIN { printf("tracing\\n"); } message-send { printf("%d", cpu); from[cpu] = 1; } '
                'tick-10ms /from[1] && from[2]/ { printf("both"); exit(0); }'
            )
            waiting = (
                'BEGIN { printf("tracing\\n"); } message-send { n++; } message-receive /n > 1000/ { '
                'printf("%d", n); n = 0; }'
            )
            others = [self.traced(target, '-qn', waiting) for _ in range(MANY)]
            for other in others:
                stack.callback(other.kill)
            until(
                lambda: not any('memfd' in f for f in self.descriptors(target)),
                'those of the rings are closed',
            )
            output, errors = self.ended(self.traced(target, '-qn', text), 0)
            expect('both' in output, 'a thread has no ring', errors, output[-300:])
            for other in others:
                other.send_signal(signal.SIGINT)
                output, errors = self.ended(other, 0)
                expect(output.strip(), 'no records come', errors)

    # -- how many, and how slow

    def test_connections_have_a_bound(self):
        with self.machine() as target, contextlib.ExitStack() as stack:
            peers = [stack.enter_context(Peer(target.process.pid)) for _ in range(MOST_CONNECTIONS)]
            for _ in range(2):
                for peer in peers:
                    peer.send(message(DROPS))
                    peer.answer(DROPS)
                _, errors = self.ended(self.traced(target, '-qn', 'BEGIN { exit(0); }', begin=False), 1)
                expect('64 times already' in errors, 'vmtrace does not say why', errors)

    def test_half_a_message_keeps_nobody_waiting(self):
        with self.machine() as target, contextlib.ExitStack() as stack:
            for part in (b'', b'\1', message(HELLO, b'12')[:9], struct.pack('<II', PROGRAM, 1000)):
                stack.enter_context(Peer(target.process.pid)).send(part)
            output, _ = self.ended(
                self.traced(target, '-qn', 'BEGIN { printf("works"); exit(0); }', begin=False), 0
            )
            expect('works' in output, 'vmtrace does not get in', output)

    def test_a_flood_of_connections(self):
        with self.machine() as target:
            for _ in range(300):
                Peer(target.process.pid).close()
            output, _ = self.ended(
                self.traced(target, '-qn', 'BEGIN { printf("works"); exit(0); }', begin=False), 0
            )
            expect('works' in output, 'vmtrace does not get in', output)

    def test_every_probe_at_once(self):
        """Enables all of them, each with separate keys, and the longest work on the most frequent one."""
        long = ' '.join(['@l[copyinstr(arg0)] = quantize(timestamp);'] * 100)
        with self.machine(works=False) as target:
            tracer = self.traced(
                target,
                '-q',
                '-n',
                'BEGIN { printf("tracing\\n"); } erlang*::: { @[probename, arg0, arg1] = count(); } '
                f'message-send {{ {long} }} END {{ trunc(@); trunc(@l); printf("end"); }}',
            )
            target.line('go')
            target.wait_for('done')
            tracer.send_signal(signal.SIGINT)
            output, _ = self.ended(tracer, 0)
            expect(output.endswith('end\n'), 'END does not run', output[-200:])

    # -- who stops, who ends

    def test_a_reader_that_stops_loses_records_and_is_told(self):
        with self.machine('inside_load.act', works=False) as target:
            tracer = self.traced(
                target,
                '-q',
                '-x',
                'bufsize=16k',
                '-n',
                'BEGIN { printf("tracing\\n"); } message-send { printf("%d", arg2); } '
                'message-receive { @ = count(); } END { printa("received %@d\\n", @); }',
            )
            tracer.send_signal(signal.SIGSTOP)
            with self.traced(
                target,
                '-q',
                '-n',
                'BEGIN { printf("tracing\\n"); } message-receive { @n = count(); n++; } '
                'tick-50 /n > 20000/ { exit(0); }',
            ) as other:
                self.ended(other, 0)  # the machine works
            tracer.send_signal(signal.SIGCONT)
            tracer.send_signal(signal.SIGINT)
            output, errors = self.ended(tracer, 0)
            drops = re.findall(r'(\d+) drops? on CPU', errors)
            expect(drops and sum(map(int, drops)) > 1000, 'no drops are told', errors)
            expect(
                int(re.search(r'received (\d+)', output)[1]) > 20000,
                'what was counted meanwhile is lost',
                output[-200:],
            )

    def test_a_machine_that_ends_at_any_moment(self):
        for i in range(12):
            with session.Target(self.vmrun, HERE / 'inside_load.act') as target:
                tracer = self.traced(
                    target,
                    '-n',
                    'BEGIN { printf("tracing\\n"); } message-send, message-receive { @[probename] = '
                    'count(); }',
                    begin=False,
                )
                if i % 2:
                    until(lambda t=target: any(self.words_of_probes(t.process.pid)), 'the script runs')
                target.process.send_signal([signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM][i // 2 % 3])
                _, errors = self.ended(tracer, 0, 1)
                told = any(words in errors for words in ('has exited', 'failed to', 'the connection is gone'))
                expect(
                    told and (i % 2 == 0 or tracer.returncode == 0),
                    f'vmtrace does not say what happened: {tracer.returncode}',
                    errors,
                )

    # -- who else is there

    def test_nobody_can_take_its_place(self):
        """What others put where machines once listened keeps no tracer out, nor does a descriptor of others
        that the machine has."""
        with self.machine() as target, tempfile.TemporaryDirectory(
            prefix='vmrun-live-'
        ) as folder, contextlib.ExitStack() as stack:
            for there in (True, False):
                mark = pathlib.Path(folder, f'mark{there}')
                if there:
                    mark.write_text('mine')
                place = pathlib.Path(f'/tmp/vmrun-trace-{target.process.pid}')
                place.symlink_to(mark)
                stack.callback(place.unlink, missing_ok=True)
                output, _ = self.ended(
                    self.traced(target, '-qn', 'BEGIN { printf("in"); exit(0); }', begin=False), 0
                )
                expect(output.strip() == 'in', 'vmtrace is kept out', output)
                expect(
                    mark.exists() == there and (not there or mark.read_text() == 'mine'),
                    'the machine wrote through a link',
                )
                place.unlink()

    def test_a_socket_of_another_process_is_passed_over(self):
        """A machine was started with such a socket among its descriptors, under a name that looks like an
        endpoint's."""
        for backlog in (8, 0):
            with contextlib.ExitStack() as stack:
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix='vmrun-live-'))
                name = f'{folder}/{session.DOOR}0'
                listening = stack.enter_context(socket.socket(socket.AF_UNIX))
                listening.bind(name)
                listening.listen(backlog)
                if backlog == 0:
                    stack.enter_context(socket.socket(socket.AF_UNIX)).connect(name)
                handed_on = os.open(name, os.O_PATH)
                stack.callback(os.close, handed_on)
                target = stack.enter_context(
                    session.Target(self.vmrun, HERE / 'counts.act', inherited=[handed_on])
                )
                output, _ = self.ended(
                    self.traced(target, '-qn', 'BEGIN { printf("in"); exit(0); }', begin=False), 0
                )
                expect(output.strip() == 'in', 'vmtrace is kept out', output)

    def test_machines_in_namespaces_of_their_own(self):
        """The namespaces are of mounts, with another /tmp, of networks, of processes, of users: all that a
        container has, and a changed root."""
        if os.geteuid() != 0 or not shutil.which('unshare'):
            raise Skip('new namespaces need root and unshare')
        works = subprocess.run(
            ['unshare', '--mount', '--net', '--pid', '--fork', '--user', '--map-root-user', 'true'],
            capture_output=True,
            text=True,
        )
        if works.returncode:
            raise Skip('no namespaces here: ' + works.stderr.strip())
        kinds = ['--mount', '--net', '--pid', '--fork', '--kill-child', '--mount-proc']
        script = 'mount -t tmpfs tmpfs /tmp; exec "$@"'
        for under in (
            ['unshare', *kinds, 'sh', '-c', script, 'sh'],
            ['unshare', '--user', '--map-root-user', *kinds, 'sh', '-c', script, 'sh'],
            [
                'unshare',
                '--mount',
                'sh',
                '-c',
                'mount --bind / /mnt && mount --rbind /proc /mnt/proc && mount -t tmpfs tmpfs /mnt/tmp && '
                'exec chroot /mnt "$@"',
                'sh',
            ],
        ):
            with session.Target(self.vmrun.resolve(), HERE / 'counts.act', under=under) as target:
                pid = self.machine_below(target.process.pid)
                done = subprocess.run(
                    [self.vmtrace, '-p', str(pid), '-qn', 'BEGIN { printf("in"); exit(0); }'],
                    capture_output=True,
                    text=True,
                    timeout=session.LIMIT,
                )
                expect(
                    done.returncode == 0 and done.stdout.strip() == 'in',
                    f'{" ".join(under)}: vmtrace is kept out',
                    done.stderr,
                )
                target.line('go')
                target.wait_for('done')
                target.finish()

    @staticmethod
    def machine_below(pid):
        """Returns the process itself, or the last of its children's children."""
        while children := pathlib.Path(f'/proc/{pid}/task/{pid}/children').read_text().split():
            pid = int(children[0])
        return pid

    def test_vmtrace_of_another_user_is_refused(self):
        if os.geteuid() != 0:
            raise Skip('changing the user needs root')
        with self.machine() as target:
            _, errors = self.ended(
                self.traced(
                    target,
                    '-qn',
                    'BEGIN { exit(0); }',
                    begin=False,
                    user=NOBODY,
                    group=NOBODY,
                    extra_groups=[],
                ),
                1,
            )
            expect(
                'failed to grab pid' in errors and 'not permitted' in errors, 'not refused by name', errors
            )
            with Peer(target.process.pid) as keeps_it_open:  # an open endpoint does not let others in
                keeps_it_open.send(message(DROPS))
                keeps_it_open.answer(DROPS)
                endpoint = session.endpoint_of(target.process.pid)
                expect(as_nobody(lambda: connects(str(endpoint))) != 0, 'another user got in')
