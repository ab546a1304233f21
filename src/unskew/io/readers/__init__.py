"""Readers of files, one for each kind; every reader yields batches and reads as a stream."""
