"""unskew: synthetic datasets whose biases are known and controlled.

import unskew
examples = unskew.homogenize(draw, by={"length": len}, epsilon=0.025, seed=0)
print(unskew.audit(draw, by={"length": len}))
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unskew.audits.audit import (
        Audit as Audit,
    )
    from unskew.audits.audit import (
        Comparison as Comparison,
    )
    from unskew.audits.plan import Plan as Plan
    from unskew.audits.records import VariableAudit as VariableAudit
    from unskew.balance.kept import Health as Health
    from unskew.balance.theory import (
        cost_bound as cost_bound,
    )
    from unskew.balance.theory import (
        expected_cost as expected_cost,
    )
    from unskew.balance.theory import (
        homogenized as homogenized,
    )
    from unskew.balance.theory import (
        samples_needed as samples_needed,
    )
    from unskew.core.batch import Batch as Batch
    from unskew.core.domain import Domain as Domain
    from unskew.core.errors import HealthWarning as HealthWarning
    from unskew.core.errors import UnskewError as UnskewError
    from unskew.core.recipe import Recipe as Recipe
    from unskew.core.source import Source as Source
    from unskew.core.source import sampler as sampler
    from unskew.core.tally import Tally as Tally
    from unskew.core.variables.combine import bins as bins
    from unskew.core.variables.combine import clip as clip
    from unskew.core.variables.combine import over as over
    from unskew.core.variables.combine import round_to as round_to
    from unskew.core.variables.variable import SalientVariable as SalientVariable
    from unskew.datasets.api import audit as audit
    from unskew.datasets.discover import discover as discover
    from unskew.datasets.generate import generate as generate
    from unskew.datasets.homogenize import Homogenized as Homogenized
    from unskew.datasets.homogenize import homogenize as homogenize
    from unskew.datasets.homogenize import plan as plan
    from unskew.datasets.manifest import Verified as Verified
    from unskew.datasets.resampling.batch_sampler import BatchSampler as BatchSampler
    from unskew.datasets.resampling.resample import Resampled as Resampled
    from unskew.datasets.resampling.resample import resample as resample
    from unskew.datasets.resampling.sampler import Sampler as Sampler
    from unskew.datasets.resampling.weights import Weights as Weights
    from unskew.datasets.resampling.weights import weights as weights
    from unskew.datasets.stream import stream as stream
    from unskew.datasets.verify import verify as verify
    from unskew.discovery.finding import Discovery as Discovery
    from unskew.discovery.finding import Finding as Finding
    from unskew.io.dataset import Dataset as Dataset

__version__ = "0.1.0"

# Where each public name lives; it is imported when it is first used, so that `import unskew`
# loads neither Numba nor Arrow.
_HOME = {
    "Audit": "audits.audit",
    "Batch": "core.batch",
    "BatchSampler": "datasets.resampling.batch_sampler",
    "Comparison": "audits.audit",
    "Dataset": "io.dataset",
    "Discovery": "discovery.finding",
    "Domain": "core.domain",
    "Finding": "discovery.finding",
    "Health": "balance.kept",
    "HealthWarning": "core.errors",
    "Homogenized": "datasets.homogenize",
    "Recipe": "core.recipe",
    "Resampled": "datasets.resampling.resample",
    "SalientVariable": "core.variables.variable",
    "Sampler": "datasets.resampling.sampler",
    "Source": "core.source",
    "Tally": "core.tally",
    "UnskewError": "core.errors",
    "VariableAudit": "audits.records",
    "Verified": "datasets.manifest",
    "Weights": "datasets.resampling.weights",
    "audit": "datasets.api",
    "bins": "core.variables.combine",
    "clip": "core.variables.combine",
    "cost_bound": "balance.theory",
    "discover": "datasets.discover",
    "expected_cost": "balance.theory",
    "generate": "datasets.generate",
    "homogenize": "datasets.homogenize",
    "homogenized": "balance.theory",
    "plan": "datasets.homogenize",
    "Plan": "audits.plan",
    "over": "core.variables.combine",
    "resample": "datasets.resampling.resample",
    "round_to": "core.variables.combine",
    "sampler": "core.source",
    "samples_needed": "balance.theory",
    "stream": "datasets.stream",
    "verify": "datasets.verify",
    "weights": "datasets.resampling.weights",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'unskew' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"unskew.{_HOME[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
