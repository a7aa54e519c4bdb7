"""Contents of a checkpoint: names, types and shapes of its tensors. Their values stay on disk."""

from __future__ import annotations

from math import prod

from graphviz_tb.model.dtypes import ELEMENT_SIZES
from graphviz_tb.model.frozen import dataclass


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """A tensor of a checkpoint: `bytes` is the size of its values on disk, `slices` the number of its partitions."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    bytes: int
    slices: int = 0

    @property
    def element_count(self) -> int:
        """The number of elements; 0 for types that hold no numbers, such as strings."""
        return prod(self.shape) if ELEMENT_SIZES.get(self.dtype) else 0


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The tensors of a checkpoint, sorted by name; `shards` is the number of files that hold their values."""

    name: str
    shards: int
    tensors: tuple[StoredTensor, ...]

    @property
    def element_count(self) -> int:
        """The number of elements of all tensors."""
        return sum(tensor.element_count for tensor in self.tensors)

    @property
    def bytes(self) -> int:
        """The size of all values, in bytes."""
        return sum(tensor.bytes for tensor in self.tensors)
