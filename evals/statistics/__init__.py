"""Intervals, tests, verdicts and sample sizes of a difference (rule E7).

Pure functions over plain values; the store is not known here. scipy comes in through `distributions` alone, numpy
with it; both are loaded when a figure is first asked for.
"""
