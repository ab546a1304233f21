"""The engines that make the parts of a dataset: worker processes, or a Ray cluster.

A part depends only on its recipe and number, so an engine only hands out numbers.
"""

from unskew.datasets.engines.local import processes
from unskew.datasets.engines.ray import ray_cluster

__all__ = ["processes", "ray_cluster"]
