"""Learned variables: clusters of texts or of vectors, for what no proposal names."""
