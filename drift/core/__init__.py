"""What every room stands on: errors, the deadline, logs, names."""
