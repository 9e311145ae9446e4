"""What commands print, made shorter by what is known of them: git, tests, installs; else head and tail (rule R5)."""

from toolbelt.runtime.reducers.shell.output import ShellReducer

__all__ = ["ShellReducer"]
