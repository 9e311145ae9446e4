"""What a gateway records: the audit log, what it says, and a log with a limit."""
