"""Data of six types as a careful author makes it: even ranges, even vocabulary, no skew."""
