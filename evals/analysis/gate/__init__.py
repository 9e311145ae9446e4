"""Whether a change may pass (rules E7 and E9)."""
