"""Nested Arrow columns with other types inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


def with_types_inside(
    kind: pa.DataType, change: Callable[[pa.DataType], pa.DataType]
) -> pa.DataType:
    """Return a type in which the types of all fields and items are changed; others stay."""
    import pyarrow as pa

    def changed(field: pa.Field) -> pa.Field:
        return field.with_type(change(field.type))

    if pa.types.is_struct(kind):
        return pa.struct([changed(kind.field(i)) for i in range(kind.num_fields)])
    if pa.types.is_map(kind):
        return pa.map_(changed(kind.key_field), changed(kind.item_field))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(changed(kind.value_field), kind.list_size)
    if pa.types.is_large_list(kind):
        return pa.large_list(changed(kind.value_field))
    if pa.types.is_list(kind):
        return pa.list_(changed(kind.value_field))
    return kind


def cast_column(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return a column as another type.

    Fields and items without any value become flags without any value: where Arrow leaves them as
    they are inside of a type that changes, it makes too few of them, and reading them ends Python.
    """
    return column.cast(with_types_inside(kind, _without_nulls))


def _without_nulls(kind: pa.DataType) -> pa.DataType:
    import pyarrow as pa

    return pa.bool_() if pa.types.is_null(kind) else with_types_inside(kind, _without_nulls)
