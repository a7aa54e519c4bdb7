"""The compiled messages and their stub agree with the .proto files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import graphviz_tb.proto
from graphviz_tb import proto
from tools import proto_stubs

FOLDER = Path(graphviz_tb.proto.__file__).parent


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.proto")), ids=lambda path: path.name)
def test_every_field_of_every_proto_file_is_compiled(path: Path) -> None:
    text = re.sub(r"//[^\n]*", "", path.read_text())
    for name, body in re.findall(r"^message (\w+) \{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL):
        declared = set(
            re.findall(r"(\w+) = (\d+)", re.sub(r"^  (?:message|enum) .*?^  \}", "", body, flags=re.M | re.S))
        )
        compiled = {(field.name, str(field.number)) for field in getattr(proto, name).DESCRIPTOR.fields}
        assert compiled == declared


def test_made_again_they_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("grpc_tools", reason="needs grpcio-tools")
    for path in FOLDER.glob("*.proto"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(proto_stubs, "FOLDER", tmp_path)
    proto_stubs.main()
    assert (tmp_path / "__init__.pyi").read_text() == (FOLDER / "__init__.pyi").read_text()
    assert (tmp_path / "messages.bin").read_bytes() == (FOLDER / "messages.bin").read_bytes()


def test_names_in_reach() -> None:
    assert {"GraphDef", "NodeDef", "RunMetadata", "SavedModel", "Event", "DataType"} <= set(proto.__all__)
    assert proto.DataType.Name(1) == "DT_FLOAT"
