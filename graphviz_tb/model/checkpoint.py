"""What a checkpoint holds: the names, types and shapes of its tensors. Their values stay on disk."""

from __future__ import annotations

from math import prod

from graphviz_tb.model.dtypes import SIZES
from graphviz_tb.model.frozen import dataclass


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """A tensor of a checkpoint: `bytes` are those of its values on disk; a partitioned one has so many `slices`."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    bytes: int
    slices: int = 0

    @property
    def numbers(self) -> int:
        """How many numbers it has; none for what holds no numbers, such as texts."""
        return prod(self.shape) if SIZES.get(self.dtype) else 0


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The tensors of a checkpoint in the order of their names; `shards` is the number of files with their values."""

    name: str
    shards: int
    tensors: tuple[StoredTensor, ...]

    @property
    def numbers(self) -> int:
        """How many numbers all tensors have."""
        return sum(tensor.numbers for tensor in self.tensors)

    @property
    def bytes(self) -> int:
        """The bytes of all values."""
        return sum(tensor.bytes for tensor in self.tensors)
