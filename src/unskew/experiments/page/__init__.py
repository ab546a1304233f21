"""The page of a reproduction: its sentences, tables, charts, and Karel runs to step through."""
