"""Karel programs: tokens, syntax, rows of numbers, and compiling them."""
