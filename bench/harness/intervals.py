# SPDX-License-Identifier: Apache-2.0
"""Medians of few runs, ratios of medians, and what may be said of them.

Times of a busy machine have outliers on one side only, so medians are compared, and an interval comes from
the bootstrap (Efron 1979): the runs are drawn anew with repetition, many times, each time the ratio of the
medians is taken, and of these ratios the middle 95 of 100 are the interval. The seed is fixed: the same runs
give the same interval.
"""
import dataclasses
import math
import random
import statistics

RESAMPLES = 2000
SEED = 20
LEAST_RUNS = 3
# an interval that reaches further than this to either side says too little to print a figure
NOISE = 0.10
TOLERANCE = 0.02  # two commits that differ by less are the same


@dataclasses.dataclass(frozen=True)
class Ratio:
    """How long something takes, as times of what its base takes."""

    median: float
    low: float
    high: float
    runs: int

    @property
    def half_width(self):
        return (self.high - self.low) / 2 / self.median

    @property
    def noisy(self):
        return self.runs < LEAST_RUNS or self.half_width > NOISE

    def inverse(self):
        return Ratio(1 / self.median, 1 / self.high, 1 / self.low, self.runs)


def resampled_medians(values, source):
    return [statistics.median(source.choices(values, k=len(values))) for _ in range(RESAMPLES)]


def middle(values, share=0.95):
    """The ends of the middle part of the values."""
    ordered = sorted(values)
    outside = (1 - share) / 2
    last = len(ordered) - 1
    return ordered[math.floor(outside * last)], ordered[math.ceil((1 - outside) * last)]


def median_interval(values):
    """The median and the ends of its interval."""
    return (statistics.median(values), *middle(resampled_medians(values, random.Random(SEED))))


def ratio(values, base):
    """The medians' ratio, with its interval. Both lists have at least one value; all values are above 0."""
    source = random.Random(SEED)
    drawn = [a / b for a, b in zip(resampled_medians(values, source), resampled_medians(base, source))]
    low, high = middle(drawn)
    return Ratio(statistics.median(values) / statistics.median(base), low, high, min(len(values), len(base)))


def verdict(compared):
    """What a ratio of new to old says: faster, slower, same, or noisy when it says none of these."""
    if compared.noisy:
        return 'noisy'
    if compared.high < 1 and compared.median <= 1 - TOLERANCE:
        return 'faster'
    if compared.low > 1 and compared.median >= 1 + TOLERANCE:
        return 'slower'
    return 'same' if compared.half_width <= 2 * TOLERANCE else 'noisy'


def geometric_mean(values):
    return statistics.geometric_mean(values) if values else None
