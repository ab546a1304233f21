"""What a command needs that a plain installation does not have."""

from __future__ import annotations

from importlib.util import find_spec

from unskew.core.errors import UnskewError


def need_torch() -> None:
    """Refuse to go on if the libraries of the models are missing, and say how to install them."""
    missing = [name for name in ("torch", "safetensors") if find_spec(name) is None]
    if missing:
        raise UnskewError(
            f"this command needs {' and '.join(missing)}; pip install 'unskew[train]'"
        )
