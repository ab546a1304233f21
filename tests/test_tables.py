"""Arrow tables as batches: what is joined and what stays apart."""

import pyarrow as pa

from unskew.io.tables import table_batches


def test_tables_without_rows_are_left_out_whatever_their_types():
    empty = pa.table({"a": pa.array([], pa.int64())})
    full = pa.table({"a": ["x", "y"]})
    for tables in ([empty, full], [full, empty], [empty, full, empty, full], [full, empty, full]):
        batches = list(table_batches(tables, "the data"))
        rows = [value for batch in batches for value in batch.columns["a"].to_pylist()]
        assert rows == ["x", "y"] * tables.count(full)
    assert list(table_batches([empty], "the data")) == []


def test_a_table_of_other_types_after_a_whole_batch_begins_a_new_one():
    numbers, texts = pa.table({"a": [1, 2]}), pa.table({"a": ["x"]})
    batches = list(table_batches([numbers, texts], "the data", rows=2))
    assert [batch.columns["a"].to_pylist() for batch in batches] == [[1, 2], ["x"]]
