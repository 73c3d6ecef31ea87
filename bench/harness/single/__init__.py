# SPDX-License-Identifier: Apache-2.0
"""Measurements that stand alone, one a file: each has measure(session) and puts its figures into
results['figures'][NAME]."""


def keep(session, name, figures):
    session.results.setdefault('figures', {})[name] = figures


def pair(session):
    """The two machines that are compared: (name, machine); the second is the other commit, or a stock erl, if
    there is one."""
    other = 'baseline' if session.options.baseline else 'erl'
    found = [('vmrun', session.vmrun)]
    return found if session.unable_machine(other) else [*found, (other, session.machine(other))]


def shown(values, form):
    """vmrun 1.0 ms, erl 2.0 ms."""
    return ', '.join(f'{name} {form.format(value)}' for name, value in values.items())
