"""OTP's own test suites, run by OTP's own common_test on the machine: build/bin comes first in PATH.

stock.txt says what stock erl makes of each suite: how many cases pass, and which do not. Of the cases that pass there each must pass here, or stand
in suites.txt with the reason. One that stands there and passes is a failure too, unless the reason begins with "sometimes: "; one whose reason begins
with "left out: " is not run, because nothing after it would be.
"""
import pathlib

from harness.results import Failure, Test
from otp import ct, lists


def tests(root, vmrun):
    programs = pathlib.Path(vmrun).resolve().parent / 'bin'
    ours = lists.read(lists.OURS)
    return [Test('otp', f'{folder}/{suite}', lambda f=folder, s=suite, k=known: run(programs, f, s, k, ours.get((f, s), lists.Suite()).cases), alone=True)
            for (folder, suite), known in lists.read(lists.STOCK).items()]


def run(programs, folder, suite, stock, excepted):
    left_out = [case for case, why in excepted.items() if why.startswith(lists.LEFT_OUT)]
    outcome = ct.run(programs, folder, suite, left_out)
    wrong = [f'{case} {what}: {why[:300]}' for case, (what, why) in outcome.cases.items()
             if what != 'ok' and case not in stock.cases and case not in excepted]
    wrong += [f'{case} passes: it need not stand in suites.txt any more' for case in outcome.passed
              if case in excepted and not excepted[case].startswith(lists.SOMETIMES)]
    reached = len((outcome.cases.keys() | excepted.keys()) - stock.cases.keys())
    if reached < stock.number:
        wrong.append(f'{stock.number - reached} cases that pass with stock erl were not reached: {outcome.end}\n{outcome.log[-1500:]}')
    if wrong:
        raise Failure('\n'.join(wrong))
