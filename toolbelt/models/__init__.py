"""What a model takes: its window, its limits, its provider's rules; and which tools therefore fit."""
