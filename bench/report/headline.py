# SPDX-License-Identifier: Apache-2.0
"""The figures that matter, each with its target, and whether it is met."""
import dataclasses

from . import targets, words
from .markup import element
from .results import Interval, geometric_mean

MET, MISSED, OPEN = 'met', 'missed', 'open'


@dataclasses.dataclass
class Figure:
    subject: str  # cost of having, cost of looking, against erl
    what: str
    value: str
    target: str = ''
    status: str = ''  # met, missed, open: too much of it is unknown to say; nothing: no target
    detail: str = ''
    section: str = ''  # where on the page it comes from


def figures(results):
    found = [*having(results), kernel_tracer(results), *vmtrace(results), *against_erl(results)]
    return [f for f in found if f]


def status(value, target, unknown=0):
    """A figure over the target is a miss whatever is unknown; one below it is met when nothing is."""
    return MISSED if value > target else OPEN if unknown else MET


def left_out(unknown, whole):
    return (
        f'{unknown} of {whole} workloads without a figure (noisy or failed)'
        if unknown
        else f'all {whole} workloads'
    )


# -- Cost of having probes


def instruction_ratios(results):
    return {
        i['workload']: i['ratio']
        for i in results.instructions
        if (i['configuration'], i['base']) == ('off', 'none')
    }


def having(results):
    ratios, unknown, source = instruction_ratios(results), 0, 'instructions executed'
    if not ratios:
        compared = results.compared('off', 'none')
        ratios = {name: i.value for name, i in compared if i}
        unknown, source = len(compared) - len(ratios), 'time taken'
    if not ratios:
        return
    mean = geometric_mean([Interval(r) for r in ratios.values()]).value
    worst = max(ratios, key=ratios.get)
    timed = [i for _, i in results.compared('off', 'none') if i]
    detail = f'{source}, geometric mean, {left_out(unknown, len(ratios) + unknown)}'
    if timed and source != 'time taken':
        detail += f'; by time {words.change(geometric_mean(timed).value, 1)}'
    yield Figure(
        'Having probes',
        'Compiled in, nobody looks, on average',
        words.change(mean),
        f'at most {words.change(targets.OFF_MEAN, 1)}',
        status(mean, targets.OFF_MEAN),
        detail,
        'having',
    )
    yield Figure(
        'Having probes',
        'The workload that it costs most',
        words.change(ratios[worst]),
        f'at most {words.change(targets.OFF_EACH, 0)}',
        status(ratios[worst], targets.OFF_EACH, unknown),
        worst,
        'having',
    )


# -- Cost of looking


def kernel_tracer(results):
    """The firing of a probe itself, without texts, by tracers that go through the kernel."""
    fired = [m for m in results.micro if m['group'] == 'site' and m.get('consumer') and m.get('floor_ns')]
    if not fired:
        return None
    worst = max(fired, key=lambda m: m['ns'] - m['floor_ns'])
    ours = worst['ns'] - worst['floor_ns']
    return Figure(
        'Looking',
        'Our part of a firing that a tracer in the kernel sees',
        words.nanoseconds(round(ours, 1)),
        f'at most {words.round_nanoseconds(targets.OUR_PART_NS)}',
        status(ours, targets.OUR_PART_NS),
        f"{worst['name']}, {worst['consumer']}: {words.nanoseconds(worst['ns'])}, of which "
        f"{words.nanoseconds(worst['floor_ns'])} are the kernel's own",
        'events',
    )


def watched(results, tool, family):
    """Workloads under all counted probes of a family, against the base of that configuration."""
    name = f'{tool}-{family}'
    base = results.configuration.get(name, {}).get('base')
    return [(w, i) for w, i in results.compared(name, base) if i] if base else []


def vmtrace(results):
    for workload, interval in watched(results, 'vmtrace', 'message'):
        if workload.endswith('ping_pong'):
            yield Figure(
                'Looking',
                'All messages, each event counted by vmtrace',
                words.times(interval.value),
                f'at most {words.round_times(targets.VMTRACE_MESSAGES)}',
                status(interval.value, targets.VMTRACE_MESSAGES),
                f'time of {workload}, as a multiple of the time without',
                'looking',
            )
            break
    every = {
        tool: geometric_mean([i for _, i in found])
        for tool in ('vmtrace', 'bpftrace', 'perf', 'stap', 'dtrace', 'erl-trace')
        if (found := watched(results, tool, 'all'))
    }
    if every:
        first = next(iter(every))
        others = ''.join(
            f'; {words.consumer(tool)}: {words.times(mean.value)}'
            for tool, mean in every.items()
            if tool != first
        )
        yield Figure(
            'Looking',
            f'Every probe there is, counted by {first}',
            words.times(every[first].value),
            detail=f'time, as a multiple of the time without, geometric mean{others}',
            section='looking',
        )


# -- Against erl


def against_erl(results):
    compared = results.compared('off', 'erl')
    failed = results.failures('off', 'erl')
    names = {name for name, _ in compared} | set(failed)
    known = {name: interval for name, interval in compared if interval}
    savina = [i for name, i in known.items() if results.kind(name) == 'savina']
    if savina:
        mean = geometric_mean(savina)
        whole = sum(results.kind(name) == 'savina' for name in names)
        yield Figure(
            'Against erl',
            "Savina's actor benchmarks",
            words.times(mean.value),
            f'at most {words.round_times(targets.SAVINA_AGAINST_ERL)}',
            status(mean.value, targets.SAVINA_AGAINST_ERL),
            f"of erl's time, geometric mean, {left_out(whole - len(savina), whole)}",
            'erl',
        )
    if known:
        worst = max(known, key=lambda name: known[name].value)
        unknown = len(names) - len(known)
        yield Figure(
            'Against erl',
            'The slowest workload',
            words.times(known[worst].value),
            f'at most {words.round_times(targets.EACH_AGAINST_ERL)}',
            status(known[worst].value, targets.EACH_AGAINST_ERL, unknown),
            f'{worst}; {left_out(unknown, len(names))}',
            'erl',
        )
        faster = sum(i.value < 1 for i in known.values())
        yield Figure(
            'Against erl',
            'Workloads that vmrun finishes first',
            f'{faster} of {len(known)}',
            detail='by the medians',
            section='erl',
        )


# -- As part of the page

SIGNS = {MET: '✓ met', MISSED: '✗ not met', OPEN: '? not known'}


def headline(results):
    found = figures(results)
    subjects = list(dict.fromkeys(f.subject for f in found))
    return [
        element(
            'div',
            element('h3', subject),
            element('div', [card(f) for f in found if f.subject == subject], class_='cards'),
            class_='subject',
        )
        for subject in subjects
    ]


def card(figure):
    target = (
        element(
            'p', element('b', SIGNS[figure.status], class_=figure.status), ' ', figure.target, class_='target'
        )
        if figure.status
        else None
    )
    return element(
        'a',
        element('p', figure.what, class_='what'),
        element('p', figure.value, class_='figure'),
        target,
        element('p', figure.detail, class_='detail'),
        href=f'#{figure.section}',
        class_='card',
    )
