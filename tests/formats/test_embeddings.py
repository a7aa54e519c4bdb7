"""Embeddings of a log: files that a configuration names, variables of checkpoints, logged tensors; and what is no file
of the log."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from graphviz_tb.errors import MalformedText, ReadError
from graphviz_tb.formats.projector import read_point_metadata, stored_embeddings
from graphviz_tb.logs.embeddings import Projector
from graphviz_tb.logs.log import open_log
from graphviz_tb.model.logs import Embedding, EmbeddingForm
from graphviz_tb.proto import BundleEntryProto, BundleHeaderProto
from tests.event_files import event, field, record, tensor, varint
from tests.formats.test_checkpoints import block, index

VALUES = np.arange(12, dtype=np.float32).reshape(4, 3) / 8


def written(folder: Path, config: str = "", **files: str | bytes) -> Projector:
    """A log with files, "_" in their names for "/" and "." at the end."""
    folder.mkdir(parents=True, exist_ok=True)
    if config:
        (folder / "projector_config.pbtxt").write_text(config)
    for name, content in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    projector = Projector(folder)
    projector.refresh()
    return projector


def tsv(values: np.ndarray) -> str:
    return "".join("\t".join(map(repr, row)) + "\n" for row in values.tolist())


def codes(projector: Projector) -> list[str]:
    return [each.code for each in projector.embeddings.notices]


def stored(folder: Path, prefix: str, tensors: dict[str, np.ndarray], dtype: int = 1, slices: bool = False) -> None:
    """A checkpoint as TensorFlow writes it: an index, and the values one behind the other."""
    folder.mkdir(parents=True, exist_ok=True)
    data, entries = b"", [(b"", BundleHeaderProto(num_shards=1).SerializeToString())]
    for name, values in tensors.items():
        parts = np.array_split(values, 2) if slices else []
        for at, part in enumerate(parts or [values]):
            entry = BundleEntryProto(dtype=dtype, offset=len(data), size=part.nbytes)
            for dim in part.shape:
                entry.shape.dim.add(size=dim)
            key = b"\0" + name.encode() + b"\0\1\1\2" + bytes([0x80 + at]) if parts else name.encode()
            entries.append((key, entry.SerializeToString()))
            data += part.tobytes()
        if parts:
            whole = BundleEntryProto(dtype=dtype)
            for dim in values.shape:
                whole.shape.dim.add(size=dim)
            for _ in parts:
                whole.slices.add()
            entries.append((name.encode(), whole.SerializeToString()))
    (folder / f"{prefix}.index").write_bytes(index(block(sorted(entries))))
    (folder / f"{prefix}.data-00000-of-00001").write_bytes(data)


def test_what_torch_writes(tmp_path: Path) -> None:
    """A folder for each step and tag, named by one configuration beside the event files."""
    config = (
        'embeddings {\n  tensor_name: "default:00000"\n  tensor_path: "00000/default/tensors.tsv"\n'
        '  metadata_path: "00000/default/metadata.tsv"\n'
        '  sprite {\n    image_path: "00000/default/sprite.png"\n    single_image_dim: 28\n'
        "    single_image_dim: 20\n  }\n}\n"
    )
    labels = "name\tyear\na\t1\n<b>\t2\n\t\nd\t4\n"
    folder = "00000__default__"
    files = {f"{folder}tensors_tsv": tsv(VALUES), f"{folder}metadata_tsv": labels, f"{folder}sprite_png": b"\x89PNG"}
    projector = written(tmp_path, config, **files)
    [one] = projector.embeddings.found
    assert (one.run, one.name, one.form, one.points, one.dimensions) == (".", "default:00000", "tsv", 4, 3)
    assert one.sprite is not None
    assert one.sprite.size == (28, 20)
    assert projector.values(one).tolist() == VALUES.tolist()
    columns, notices = projector.columns(one)
    assert [(each.name, each.texts, each.numeric) for each in columns] == [
        ("name", ("a", "<b>", "", "d"), False),
        ("year", ("1", "2", "", "4"), True),
    ]
    assert (notices, codes(projector), projector.sprite(one)) == ((), [], b"\x89PNG")


def test_a_file_of_tensors_that_nothing_names(tmp_path: Path) -> None:
    projector = written(tmp_path, "", **{"00003__x__tensors_tsv": tsv(VALUES), "00003__x__metadata_tsv": "a\nb\nc\nd"})
    [one] = projector.embeddings.found
    assert (one.run, one.name) == ("00003/x", "tensors.tsv")
    assert projector.columns(one)[0][0].texts == ("a", "b", "c", "d")


def test_binary_values_have_the_shape_of_the_configuration(tmp_path: Path) -> None:
    config = 'embeddings { tensor_name: "e:0" tensor_path: "e.bytes" tensor_shape: 4 tensor_shape: 3 }'
    projector = written(tmp_path, config, e_bytes=VALUES.tobytes())
    [one] = projector.embeddings.found
    assert (one.name, one.form) == ("e", EmbeddingForm.BINARY)
    assert projector.values(one).tolist() == VALUES.tolist()


@pytest.mark.parametrize("slices", [False, True])
def test_variables_of_a_checkpoint(tmp_path: Path, slices: bool) -> None:
    """The tutorial's layout: a configuration names the variable and its metadata; no event file is there."""
    name = "embedding/.ATTRIBUTES/VARIABLE_VALUE"
    config = f'embeddings {{ tensor_name: "{name}" metadata_path: "metadata.tsv" }}'
    stored(tmp_path, "embedding.ckpt-1", {name: VALUES, "m/.OPTIMIZER_SLOT/x": VALUES}, slices=slices)
    projector = written(tmp_path, config, metadata_tsv="w\nx\ny\nz\n")
    [one] = projector.embeddings.found
    assert (one.name, one.form, one.points, one.metadata is not None) == (name, "checkpoint", 4, True)
    assert projector.values(one).tolist() == VALUES.tolist()


def test_types_of_stored_values(tmp_path: Path) -> None:
    upper = (VALUES.view("<u4") >> 16).astype("<u2")
    for dtype, values in ((2, VALUES.astype("<f8")), (19, VALUES.astype("<f2")), (14, upper)):
        stored(tmp_path / str(dtype), "model", {"e": values}, dtype)
        projector = Projector(tmp_path / str(dtype) / "model")  # the prefix of the files
        [one] = projector.refresh().found
        assert projector.values(one).tolist() == VALUES.tolist(), dtype


def test_logged_tensors(tmp_path: Path) -> None:
    """The last of a series; what has too few rows or one axis is no embedding."""
    values = [tensor("e", VALUES * 2, "projector", 1), tensor("v", VALUES[0], "x", 1), tensor("s", VALUES[:2], "x", 1)]
    path = tmp_path / "events.out.tfevents.1.host"
    path.write_bytes(record(event(1, tensor("e", VALUES, "projector", 1))) + record(event(7, *values)))
    projector = Projector(tmp_path, open_log(tmp_path))
    [one] = projector.refresh().found
    assert (one.name, one.step, one.form) == ("e", 7, "logged")
    assert projector.values(one).tolist() == (VALUES * 2).tolist()


def test_what_is_not_of_the_log_is_not_read(tmp_path: Path) -> None:
    """Paths upwards, absolute paths and links that lead out, in every field; each is said, nothing of it is read."""
    outside = tmp_path / "secret.tsv"
    outside.write_text(tsv(VALUES))
    log = tmp_path / "log"
    log.mkdir()
    (log / "link.tsv").symlink_to(outside)
    (log / "in.tsv").write_text(tsv(VALUES))
    (log / "folder").symlink_to(tmp_path)
    hostile = ["../secret.tsv", str(outside), "link.tsv", "folder/secret.tsv", "no.tsv", "/etc/passwd", "a\\000b", "."]
    config = "".join(f'embeddings {{ tensor_name: "{at}" tensor_path: "{word}" }}\n' for at, word in enumerate(hostile))
    config += 'embeddings { tensor_name: "ok" tensor_path: "in.tsv" metadata_path: "../secret.tsv" '
    config += 'bookmarks_path: "../b" sprite { image_path: "/etc/passwd" single_image_dim: 9 } }\n'
    config += 'model_checkpoint_path: "/etc/model"'
    projector = written(log, config)
    [one] = [each for each in projector.embeddings.found if each.run == "."]
    assert (one.name, one.metadata, one.sprite) == ("ok", None, None)
    found = codes(projector)
    assert found.count("outside") + found.count("no-file") == len(hostile) + 3
    assert found.count("bookmarks") == 1


def test_a_link_inside_the_log_is_followed(tmp_path: Path) -> None:
    config = 'embeddings { tensor_name: "e" tensor_path: "link.tsv" }'
    (tmp_path / "real.tsv").write_text(tsv(VALUES))
    (tmp_path / "link.tsv").symlink_to("real.tsv")
    assert [each.name for each in written(tmp_path, config).embeddings.found] == ["e"]


def test_a_pipe_is_no_file_of_values(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.tsv")
    projector = written(tmp_path, 'embeddings { tensor_name: "e" tensor_path: "pipe.tsv" }')
    assert (projector.embeddings.found, codes(projector)) == ((), ["no-file"])


def test_damage_says_where(tmp_path: Path) -> None:
    config = 'embeddings { tensor_name: "e" tensor_path: "e.tsv" }'
    for content, words in (
        ("1\t2\n3\tx\n", "line 2, column 2: 'x' is not a number"),
        ("1\t2\n\n3\n", "line 3.*1 numbers"),
    ):
        projector = written(tmp_path, config, e_tsv=content)
        with pytest.raises(MalformedText, match=words):
            projector.values(projector.embeddings.found[0])
    assert codes(written(tmp_path, "embeddings { tensor_name ", e_tsv="")) == ["projector"]
    assert "embedding" in codes(written(tmp_path, config, e_tsv="\n"))
    nothing = 'embeddings { tensor_name: "e" tensor_path: "e.bytes" tensor_shape: 4 tensor_shape: 0 }'
    assert codes(written(tmp_path, nothing, e_bytes=b"")) == ["embedding"]


def test_a_checkpoint_that_was_cut(tmp_path: Path) -> None:
    stored(tmp_path, "model", {"e": VALUES})
    (tmp_path / "model.data-00000-of-00001").write_bytes(b"123")
    projector = Projector(tmp_path)
    with pytest.raises(ReadError, match="shorter than its index says"):
        projector.values(projector.refresh().found[0])


def test_metadata_that_does_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "m.tsv"
    cases = {  # names of columns, texts of the first, how many notices
        "a\nb\n": (["label"], ("a", "b"), 0),
        "head\na\nb": (["head"], ("a", "b"), 0),  # one line more than points: the first names the column
        "x\ty\na\t1\nb\t2\nc\t3\n": (["x", "y"], ("a", "b"), 1),
        "x\ty\nz\tw\n": (["column 1", "column 2"], ("x", "z"), 0),  # as many as points: nothing names the columns
        "a\n\n": (["label"], ("a", ""), 0),  # an empty text of the last point
        "\ufeffa\r\nb\r\n": (["label"], ("a", "b"), 0),
    }
    for content, (names, first, count) in cases.items():
        path.write_bytes(content.encode())
        columns, notices = read_point_metadata(path, 2, 2)
        assert ([each.name for each in columns], columns[0].texts, len(notices)) == (names, first, count), content
    path.write_bytes(b"\xff\x00\nb\n")
    assert read_point_metadata(path, 2, 2)[0][0].texts[0] == "\ufffd\0"


def test_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is longer than may be is read in part, and said."""
    monkeypatch.setattr("graphviz_tb.formats.projector.EMBEDDING_POINTS", 2)
    one = Embedding(".", "e", EmbeddingForm.TEXT, 4, 3, tmp_path / "e.tsv", tmp_path / "m.tsv")
    (tmp_path / "e.tsv").write_text(tsv(VALUES))
    (tmp_path / "m.tsv").write_text("a\nb\nc\nd\n")
    projector = Projector(tmp_path)
    assert projector.values(one).tolist() == VALUES[:2].tolist()
    assert projector.columns(one)[0][0].texts == ("a", "b")
    assert projector.notices(one)[0].message == "the first 2 of 4 points are read"


def test_the_name_that_the_program_gave_to_a_variable(tmp_path: Path) -> None:
    """A checkpoint of objects has it in a text of its own: lengths, a checksum, the message."""
    key = "model/layer_with_weights-0/embeddings/.ATTRIBUTES/VARIABLE_VALUE"
    attribute = field(1, b"VARIABLE_VALUE") + field(2, b"embedding/embeddings") + field(3, key.encode())
    message = field(1, field(1, b"\x08\x01")) + field(1, field(2, attribute))
    text = varint(len(message)) + b"\0\0\0\0" + message
    stored(tmp_path, "ckpt-1", {key: VALUES})
    (tmp_path / "ckpt-1.data-00000-of-00001").write_bytes(VALUES.tobytes() + text)
    whole = BundleEntryProto(dtype=1, size=VALUES.nbytes)
    for size in VALUES.shape:
        whole.shape.dim.add(size=size)
    graph = BundleEntryProto(dtype=7, offset=VALUES.nbytes, size=len(text))
    entries = [(b"", BundleHeaderProto(num_shards=1).SerializeToString())]
    entries += [(b"_CHECKPOINTABLE_OBJECT_GRAPH", graph.SerializeToString()), (key.encode(), whole.SerializeToString())]
    (tmp_path / "ckpt-1.index").write_bytes(index(block(entries)))
    [one] = Projector(tmp_path).refresh().found
    assert (one.name, one.full_name, one.variable_name) == (key, "embedding/embeddings", "embedding/embeddings")
    (tmp_path / "ckpt-1.data-00000-of-00001").write_bytes(VALUES.tobytes())
    (tmp_path / "ckpt-1.index").write_bytes(index(block(entries)))
    stored_embeddings.cache_clear()
    [one] = Projector(tmp_path).refresh().found
    assert one.variable_name == "model/layer_with_weights-0/embeddings"


def test_a_pair_of_tsv_files_is_an_embedding(tmp_path: Path) -> None:
    words = "a\nb\nc\nd\n"
    files = {"model_tensor.tsv": tsv(VALUES), "model_metadata.tsv": words, "vecs.tsv": tsv(VALUES), "meta.tsv": words}
    for name, text in {**files, "lonely_tensor.tsv": tsv(VALUES), "results.tsv": tsv(VALUES)}.items():
        (tmp_path / name).write_text(text)
    projector = Projector(tmp_path)
    found = projector.refresh().found
    assert [(one.name, one.metadata.name if one.metadata else None) for one in found] == [
        ("model_tensor.tsv", "model_metadata.tsv"),
        ("vecs.tsv", "meta.tsv"),
    ]
    assert np.array_equal(projector.values(found[0]), VALUES)
    assert projector.columns(found[0])[0][0].texts == ("a", "b", "c", "d")
