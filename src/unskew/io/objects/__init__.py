"""Live objects of any library as batches: tables, datasets, arrays, loaders, plain examples."""
