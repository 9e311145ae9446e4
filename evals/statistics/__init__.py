"""What may be said about a difference: intervals, tests, verdicts, and how many cases it takes (rule E7).

Pure functions over plain values; the store is not known here. scipy comes in through `distributions` alone, numpy
with it; both are loaded when a figure is first asked for.
"""
