"""Values from users and strangers: how deeply they nest, how they print, how they become JSON."""
