# SPDX-License-Identifier: Apache-2.0
"""One vmrun with bpftrace attached to it.

A program under test prints `ready`, waits for a line, does its work, prints what it knows (`NAME VALUE`
lines), and ends with `done`, after which it waits for another line. Nothing here sleeps: bpftrace is attached
when it prints the text of its BEGIN probe, since output is read only once all probes are in place; it ends
when its target has ended, and then has printed everything.
"""
import contextlib
import os
import pathlib
import queue
import re
import shutil
import subprocess
import threading
import time

from harness.golden import ENVIRONMENT
from harness.results import Failure, Skip

LIMIT = 120  # seconds; no step takes that long unless something is broken
FORMATS = {
    'string': ('%s', 'str(arg{})'),
    'int': ('%d', '(int32)arg{}'),
    'uint32': ('%u', '(uint32)arg{}'),
    'int64': ('%lld', 'arg{}'),
}


class Event:
    def __init__(self, line):
        time, self.thread, self.probe, *self.arguments = line.split('|')
        self.time = int(time)

    def __repr__(self):
        return ' '.join([self.probe, *self.arguments])


class Lines:
    """Lines of a stream, read by a separate thread."""

    def __init__(self, stream):
        self.queue, self.seen = queue.Queue(), []
        self.thread = threading.Thread(target=self.pump, args=(stream,), daemon=True)
        self.thread.start()

    def pump(self, stream):
        for line in stream:
            self.queue.put(line.rstrip('\n'))
        self.queue.put(None)

    def next(self):
        line = self.queue.get(timeout=LIMIT)
        if line is not None:
            self.seen.append(line)
        return line

    def until(self, text, what):
        while True:
            try:
                line = self.next()
            except queue.Empty:
                raise Failure(f'{what}: no "{text}" after {LIMIT} s\n' + '\n'.join(self.seen[-20:])) from None
            if line is None:
                raise Failure(f'{what}: ended before "{text}"\n' + '\n'.join(self.seen[-20:]))
            if line == text:
                return

    def rest(self):
        while self.next() is not None:
            pass
        return self.seen


def require_tracer():
    """Raises Skip, with the reason, where no tracer can be attached."""
    if not shutil.which('bpftrace'):
        raise Skip('no bpftrace here')
    if os.geteuid() != 0:
        raise Skip('attaching needs root')
    tracefs = pathlib.Path('/sys/kernel/tracing')
    if not (tracefs / 'uprobe_events').exists():
        mounted = subprocess.run(
            ['mount', '-t', 'tracefs', 'tracefs', str(tracefs)], capture_output=True, text=True
        )
        if mounted.returncode != 0 or not (tracefs / 'uprobe_events').exists():
            raise Skip('no tracefs with uprobes: ' + mounted.stderr.strip())


def program(table, names):
    """Returns a bpftrace program that prints each firing of the probes: time|thread|name|arguments, at most
    the first six, which is all that bpftrace has."""
    text = ['BEGIN { printf("tracing\\n"); }']
    for probe in table.probes:
        if probe.name not in names:
            continue
        shown = probe.arguments[:6]
        formats = ['%llu', '%d', probe.name] + [FORMATS[a.kind][0] for a in shown]
        values = ['nsecs', 'tid'] + [FORMATS[a.kind][1].format(i) for i, a in enumerate(shown)]
        text.append(
            f'usdt:*:erlang:{probe.name} {{ printf("{"|".join(formats)}\\n", {", ".join(values)}); }}'
        )
    return '\n'.join(text)


# of each core: bpftrace holds what it has not read yet there, 64 pages unless told, too few when it gets
# little of a busy machine
BUFFER_PAGES = '1024'


class Tracer:
    def __init__(self, pid, text):
        command = ['bpftrace', '-B', 'line', '-p', str(pid)] + (
            ['-e', text] if isinstance(text, str) else [str(text)]
        )
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            stdin=subprocess.DEVNULL,
            errors='replace',
            env=dict(ENVIRONMENT, BPFTRACE_PERF_RB_PAGES=BUFFER_PAGES),
        )
        self.errors = Lines(self.process.stderr)
        self.output = Lines(self.process.stdout)
        try:
            self.output.until('tracing', 'bpftrace')
        except Failure as failure:
            self.process.kill()
            raise Failure(f'{failure}\n' + '\n'.join(self.errors.rest())) from None

    def lines(self):
        """Waits until bpftrace ends, by itself: with its target, or by exit(). Returns the lines it printed.

        It is never interrupted: bpftrace 0.17 drops what it has not printed yet when a signal comes, and may
        miss the signal while it prints.
        """
        try:
            self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Failure('bpftrace does not end') from None
        lines = self.output.rest()
        lost = [line for line in self.errors.rest() + lines if 'Lost' in line]
        if lost:
            raise Failure('bpftrace: ' + lost[0])
        return lines


DOOR = 'vmrun-trace-'
FOLDERS_OF_DOORS = ('/tmp', '/dev/shm', '/var/tmp')


def endpoint_of(pid):
    """Returns the descriptor of the process by which it is reached while its endpoint is open, else None."""
    for entry in pathlib.Path(f'/proc/{pid}/fd').iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            if os.readlink(entry).rpartition('/')[2].startswith(DOOR):
                return entry
    return None


def files_of_endpoints():
    """Returns names of endpoints, which are removed as soon as they exist."""
    names = re.compile(DOOR + '[0-9a-f]{32}')
    return [
        f'{folder}/{name}'
        for folder in FOLDERS_OF_DOORS
        for name in os.listdir(folder)
        if names.fullmatch(name)
    ]


def until(condition, what):
    """Polls, because what another process does can only be seen from outside."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        if value := condition():
            return value
        subprocess.run(['sleep', '0.005'], check=True)
    raise Failure(f'not within {LIMIT} s: {what}')


class Target:
    """A vmrun that runs a program of test/live. `under`: a command that becomes it, or starts it. inherited:
    descriptors that it keeps."""

    def __init__(
        self, vmrun, source, flags=('+S', '2'), arguments=(), environment=None, under=(), inherited=()
    ):
        self.process = subprocess.Popen(
            [*under, vmrun, *flags, str(source), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            pass_fds=inherited,
            env=dict(ENVIRONMENT, **(environment or {})),
        )
        self.errors = Lines(self.process.stderr)
        self.output = Lines(self.process.stdout)
        self.wait_for('ready')

    def wait_for(self, text):
        try:
            self.output.until(text, 'vmrun')
        except Failure as failure:
            self.process.kill()
            raise Failure(f'{failure}\n' + '\n'.join(self.errors.rest()[-20:])) from None

    def line(self, text):
        self.process.stdin.write(text + '\n')
        self.process.stdin.flush()

    def finish(self):
        """Lets the program end; checks that it ended well. Returns what it printed as a dictionary."""
        self.line('end')
        try:
            status = self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Failure('vmrun does not end') from None
        lines, errors = self.output.rest(), self.errors.rest()
        if status != 0:
            raise Failure(f'vmrun: status {status}\n' + '\n'.join(errors[-20:]))
        return dict(line.split(' ', 1) for line in lines if ' ' in line)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def trace(vmrun, source, text, flags=('+S', '2'), arguments=(), environment=None):
    """Runs a program with a bpftrace program attached. Returns what the program printed and the tracer's
    lines."""
    require_tracer()
    with Target(vmrun, source, flags, arguments, environment) as target:
        tracer = Tracer(target.process.pid, text)
        target.line('go')
        target.wait_for('done')
        known = target.finish()
        return known, tracer.lines()


def events(lines):
    """Returns firings in the order of their times, because lines of different processors may be printed out
    of order."""
    return sorted((Event(line) for line in lines if '|' in line), key=lambda event: event.time)
