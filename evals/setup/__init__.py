"""Prepares a run: opens its inputs, makes the plan, prepares the arms."""
