# SPDX-License-Identifier: Apache-2.0
"""What two runs of the same flows have in common: the numbers of docs/peers.md's tables."""
import statistics

FAR = 0.1  # flows whose completion times differ by more are counted


class Pair:
    """Two completion times in ns and the ideal one of each flow, first the one to compare with."""

    def __init__(self, first, second, ideal):
        self.first, self.second, self.ideal = first, second, ideal
        self.off = [b / a - 1 for a, b in zip(first, second)]

    def mean_ratio(self):
        return 1 + statistics.fmean(self.off)

    def correlation(self):
        return correlation(self.first, self.second)

    def slowdown_correlation(self):
        return correlation([a / i for a, i in zip(self.first, self.ideal)],
                           [b / i for b, i in zip(self.second, self.ideal)])

    def typical(self):
        """The median of the differences, whatever their sign."""
        return statistics.median(abs(off) for off in self.off)

    def greatest(self):
        return max(abs(off) for off in self.off)

    def far(self):
        return sum(abs(off) > FAR for off in self.off) / len(self.off)


def correlation(a, b):
    """Pearson's, or 1 if one of them does not vary."""
    try:
        return statistics.correlation(a, b)
    except statistics.StatisticsError:
        return 1.0


def percentile(values, part):
    """A value that occurs: at least this part of all are at most as large."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * part // 100) - 1)]


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    result = [0] * len(values)
    for rank, i in enumerate(order):
        result[i] = rank
    return result


def rank_correlation(a, b):
    return correlation(ranks(a), ranks(b))
