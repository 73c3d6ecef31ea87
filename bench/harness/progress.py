# SPDX-License-Identifier: Apache-2.0
"""How far a run has come, and an estimate of what is left."""
import os
import statistics
import sys
import time


def duration(seconds):
    """For people: 40 s, 3 min, 2 h 10 min."""
    minutes = round(seconds / 60)
    if seconds < 100:
        return f'{seconds:.0f} s'
    return f'{minutes} min' if minutes < 100 else f'{minutes // 60} h {minutes % 60:02} min'


class Progress:
    """Counts steps of several kinds. What is left is estimated from the steps that are done: of the same
    name, else of the same kind, else of any."""

    def __init__(self, clock=time.monotonic, out=sys.stderr):
        self.clock, self.out = clock, out
        self.left, self.taken = {}, {}
        self.planned, self.done = 0, 0
        self.tty = out.isatty() and not os.environ.get('CI')
        self.last = clock()

    def plan(self, kind, name, steps):
        self.left[kind, name] = self.left.get((kind, name), 0) + steps
        self.planned += steps

    def give_up(self, kind, name):
        """What is left of these steps is not done."""
        self.planned -= self.left.pop((kind, name), 0)

    def give_up_all(self):
        """What is left of all that was planned so far is not done."""
        self.planned -= sum(self.left.values())
        self.left.clear()

    def step(self, kind, name, seconds=None):
        """One is done. seconds: what it took; None when it took none, for it had been measured before."""
        self.done += 1
        if self.left.get((kind, name)):
            self.left[kind, name] -= 1
        else:
            self.planned += 1
        if seconds is not None:
            self.taken.setdefault((kind, name), []).append(seconds)
        self.show(f'{kind} {name}'.strip())

    def seconds_left(self):
        """None while nothing is known."""
        if not self.taken:
            return None
        of_kind = {}
        for (kind, _), taken in self.taken.items():
            of_kind.setdefault(kind, []).extend(taken)
        anything = statistics.mean([s for taken in of_kind.values() for s in taken])
        mean_of_kind = {kind: statistics.mean(taken) for kind, taken in of_kind.items()}
        return sum(
            steps
            * (statistics.mean(self.taken[key]) if key in self.taken else mean_of_kind.get(key[0], anything))
            for key, steps in self.left.items()
        )

    def line(self, what):
        left = self.seconds_left()
        return f'[{self.done}/{self.planned}] {what}' + (f', about {duration(left)} left' if left else '')

    def show(self, what):
        if self.tty:
            self.out.write(f'\r\033[K{self.line(what)[:110]}')
            self.out.flush()
        elif self.clock() - self.last > 10:
            self.last = self.clock()
            print(self.line(what), file=self.out, flush=True)

    def clear(self):
        if self.tty:
            self.out.write('\r\033[K')
            self.out.flush()
