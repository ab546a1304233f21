"""Karel programs as text and as numbers: tokens, syntax, rows of token ids, compiled code."""
