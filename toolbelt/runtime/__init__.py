"""What runs inside an agent: the tools it has, what of them is shown, and running what the model calls (R1 to R7)."""
