"""The outside world: what a name or an object means, files, object stores, conversions."""
