"""Processes that do pieces of work for another process: make parts, count files, code rows."""
