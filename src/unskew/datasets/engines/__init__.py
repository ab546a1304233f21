"""The engines that do the pieces of some work: worker processes, or a Ray cluster.

They make the parts of a dataset, and count the files of data for an audit or a resampling.
"""

from unskew.datasets.engines.local import processes
from unskew.datasets.engines.ray import ray_cluster

__all__ = ["processes", "ray_cluster"]
