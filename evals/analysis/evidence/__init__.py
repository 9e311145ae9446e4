"""Runs and baselines, case by case: what a comparison reads."""
