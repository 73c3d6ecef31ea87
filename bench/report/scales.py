# SPDX-License-Identifier: Apache-2.0
"""From a value to a place on an axis, 0 at its beginning and 1 at its end; and the values that get a tick."""
import math


class Linear:
    def __init__(self, low, high):
        self.low, self.high = (low, high) if high > low else (low, low + 1)

    @classmethod
    def around(cls, values, margin=0.04):
        low, high = min(values), max(values)
        room = (high - low) * margin or abs(high) * margin or 1
        return cls(low - room, high + room)

    def place(self, value):
        return min(1, max(0, (value - self.low) / (self.high - self.low)))

    def ticks(self, wanted=8):
        """Multiples of 1, 2 or 5 times a power of ten, at most so many."""
        step = 10 ** math.floor(math.log10((self.high - self.low) / wanted))
        step = next(step * m for m in (1, 2, 5, 10, 20) if (self.high - self.low) / (step * m) <= wanted)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [float(f'{n * step:.12g}') for n in range(first, last + 1)]


class Logarithmic:
    """Takes positive values."""

    STEPS = ((1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,))

    def __init__(self, low, high):
        self.low, self.high = low, max(high, low * 1.01)

    @classmethod
    def around(cls, values, margin=0.04):
        drawn = [value for value in values if value > 0] or [1]  # others stand at the beginning of the axis
        low, high = min(drawn), max(drawn)
        room = (high / low) ** margin * 1.005
        return cls(low / room, high * room)

    def place(self, value):
        place = math.log(max(value, 1e-12) / self.low) / math.log(self.high / self.low)
        return min(1, max(0, place))

    def ticks(self, wanted=8):
        """Round numbers; where the axis is shorter than a factor of 2, those of a linear one."""
        if self.high / self.low < 2:
            return Linear(self.low, self.high).ticks(wanted)
        decades = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for steps in self.STEPS:
            ticks = [
                float(f'{m * 10.0 ** d:.6g}')
                for d in decades
                for m in steps
                if self.low <= m * 10.0**d <= self.high
            ]
            if len(ticks) <= wanted:
                return ticks
        every = -(-len(ticks) // wanted)
        return ticks[::every]


class Percentiles:
    """As many nines, as much room: 90, 99, 99.9 % are equally far from each other."""

    def __init__(self, percentiles):
        self.values = sorted(percentiles)
        self.low, self.high = self.nines(self.values[0]), self.nines(self.values[-1])

    @staticmethod
    def nines(percentile):
        return -math.log10(1 - min(percentile, 99.999999) / 100)

    def place(self, percentile):
        return (self.nines(percentile) - self.low) / ((self.high - self.low) or 1)

    def ticks(self):
        return self.values
