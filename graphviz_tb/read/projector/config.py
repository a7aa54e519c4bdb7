"""projector_config.pbtxt, as TensorFlow, torch and tensorboardX write it."""

from __future__ import annotations

from pathlib import Path

from graphviz_tb.errors import ReadError
from graphviz_tb.limits import MAX_PROJECTOR_CONFIG_BYTES
from graphviz_tb.model.notice import Notice
from graphviz_tb.proto import EmbeddingInfo, ProjectorConfig
from graphviz_tb.read.pbtxt import parse_text_message

PROJECTOR_CONFIG = "projector_config.pbtxt"


def read_projector_config(path: Path, where: str) -> tuple[ProjectorConfig, tuple[Notice, ...]]:
    """Read a configuration and its notices; an empty one if it cannot be read."""
    try:
        with path.open("rb") as handle:
            data = handle.read(MAX_PROJECTOR_CONFIG_BYTES + 1)
        if len(data) > MAX_PROJECTOR_CONFIG_BYTES:
            return ProjectorConfig(), (
                Notice("projector", f"{where} has more than {MAX_PROJECTOR_CONFIG_BYTES:,} bytes"),
            )
        config, notices = parse_text_message(data, ProjectorConfig)
    except (OSError, ReadError) as error:
        return ProjectorConfig(), (Notice("projector", f"{where} cannot be read: {error}", where),)
    if any(each.bookmarks_path for each in config.embeddings):
        notices = (*notices, Notice("bookmarks", f"bookmarks that {where} names are not read", where))
    return config, notices


def tensor_name(info: EmbeddingInfo) -> str:
    """Return the name of a tensor, without its output number."""
    return info.tensor_name.decode("utf-8", "replace").removesuffix(":0")
