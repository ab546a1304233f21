"""The page of a reproduction: its words, tables and charts."""
