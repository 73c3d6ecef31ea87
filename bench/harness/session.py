# SPDX-License-Identifier: Apache-2.0
"""One run of ./dev bench: what was asked for, the machines, the journal, and the figures as they come."""
import contextlib
import functools
import pathlib
import shlex
import subprocess
import time

from . import builds, configurations, machines, progress, workloads


class Session:
    """results: what is written as JSON, in the form of docs/internals/benchmarks.md."""

    def __init__(self, options, folder, journal=None):
        self.options, self.folder, self.journal = options, pathlib.Path(folder), journal
        self.progress = progress.Progress()
        self.results = {}
        self.beside = None  # figures of an earlier run
        self.until = None  # when the part of the time that a measurement has is over
        self.left_out = []  # what there was no time for
        self.vmrun_path = pathlib.Path(options.vmrun or options.build / 'vmrun').resolve()
        self.workloads = workloads.find()
        self.configurations = configurations.every()

    # The machines

    @functools.cached_property
    def vmrun(self):
        return machines.Vmrun(self.vmrun_path, shlex.split(self.options.flags))

    @property
    def size(self):
        """The name of the size at which workloads run, but where each event costs much."""
        return 'quick' if self.options.quick else 'whole'

    @functools.cached_property
    def erl(self):
        return machines.Erl(self.folder)

    @functools.cached_property
    def without_probes(self):
        return machines.Vmrun(builds.without_probes(self.options.build), self.vmrun.flags)

    @functools.cached_property
    def baseline(self):
        return machines.Vmrun(builds.baseline(self.options.baseline, self.options.build), self.vmrun.flags)

    @functools.cached_property
    def erl_with_probes(self):
        folder = self.folder / 'erl_with_probes'
        folder.mkdir()
        return machines.Erl(folder, self.options.erl_with_probes)

    def machine(self, name):
        return {
            'vmrun': lambda: self.vmrun,
            'none': lambda: self.without_probes,
            'baseline': lambda: self.baseline,
            'erl': lambda: self.erl,
            'erl-with-probes': lambda: self.erl_with_probes,
        }[name]()

    @functools.cache
    def unable_machine(self, name):
        """Why it cannot run here, or None."""
        if name == 'erl':
            return machines.no_erl()
        if name == 'baseline':
            return None if self.options.baseline else 'no --baseline'
        if name == 'none':
            return self.unable_without_probes()
        if name == 'erl-with-probes':
            if not self.options.erl_with_probes:
                return 'no --erl-with-probes PATH'
            return (
                None
                if self.erl_with_probes.has_probes
                else f'{self.options.erl_with_probes} has no probes in {self.erl_with_probes.program}'
            )
        return None if self.vmrun_path.exists() else f'{self.vmrun_path} is not there'

    def unable_without_probes(self):
        if self.options.vmrun:
            return '--vmrun is not of the build folder; its build without probes is not known'
        folder = builds.without_probes_folder(self.options.build)
        if self.options.quick and not (folder / 'vmrun').exists():
            return f'--quick builds nothing, and {folder} is not there (./dev bench instructions makes it)'
        if self.options.list:
            return None
        try:
            self.without_probes
        except (builds.BuildFailed, subprocess.CalledProcessError) as failed:
            return f'it cannot be built: {failed}'
        return None

    @functools.cache
    def no_vmtrace(self):
        if not self.options.vmrun:
            builds.targets(self.options.build, ['vmtrace'])
        there = self.vmrun_path.with_name('vmtrace').exists()
        return None if there else f'no vmtrace beside {self.vmrun_path}'

    # Commands, time, words

    def pinned(self, command):
        return ['taskset', '-c', self.options.pin, *command] if self.options.pin else list(command)

    def once(self, key, measure, kind='', name=''):
        """By the journal, with a step of the progress."""
        known = key in self.journal
        start = time.monotonic()
        value = self.journal.once(key, measure)
        self.progress.step(kind, name, None if known else time.monotonic() - start)
        return value

    @contextlib.contextmanager
    def within(self, seconds):
        """What is measured inside stops when the time is over, if a time is given."""
        self.until = time.monotonic() + seconds if seconds else None
        try:
            yield
        finally:
            self.until = None

    def out_of_time(self):
        return self.until is not None and time.monotonic() > self.until

    def seconds_at_most(self, usual):
        """For one run: what is left of the time, and a little."""
        return usual if self.until is None else max(5, min(usual, self.until + 5 - time.monotonic()))

    def say(self, text=''):
        self.progress.clear()
        print(text, flush=True)

    def add(self, part, rows):
        self.results.setdefault(part, []).extend(rows)
