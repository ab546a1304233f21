"""From a network's scores to programs that the grammar allows."""
