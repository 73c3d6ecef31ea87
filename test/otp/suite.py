# SPDX-License-Identifier: Apache-2.0
"""OTP's own test suites, run by OTP's own common_test on the machine: build/bin comes first in PATH.

In the folder of the installed release, stock.txt says what stock erl makes of each suite: how many cases
pass, and which do not. Of the cases that pass there each must pass here, or stand in suites.txt with the
reason. One that stands there and passes is a failure too, unless the reason begins with "sometimes: "; one
whose reason begins with "left out: " is not run, because nothing after it would be.
"""
from harness.golden import MODES, stock_release
from harness.programs import in_mode
from harness.results import Failure, Skip, Test
from otp import ct, lists


def tests(programs, slowness=1):
    stock, ours = map(lists.read, lists.at_hand())
    if not stock:
        return [Test('otp', 'its lists', no_lists)]
    return [
        Test(
            'otp',
            f'{folder}/{suite}',
            lambda f=folder, s=suite, k=known: run(
                programs, f, s, k, ours.get((f, s), lists.Suite()), ct.SECONDS * slowness
            ),
            in_turn=True,
        )
        for (folder, suite), known in stock.items()
    ]


def no_lists():
    raise Skip(f'test/otp has no lists of OTP {stock_release()}, which is the installed one (0: none)')


def tests_in_mode(programs, mode, seed, folder):
    """The tests with the flags of a mode (docs/testing.md) for the system and all nodes that it starts."""
    return [
        Test(t.suite, f'{t.name} [{mode}]', t.run, t.in_turn)
        for t in tests(in_mode(programs, mode, seed, folder), MODES[mode][1])
    ]


def run(programs, folder, suite, stock, ours, seconds):
    excepted = ours.cases
    outcome = ct.run(programs, folder, suite, lists.left_out(stock, ours), seconds)
    wrong = [
        f'{case} {what}: {why[:300]}'
        for case, (what, why) in outcome.cases.items()
        if what != 'ok' and case not in stock.cases and case not in excepted
    ]
    wrong += [
        f'{case} passes: it need not stand in suites.txt any more'
        for case in outcome.passed
        if case in excepted and not excepted[case].startswith(lists.SOMETIMES)
    ]
    reached = len((outcome.cases.keys() | excepted.keys()) - stock.cases.keys())
    if reached < stock.number:
        wrong.append(
            f'{stock.number - reached} cases that pass with stock erl were not reached: {outcome.end}\n'
            f'{outcome.log[-1500:]}'
        )
    if wrong:
        raise Failure('\n'.join(wrong))
