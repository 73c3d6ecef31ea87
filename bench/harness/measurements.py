# SPDX-License-Identifier: Apache-2.0
"""The measurements that ./dev bench knows by name, in the order in which they run without a name."""
import dataclasses

from . import configurations, instructions, latency, memory, micro, programs, scaling, watching, workloads
from .single import fairness, firing, hello, nodes, small, tools, views, vmtrace, waiting


@dataclasses.dataclass(frozen=True)
class Measurement:
    name: str
    text: str
    measure: object  # a function of the session and the workloads that were named, or none
    quick_s: int = 0  # its part of the time of --quick; 0: not then


def workloads_against_erl(session, named):
    wanted = session.options.configurations or default_configurations(session)
    chosen = configurations.matching(wanted, session.configurations)
    able = []
    for c in configurations.with_bases(chosen, session.configurations):
        why = c.unable(session)
        if why and (c.machine == 'none' or session.options.configurations):
            session.say(f'not measured: {c.name}: {why}')
        if not why:
            able.append(c)
    of = named or some(session, configurations.QUICK_WORKLOADS) or session.workloads
    if {c.name for c in able} <= {'none', 'off', 'erl', 'baseline'}:
        programs.measure(session, of, able)
    else:
        watching.measure_all(session, [(workload, able) for workload in of])


def default_configurations(session):
    if session.options.baseline:
        return ['off', 'baseline']
    return ['off', 'erl'] if session.options.quick else ['none', 'off', 'erl']


def some(session, names):
    """With --quick only these, as far as they have a small size; two that have one if none of these does."""
    if not session.options.quick:
        return []
    small = [w for w in session.workloads if w.quick]
    return [w for w in small if w.name in names] or small[:2]


def counted_instructions(session, named):
    instructions.measure(session, named or some(session, instructions.QUICK) or session.workloads)


def parallel_fib(session, named):
    scaling.measure(session, workloads_named(session, 'actors/parallel_fib'))


def workloads_named(session, name):
    """Taken as one that gains from several schedulers, whether it says so or not."""
    return [dataclasses.replace(w, parallel=True) for w in session.workloads if w.name == name]


def scaled(session, named):
    chosen = named or session.workloads
    scaling.measure(
        session, [w for w in chosen if w.parallel and w.quick][:2] if session.options.quick else chosen
    )


MEASUREMENTS = [
    Measurement(
        'workloads',
        'the time of each workload, vmrun against erl, and against probes compiled out',
        workloads_against_erl,
        45,
    ),
    Measurement(
        'watching',
        'what watching costs: each family of probes under each tool that counts them',
        lambda s, _: watching.measure(s),
        50,
    ),
    Measurement(
        'instructions',
        'instructions executed with probes compiled in and disabled, against -Dprobes=none (callgrind)',
        counted_instructions,
        20,
    ),
    Measurement('scaling', 'one scheduler against several, on workloads that gain from them', scaled, 15),
    Measurement(
        'latency',
        'how long messages take under load, up to the 99.99th percentile',
        lambda s, _: latency.measure(s),
        15,
    ),
    Measurement(
        'memory',
        'resident memory of a process, of a message, of a connection',
        lambda s, _: memory.measure(s),
        10,
    ),
    Measurement(
        'micro',
        'single firings, texts, and primitives of the machine, in nanoseconds (Google Benchmark)',
        lambda s, _: micro.measure(s),
        0,
    ),
    Measurement(
        'hello', 'start to finish of a program that prints one line', lambda s, _: hello.measure(s), 5
    ),
    Measurement(
        'tools',
        "OTP's compiler, Dialyzer and mix compile, as they are installed",
        lambda s, _: tools.measure(s),
    ),
    Measurement(
        'waiting', 'processor time of a waiting machine, per second', lambda s, _: waiting.measure(s)
    ),
    Measurement(
        'nodes',
        'messages between two nodes, there and back and of three sizes, and processes spawned',
        lambda s, _: nodes.measure(s),
    ),
    Measurement(
        'fairness',
        'for each built-in function that may have much to do: how late a timer and a child are beside it',
        lambda s, _: fairness.measure(s),
    ),
    Measurement(
        'vmtrace',
        'what it costs to watch messages and switches of ping_pong with vmtrace',
        lambda s, _: vmtrace.measure(s),
    ),
    Measurement(
        'views',
        'what each ready-made view of vmtrace costs programs of messages, memory, files and ports',
        lambda s, _: views.measure(s),
    ),
    Measurement(
        'engine',
        'a firing on the D engine without a machine, in nanoseconds (Google Benchmark)',
        lambda s, _: small.engine(s),
    ),
    Measurement(
        'wire',
        'messages to and from other nodes made into bytes and back, in nanoseconds (Google Benchmark)',
        lambda s, _: small.wire(s),
    ),
    Measurement(
        'firing', 'our part of a firing of some probes, in nanoseconds', lambda s, _: firing.measure(s)
    ),
]
# Parts of these, by names of their own.
PARTS = [
    Measurement('parallel', 'scaling of parallel_fib alone', parallel_fib),
    Measurement('idle', 'memory of an idle process alone', lambda s, _: memory.measure(s, 'idle process')),
    Measurement(
        'probes',
        'the same as instructions, of some workloads',
        lambda s, n: counted_instructions(s, n or [w for w in s.workloads if w.name in instructions.SOME]),
    ),
]
BY_NAME = {m.name: m for m in MEASUREMENTS + PARTS}


class UnknownName(Exception):
    """A word of the command line that is neither a measurement nor a workload."""


def asked_for(session):
    """[(measurement, workloads)]. Names of workloads alone mean their times; beside a measurement, what it is
    about."""
    names = set(session.options.name)
    named = workloads.chosen(session.workloads, names - BY_NAME.keys())
    known = BY_NAME.keys() | {word for w in session.workloads for word in (w.kind, w.name, w.path.stem)}
    if unknown := names - known:
        raise UnknownName(
            f'{", ".join(sorted(unknown))}: neither a measurement nor a workload nor a kind of them; --list '
            'names them'
        )
    chosen = [m for m in MEASUREMENTS + PARTS if m.name in names]
    if not names:
        chosen = [m for m in MEASUREMENTS if m.quick_s or not session.options.quick]
        if session.options.baseline or session.options.configurations:
            chosen = [BY_NAME['workloads']]
    elif not chosen:
        chosen = [BY_NAME['workloads']]
    return [(m, named) for m in chosen]
