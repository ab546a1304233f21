"""Arrow files: the file format, which is Feather too, or the stream format; the content says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from unskew.core.batch import Batch
from unskew.core.errors import UnskewError
from unskew.io.location import ObjectPath, Place, plain_errors
from unskew.io.tables import TABLE_ROWS, Columns, table_batches, wanted

if TYPE_CHECKING:
    import pyarrow as pa

_FILE = b"ARROW1"  # how a file of the file format begins


def read_arrow(path: Place, rows: int = TABLE_ROWS, columns: Columns = None) -> Iterator[Batch]:
    """Yield the rows of an Arrow file."""
    import pyarrow as pa

    with plain_errors(path, reading=True), _opened(path) as source:
        try:
            tables = _tables(source, columns)
            yield from table_batches(tables, str(path), columns, rows=rows, check=True)
        except (OSError, EOFError, ValueError, pa.ArrowException) as error:
            if getattr(error, "errno", None):
                raise
            reason = (str(error) or "it ends early").splitlines()[0]
            raise UnskewError(
                f"{path} cannot be read as Arrow ({reason}); it may be truncated: make it again"
            ) from error


@contextmanager
def _opened(path: Place) -> Iterator[Any]:
    import pyarrow as pa

    if isinstance(path, ObjectPath):
        with path.files.open_input_file(path.key) as source:
            yield source
        return
    with path.open("rb") as file, pa.PythonFile(file, mode="r") as source:
        yield source


def _tables(source: Any, columns: Columns) -> Iterator[pa.RecordBatch]:
    from pyarrow import ipc

    begin = source.read(len(_FILE))
    source.seek(0)
    if begin != _FILE:
        yield from ipc.open_stream(source)
        return
    reader = ipc.open_file(source)
    if columns is not None:
        chosen = wanted(reader.schema.names, columns)
        fields = [i for i, name in enumerate(reader.schema.names) if name in chosen]
        source.seek(0)
        reader = ipc.open_file(source, options=ipc.IpcReadOptions(included_fields=fields))
    for number in range(reader.num_record_batches):
        yield reader.get_batch(number)
