# SPDX-License-Identifier: Apache-2.0
"""Results, and running many tests at once with progress."""
import concurrent.futures
import contextlib
import os
import sys
import time
import traceback

from . import schedule


class Skip(Exception):
    """Raised by a test that cannot run here; the text says why."""


class Failure(Exception):
    """Raised by a test that failed; the text is what is printed."""


class Test:
    """suite: unit, golden, erl, live...; name: what filters match; run: returns nothing, or raises Skip or
    Failure; in_turn: it attaches a tracer to the kernel, or takes long, and does not run beside another such
    test (schedule.py)."""

    def __init__(self, suite, name, run, in_turn=False):
        self.suite, self.name, self.run, self.in_turn = suite, name, run, in_turn

    @property
    def full_name(self):
        return f'{self.suite}: {self.name}'


class Totals:
    def __init__(self):
        self.passed, self.failed, self.skipped = 0, [], []
        self.seconds = []  # of each test: seconds, name


class Outcome:
    """What came of a test."""

    def __init__(self, test):
        start = time.monotonic()
        self.test = test
        self.status, self.detail = execute(test)
        self.seconds = time.monotonic() - start


def execute(test):
    try:
        test.run()
        return 'passed', ''
    except Skip as skip:
        return 'skipped', str(skip)
    except Failure as failure:
        return 'failed', str(failure)
    except Exception:  # a mistake in the harness must not hide the other results
        return 'failed', traceback.format_exc()


class Progress:
    def __init__(self, count):
        self.count, self.done, self.last = count, 0, time.monotonic()
        self.tty = sys.stdout.isatty() and not os.environ.get('CI')

    def step(self, name):
        self.done += 1
        if self.tty:
            sys.stdout.write(f'\r\033[K[{self.done}/{self.count}] {name[:90]}')
            sys.stdout.flush()
        elif time.monotonic() - self.last > 10:
            self.last = time.monotonic()
            print(f'[{self.done}/{self.count}] {name}', flush=True)

    def clear(self):
        if self.tty:
            sys.stdout.write('\r\033[K')


def run_all(tests, jobs, totals, skips_fail=lambda test: False):
    """Runs the tests as schedule.py says: those that compute `jobs` at a time, beside them those that wait,
    and one at a time those that take turns. When all of them have ended, those run that nothing may run
    beside."""
    progress = Progress(len(tests))

    def finish(outcome):
        test, status, detail = outcome.test, outcome.status, outcome.detail
        progress.step(test.full_name)
        totals.seconds.append((outcome.seconds, test.full_name))
        if status == 'skipped' and skips_fail(test):
            status, detail = 'failed', 'must not be skipped here: ' + detail
        if status == 'passed':
            totals.passed += 1
        elif status == 'skipped':
            totals.skipped.append((test.full_name, detail))
        else:
            totals.failed.append(test.full_name)
            progress.clear()
            lines = ['    ' + line for line in detail.splitlines()]
            print('\n'.join([f'FAILED {test.full_name}', *lines]), flush=True)

    for at_a_time in schedule.rounds(tests, jobs):
        with contextlib.ExitStack() as stack:
            running = []
            for count, chosen in at_a_time:
                pool = stack.enter_context(concurrent.futures.ThreadPoolExecutor(count))
                running += [pool.submit(Outcome, test) for test in chosen]
            for future in concurrent.futures.as_completed(running):
                finish(future.result())
    progress.clear()
