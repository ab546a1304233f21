"""What a stranger's data must not be able to do."""
