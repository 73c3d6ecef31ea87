# SPDX-License-Identifier: Apache-2.0
"""Those who watch: what each tool is told, and how it says how many firings it has seen.

A consumer knows why it cannot run here (`unable`), and wraps the command of a program (`watching`), which
then runs under its eyes. All count, for counting is what costs a tracer least: what is measured is the probe
and the way to the tracer.
"""
import contextlib
import functools
import os
import pathlib
import re
import shutil
import subprocess

from . import families


class Watched:
    """A command that is watched. firings(): how many the tool has seen, once the command has ended, or
    None."""

    def __init__(self, command, firings=lambda: None):
        self.command, self.firings = command, firings


def sum_of_counts(path):
    """The numbers at the ends of lines, as tables of vmtrace, dtrace, bpftrace and stap have them."""
    text = path.read_text(errors='replace') if path.exists() else ''
    return sum(map(int, re.findall(r'\s(\d+)\s*$', text, re.M)))


def one_string(command):
    """For tools that take a command as one word and part it at blanks."""
    return ' '.join(map(str, command))


def fresh(folder, name):
    path = pathlib.Path(folder) / name
    path.unlink(missing_ok=True)
    return path


def no_root():
    return None if os.geteuid() == 0 else 'needs root'


class Bpftrace:
    def __init__(self, family, texts=False):
        self.family, self.texts = family, texts

    def unable(self, session):
        return no_bpftrace() or no_root() or no_uprobes()

    def script(self, program):
        def clause(probes, key):
            return (
                ', '.join(f'usdt:{program}:erlang:{p.name}' for p in probes) + f' {{ @[{key}] = count(); }} '
            )

        probes = families.family(self.family).probes
        if not self.texts:
            return clause(probes, 'probe')
        by_kind = [
            ([p for p in probes if p.is_text], 'str(arg0)'),
            ([p for p in probes if not p.is_text], 'arg0'),
        ]
        # A map has keys of one type: numbers are counted in another.
        return ''.join(
            clause(some, key).replace('@[', '@numbers[' if key == 'arg0' else '@[')
            for some, key in by_kind
            if some
        )

    @contextlib.contextmanager
    def watching(self, command, program, folder):
        out = fresh(folder, 'bpftrace.out')
        yield Watched(
            ['bpftrace', '-q', '-o', str(out), '-c', one_string(command), '-e', self.script(program)],
            lambda: sum_of_counts(out),
        )


class Vmtrace:
    """A clause of D, run by the engine inside the machine."""

    def __init__(self, clauses, counts=True):
        self.clauses, self.counts = clauses, counts

    def unable(self, session):
        return session.no_vmtrace()

    @contextlib.contextmanager
    def watching(self, command, program, folder):
        out = fresh(folder, 'vmtrace.out')
        yield Watched(
            [
                str(session_vmtrace(program)),
                '-q',
                '-o',
                str(out),
                '-c',
                one_string(command),
                '-n',
                self.clauses,
            ],
            lambda: sum_of_counts(out) if self.counts else None,
        )


def session_vmtrace(program):
    """Beside the machine it was built with."""
    return pathlib.Path(program).with_name('vmtrace')


def d_clauses(family, texts=False):
    probes = families.family(family).probes

    def clause(some, key):
        return ', '.join(p.dashed for p in some) + f' {{ @[{key}] = count(); }} '

    if not texts:
        return clause(probes, 'probename')
    by_kind = [
        ([p for p in probes if p.is_text], 'copyinstr(arg0)'),
        ([p for p in probes if not p.is_text], 'arg0'),
    ]
    return ''.join(
        clause(some, key).replace('@[', '@numbers[' if key == 'arg0' else '@[')
        for some, key in by_kind
        if some
    )


class OracleDTrace:
    def __init__(self, family, texts=False):
        self.family, self.texts = family, texts

    def unable(self, session):
        return no_dtrace() or no_root()

    @contextlib.contextmanager
    def watching(self, command, program, folder):
        out = fresh(folder, 'dtrace.out')
        clauses = d_clauses(self.family, self.texts)
        qualified = re.sub(r'(?<![\w-])([a-z][\w]*-[\w-]+)(?=,| \{)', r'erlang$target:::\1', clauses)
        yield Watched(
            ['dtrace', '-q', '-o', str(out), '-c', one_string(command), '-n', qualified],
            lambda: sum_of_counts(out),
        )


class SystemTap:
    def __init__(self, family, texts=False):
        self.family, self.texts = family, texts

    def unable(self, session):
        return no_stap() or no_root()

    @contextlib.contextmanager
    def watching(self, command, program, folder):
        out = fresh(folder, 'stap.out')

        def body(probe):
            if not self.texts:
                return 'n <<< 1'
            return 'texts[user_string_n($arg1, 255)] <<< 1' if probe.is_text else 'numbers[$arg1] <<< 1'

        sites = [
            f'probe process("{program}").provider("erlang").mark("{p.name}") {{ {body(p)}; total++ }}'
            for p in families.family(self.family).probes
        ]
        script = (
            'global n, texts, numbers, total\n'
            + '\n'.join(sites)
            + '\nprobe end { printf("firings %d\\n", total) }'
        )
        yield Watched(
            ['stap', '-o', str(out), '-c', one_string(command), '-e', script], lambda: sum_of_counts(out)
        )


class Perf:
    """perf stat counts events of uprobes, which are made for the run in a group of their own."""

    EVENTS = pathlib.Path('/sys/kernel/tracing/uprobe_events')

    def __init__(self, family):
        self.family = family

    def unable(self, session):
        return (
            no_perf()
            or no_root()
            or no_uprobes()
            or (None if self.EVENTS.exists() else f'{self.EVENTS} is not there')
        )

    @contextlib.contextmanager
    def watching(self, command, program, folder):
        out, group = fresh(folder, 'perf.out'), f'vmrun_bench_{os.getpid()}'
        sites, wanted = families.offsets(program), [p.name for p in families.family(self.family).probes]
        path = os.path.realpath(program)
        try:
            for name in wanted:
                site, semaphore = sites[name]
                self.tell_kernel(f'p:{group}/{name} {path}:{site:#x}({semaphore:#x})')
            yield Watched(
                [
                    'perf',
                    'stat',
                    '-x',
                    ',',
                    '-o',
                    str(out),
                    '-e',
                    ','.join(f'{group}:{name}' for name in wanted),
                    *map(str, command),
                ],
                lambda: sum(map(int, re.findall(r'^(\d+),', out.read_text(), re.M))),
            )
        finally:
            there = re.findall(rf'^p:({group}/\w+)', self.EVENTS.read_text(), re.M)
            for name in there:
                self.tell_kernel(f'-:{name}')

    def tell_kernel(self, line):
        """The file cannot be sought in, as opening it for appending would; what is written is added all the
        same."""
        events = os.open(self.EVENTS, os.O_WRONLY | os.O_APPEND)
        try:
            os.write(events, line.encode() + b'\n')
        finally:
            os.close(events)


class PerfProfile:
    """Samples with native stacks by the processor's clock of the kernel, which needs no counters of the
    hardware."""

    def unable(self, session):
        return no_perf() or no_root()

    @contextlib.contextmanager
    def watching(self, command, program, folder):
        out = fresh(folder, 'perf.data')
        yield Watched(
            ['perf', 'record', '-q', '-e', 'cpu-clock', '-F', '997', '-g', '-o', str(out), *map(str, command)]
        )


class ErlangTrace:
    """erlang:trace with a process that counts: bench/common/traced.erl starts the program, and says on
    standard error how many events there were. It is in the command of the machine already."""

    def __init__(self, events, texts=False):
        self.events, self.texts = events, texts

    def unable(self, session):
        return None

    @contextlib.contextmanager
    def watching(self, command, program, folder):
        counted = fresh(folder, 'traced.out')
        how = 'texts' if self.texts else 'counted'
        start = command.index('act_main')
        traced = [
            *command[: start - 1],
            '-run',
            'traced',
            'start',
            how,
            self.events,
            str(counted),
            *command[start + 2 :],
        ]
        yield Watched(traced, lambda: sum_of_counts(counted))


# Each tells why a tool cannot be used here, or None.


@functools.cache
def no_bpftrace():
    return None if shutil.which('bpftrace') else 'no bpftrace here'


@functools.cache
def no_stap():
    return None if shutil.which('stap') else 'no SystemTap here (stap)'


@functools.cache
def no_dtrace():
    """systemtap-sdt-dev has a program of this name that only makes headers."""
    if not shutil.which('dtrace'):
        return 'no DTrace here'
    told = subprocess.run(['dtrace', '-V'], capture_output=True, text=True)
    return (
        None
        if told.returncode == 0 and 'Sun D' in told.stdout
        else 'no DTrace here: dtrace is the one of systemtap-sdt-dev'
    )


@functools.cache
def no_perf():
    if not shutil.which('perf'):
        return 'no perf here'
    told = subprocess.run(['perf', 'stat', '-e', 'task-clock', 'true'], capture_output=True, text=True)
    return (
        None
        if told.returncode == 0
        else 'perf does not work here: ' + (told.stderr.strip().split('\n') or [''])[0][:100]
    )


@functools.cache
def no_counters():
    """Says why the counters of the hardware cannot be read; empty when they can be."""
    if no_perf():
        return no_perf()
    told = subprocess.run(
        ['perf', 'stat', '-x', ',', '-e', 'instructions:u', 'true'], capture_output=True, text=True
    )
    return (
        None
        if re.search(r'^\d+,', told.stderr, re.M)
        else 'the processor\'s counters are not to be had here (perf: instructions:u)'
    )


@functools.cache
def no_uprobes():
    tracing = pathlib.Path('/sys/kernel/tracing')
    if tracing.is_dir() and not any(tracing.iterdir()):
        subprocess.run(['mount', '-t', 'tracefs', 'tracefs', str(tracing)], capture_output=True)
    return (
        None
        if (tracing / 'uprobe_events').exists()
        else 'the kernel offers no uprobes (no tracefs, or CONFIG_UPROBE_EVENTS is off)'
    )
