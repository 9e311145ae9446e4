"""Runs and baselines, case by case: the input of a comparison."""
