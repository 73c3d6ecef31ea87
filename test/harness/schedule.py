# SPDX-License-Identifier: Apache-2.0
"""What runs beside what.

Most tests compute: as many run at a time as there are cores. Tests that wait for other programs leave a
core to them, and run three at a time beside: with eight, programs such as rebar3 and mix reach their time
limits on two cores. Tests in turn attach tracers to the kernel or are long: one at a time, beside the
others. What a test measures or limits may leave no room for any of these: it runs alone, after all others.
"""

WAITING_AT_A_TIME = 3

# Beginnings of full names. Those of COMPUTES are among those of WAITS, but compile and have a limit of time.
COMPUTES = ('command: bin: ',)
WAITS = ('nodes: ', 'command: ', 'live: inside: far ', 'live: inside: cluster ')

# Full names, or beginnings of them, and why.
ALONE = {
    'live: attached in a long slice': 'other work would end the slice in which the tracer attaches',
    'nodes: many nodes': 'a hundred nodes want all cores',
    'nodes: connected once only': 'a busy peer may connect again while the end of the connection is awaited',
}


def is_alone(test):
    return test.full_name.startswith(tuple(ALONE))


def waits(test):
    return test.full_name.startswith(WAITS) and not test.full_name.startswith(COMPUTES)


def rounds(tests, jobs):
    """Groups of tests to run one after the other: each a list of pairs, how many run at a time and which."""
    alone = [t for t in tests if is_alone(t)]
    others = [t for t in tests if not is_alone(t)]
    waiting = [t for t in others if waits(t)]
    in_turn = [t for t in others if t.in_turn and not waits(t)]
    computing = [t for t in others if not t.in_turn and not waits(t)]
    return [[(jobs, computing), (WAITING_AT_A_TIME, waiting), (1, in_turn)], [(1, alone)]]
