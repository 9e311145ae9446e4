"""Results made shorter before they are cut (rule R5)."""
