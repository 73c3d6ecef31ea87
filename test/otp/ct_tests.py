# SPDX-License-Identifier: Apache-2.0
"""What a run of common_test makes of a case, from the lines of the hook."""
from harness.results import Failure, Test
from otp.ct import Outcome

CASES = [  # the lines of one case, and how it ended
    (['began', 'ended'], 'ok'),
    (['began'], 'failed'),
    (['began', 'ended', 'failed'], 'failed'),
    (['began', 'failed', 'ended'], 'failed'),
    (['began', 'skipped'], 'skipped'),
    (['began', 'skipped', 'skipped'], 'skipped'),  # it skips itself
    # Two groups have the case.
    (['began', 'ended', 'skipped'], 'ok'),
    (['skipped', 'began', 'ended'], 'ok'),
    (['skipped', 'began'], 'failed'),
    (['began', 'failed', 'skipped'], 'failed'),
    (['began', 'failed', 'began', 'ended'], 'failed'),
    (['began', 'ended', 'began', 'failed'], 'failed'),
]


def tests():
    return [Test('docs', "lines of common_test's hook are results of cases", outcomes)]


def outcomes():
    for lines, expected in CASES:
        found = Outcome([f'{what} group/case why' for what in lines], None, '').cases['group/case'][0]
        if found != expected:
            raise Failure(f'{lines}: {found}, not {expected}')
