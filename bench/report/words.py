# SPDX-License-Identifier: Apache-2.0
"""Numbers as text: three digits that count, a narrow space between thousands, the unit behind."""
import math

THIN = '\u202f'
MINUS = '\u2212'


def number(value, digits=3):
    """Rounded to that many digits that count; never in powers of ten."""
    if value is None:
        return ''
    if isinstance(value, int) and abs(value) < 10_000:
        return str(value).replace('-', MINUS)
    decimals = 0 if value == 0 else max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f'{value:,.{min(decimals, 6)}f}'
    whole, _, rest = text.partition('.')
    if whole.replace('-', '') and len(whole.replace(',', '').lstrip('-')) <= 4:
        whole = whole.replace(',', '')
    return (whole.replace(',', THIN) + ('.' + rest if rest else '')).replace('-', MINUS)


def count(value):
    """All digits."""
    return '' if value is None else f'{value:,}'.replace(',', THIN).replace('-', MINUS)


def exact(value):
    """As it is, for values that were chosen, not measured: ticks and targets."""
    return f'{value:g}'.replace('-', MINUS) if abs(value) < 10_000 else number(value)


def times(value, written=number):
    return written(value) + f'{THIN}×'


def round_times(value):
    return times(value, exact)


def change(ratio, decimals=2):
    """A ratio close to 1 as the difference from 1, in percent."""
    percent = round((ratio - 1) * 100, decimals)
    sign = MINUS if percent < 0 else '+' if percent > 0 else '±'
    return f'{sign}{abs(percent):.{decimals}f}{THIN}%'


def percent(share):
    return f'{share * 100:.0f}{THIN}%'


def scaled(value, steps, written=number):
    """With the largest unit that leaves a number of 1 or more. steps: (factor, unit), the smallest first."""
    factor, unit = [step for i, step in enumerate(steps) if i == 0 or abs(value) >= step[0]][-1]
    return f'{written(value / factor)}{THIN}{unit}'


def nanoseconds(value, written=number):
    return scaled(value, ((1, 'ns'), (1e3, 'µs'), (1e6, 'ms'), (1e9, 's')), written)


def round_nanoseconds(value):
    return nanoseconds(value, exact)


def microseconds(value):
    return scaled(value, ((1, 'µs'), (1e3, 'ms'), (1e6, 's')))


def amount(value):
    """Bytes."""
    return scaled(value, ((1, 'B'), (1024, 'KiB'), (1024**2, 'MiB'), (1024**3, 'GiB')))


def interval(shown, low, high):
    """Both ends, written by `shown`; nothing where the interval is not known."""
    return '' if low is None or high is None else f'{shown(low)} to {shown(high)}'


CONSUMERS = {
    'stap': 'SystemTap',
    'dtrace': "Oracle's DTrace",
    'erl-trace': 'erl with erlang:trace',
    'erl-with-probes-bpftrace': 'erl with bpftrace',
}


def consumer(name):
    """Who looks, as people call it."""
    return CONSUMERS.get(name, name)


def of(part, whole, noun):
    return f'{part} of {whole} {noun}' if part != whole else f'{whole} {noun}'
