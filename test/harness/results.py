"""Results, and running many tests at once with progress."""
import concurrent.futures
import os
import sys
import time
import traceback


class Skip(Exception):
    """Raised by a test that cannot run here; the text says why."""


class Failure(Exception):
    """Raised by a test that failed; the text is what is printed."""


class Test:
    """suite: unit, golden, erl, live...; name: what filters match; run: returns nothing, or raises Skip or
    Failure; alone: two such tests never run at the same time."""

    def __init__(self, suite, name, run, alone=False):
        self.suite, self.name, self.run, self.alone = suite, name, run, alone

    @property
    def full_name(self):
        return f'{self.suite}: {self.name}'


class Totals:
    def __init__(self):
        self.passed, self.failed, self.skipped, self.unstable = 0, [], [], []
        self.seconds = []  # of each test: seconds, name


class Outcome:
    """The result of a test, and that of its first try if it had two."""

    def __init__(self, test, second_try):
        start = time.monotonic()
        self.test, self.first_failure = test, None
        self.status, self.detail = execute(test)
        self.seconds = time.monotonic() - start
        if self.status == 'failed' and second_try(test):
            self.first_failure = self.detail
            self.status, self.detail = execute(test)


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


def run_all(tests, jobs, totals, skips_fail=lambda test: False, second_try=lambda test: False):
    """Runs the tests, `jobs` at a time, and beside them those marked alone, one at a time: tracers wait more than they work.

    A test that has a second try fails when both fail. One that passes then is printed, and named in the totals: it has passed, and
    somebody should know.
    """
    progress = Progress(len(tests))

    def print_detail(title, detail):
        progress.clear()
        print(f'{title}\n' + '\n'.join('    ' + line for line in detail.splitlines()), flush=True)

    def finish(outcome):
        test, status, detail = outcome.test, outcome.status, outcome.detail
        progress.step(test.full_name)
        totals.seconds.append((outcome.seconds, test.full_name))
        if outcome.first_failure is not None:
            print_detail(f'UNSTABLE {test.full_name}: failed, and was tried once more', outcome.first_failure)
            if status == 'passed':
                totals.unstable.append(test.full_name)
        if status == 'skipped' and skips_fail(test):
            status, detail = 'failed', 'must not be skipped here: ' + detail
        if status == 'passed':
            totals.passed += 1
        elif status == 'skipped':
            totals.skipped.append((test.full_name, detail))
        else:
            totals.failed.append(test.full_name)
            print_detail(f'FAILED {test.full_name}', detail)

    with concurrent.futures.ThreadPoolExecutor(jobs) as together, concurrent.futures.ThreadPoolExecutor(1) as one_by_one:
        running = [(one_by_one if test.alone else together).submit(Outcome, test, second_try) for test in tests]
        for future in concurrent.futures.as_completed(running):
            finish(future.result())
    progress.clear()
