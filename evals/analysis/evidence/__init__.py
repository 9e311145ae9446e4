"""What became of every case, whether read from the file of runs or from a committed baseline."""
