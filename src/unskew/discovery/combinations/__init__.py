"""Values of two or three features that together fail, or come, more often than their parts say."""
