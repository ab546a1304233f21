"""Bytes of packed files."""

import pyarrow as pa


def zst(data: bytes) -> bytes:
    """Return data as a file of Zstandard."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as packed:
        packed.write(data)
    return sink.getvalue().to_pybytes()
