"""unskew: synthetic datasets whose biases are known and controlled.

import unskew
examples = unskew.homogenize(draw, by={"length": len}, epsilon=0.025, seed=0)
print(unskew.audit(draw, by={"length": len}))
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unskew.api import Homogenized as Homogenized
    from unskew.api import audit as audit
    from unskew.api import homogenize as homogenize
    from unskew.auditing import (
        Audit as Audit,
    )
    from unskew.auditing import (
        Comparison as Comparison,
    )
    from unskew.auditing import (
        VariableAudit as VariableAudit,
    )
    from unskew.batch import Batch as Batch
    from unskew.dataset import Dataset as Dataset
    from unskew.domain import Domain as Domain
    from unskew.errors import HealthWarning as HealthWarning
    from unskew.errors import UnskewError as UnskewError
    from unskew.generation import generate as generate
    from unskew.homogenizer import Health as Health
    from unskew.inspecting import Verified as Verified
    from unskew.recipe import Recipe as Recipe
    from unskew.resampling import resample as resample
    from unskew.salient import (
        SalientVariable as SalientVariable,
    )
    from unskew.salient import (
        bins as bins,
    )
    from unskew.salient import (
        clip as clip,
    )
    from unskew.salient import (
        over as over,
    )
    from unskew.salient import (
        round_to as round_to,
    )
    from unskew.source import Source as Source
    from unskew.streaming import stream as stream
    from unskew.tally import Tally as Tally
    from unskew.theory import (
        cost_bound as cost_bound,
    )
    from unskew.theory import (
        expected_cost as expected_cost,
    )
    from unskew.theory import (
        homogenized as homogenized,
    )
    from unskew.theory import (
        samples_needed as samples_needed,
    )
    from unskew.verifying import verify as verify

__version__ = "0.1.0"

# Where each public name lives; it is imported when it is first used, so that `import unskew`
# loads neither Numba nor Arrow.
_HOME = {
    "Audit": "auditing",
    "Batch": "batch",
    "Comparison": "auditing",
    "Dataset": "dataset",
    "Domain": "domain",
    "Health": "homogenizer",
    "HealthWarning": "errors",
    "Homogenized": "api",
    "Recipe": "recipe",
    "SalientVariable": "salient",
    "Source": "source",
    "Tally": "tally",
    "UnskewError": "errors",
    "VariableAudit": "auditing",
    "Verified": "inspecting",
    "audit": "api",
    "bins": "salient",
    "clip": "salient",
    "cost_bound": "theory",
    "expected_cost": "theory",
    "generate": "generation",
    "homogenize": "api",
    "homogenized": "theory",
    "over": "salient",
    "resample": "resampling",
    "round_to": "salient",
    "samples_needed": "theory",
    "stream": "streaming",
    "verify": "verifying",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'unskew' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"unskew.{_HOME[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
