"""What every command shares: options, groups, the environment, errors as exit codes."""
