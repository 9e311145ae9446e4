"""`toolbelt eval` and `toolbelt dataset`."""
