"""Write files whole or not at all, and never over a file that was read."""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from graphviz_tb.errors import CannotWrite, RequestError, require_type
from graphviz_tb.sources.walk import SAVED_MODEL_FILES, list_files_below, saved_model_file

STANDARD_DESCRIPTORS = {"stdout": 1, "stderr": 2}
# open files of this process on Linux
DESCRIPTOR_PATH = re.compile(r"(?:/dev|/proc/self)/fd/([0-9]{1,9})|/dev/(stdout|stderr)")


def write_output(target: str | os.PathLike[str], data: bytes) -> None:
    """Write `data` to `target` ("-": standard output), through a temporary file next to it.

    Raises `CannotWrite`; then the target is unchanged.
    """
    write_outputs([(target, data)])


def write_outputs(outputs: Iterable[tuple[str | os.PathLike[str], bytes]]) -> None:
    """Write all outputs or none: files are moved into place together, once everything else is written.

    Raises `CannotWrite`; then every file is as before. Bytes sent to a pipe, a device or standard output cannot be
    taken back.
    """
    with ExitStack() as drafts:
        streams: list[tuple[Path | None, bytes]] = []
        ready: list[tuple[Path, Path]] = []
        for target, data in outputs:
            path = None if str(target) == "-" else _resolve_target(Path(target))
            if path is None or _is_stream_path(path):
                streams.append((path, data))
            else:
                check_outputs_writable([str(path)])
                ready.append((_write_draft(path, data, drafts), path))
        # Streams first, since writing to them may fail, while renaming a finished draft hardly can.
        for stream, data in streams:
            _write_to_stream(stream, data)
        for temporary, path in ready:
            with convert_file_errors(path):
                temporary.replace(path)


def _resolve_target(target: Path) -> Path:
    """Return the path to write; a link stays a link."""
    if _is_stream_path(target):
        return target  # the link `/dev/stdout` leads to a pipe, which has no path
    with convert_file_errors(target):
        return Path(os.path.realpath(target))  # needs a current folder, which may be gone


def _is_stream_path(path: Path) -> bool:
    """Return whether the path is a pipe, a device or a file that this process has open: nothing to replace."""
    if _descriptor_of_path(path) is not None:
        return True
    with convert_file_errors(path), suppress(FileNotFoundError, NotADirectoryError):
        mode = path.stat().st_mode
        return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
    return False


def _descriptor_of_path(path: Path) -> int | None:
    """Return the file descriptor that a path names (`/dev/stdout` may be a regular file), else None.

    >>> (
    ...     _descriptor_of_path(Path("/dev/stdout")),
    ...     _descriptor_of_path(Path("/dev/fd/7")),
    ...     _descriptor_of_path(Path("graph.svg")),
    ... )
    (1, 7, None)
    """
    match = DESCRIPTOR_PATH.fullmatch(path.as_posix())
    return None if match is None else int(match[1]) if match[1] else STANDARD_DESCRIPTORS[match[2]]


def _write_to_stream(path: Path | None, data: bytes) -> None:
    number = None if path is None else _descriptor_of_path(path)
    if path is None or number == STANDARD_DESCRIPTORS["stdout"]:
        _write_standard_output(data)
        return
    with convert_file_errors(path):
        if number is None:
            path.write_bytes(data)
        else:  # append: opening the file by name would truncate it
            with os.fdopen(os.dup(number), "wb") as stream:
                stream.write(data)


def _write_standard_output(data: bytes) -> None:
    """Write all bytes to standard output; unbuffered (`python -u`), a single call may write only a part."""
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:
        raise CannotWrite("cannot write standard output: it takes no bytes", hint="name a file")
    left = memoryview(data)
    while left:
        written = stream.write(left)
        if written is None:  # the stream is non-blocking and would have to wait
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        left = left[written:]
    stream.flush()


def _write_draft(path: Path, data: bytes, drafts: ExitStack) -> Path:
    """Write a temporary file next to `path`, with its permissions. `drafts` removes it unless it was moved."""
    # Hidden; 40 letters take 160 bytes at most, and file systems take names of 255.
    temporary = path.parent / f".{path.name[:40]}.{os.urandom(6).hex()}"
    with convert_file_errors(path), open(temporary, "xb", opener=_open_private) as file:
        drafts.callback(temporary.unlink, missing_ok=True)
        file.write(data)
        # Write buffered bytes now, so that a full disk raises here.
        file.close()
        temporary.chmod(_output_permissions(path))
        return temporary


def _open_private(name: str, flags: int) -> int:
    """Open a file that only its owner can read."""
    return os.open(name, flags, 0o600)


@contextmanager
def convert_file_errors(path: Path) -> Iterator[None]:
    """Convert system errors in a block to `CannotWrite`."""
    try:
        yield
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise _cannot_write_error(path, error) from error


def _cannot_write_error(path: Path, error: OSError | ValueError) -> CannotWrite:
    reason = (isinstance(error, OSError) and error.strerror) or str(error)
    return CannotWrite(f"cannot write {str(path)!r}: {reason}", hint="choose another place with -o")


def check_outputs_writable(targets: Iterable[str]) -> None:
    """Raise before any work is done if an output cannot be written, or standard output is given twice."""
    targets = list(targets)
    if targets.count("-") > 1:
        raise RequestError("standard output takes one output: - is given twice", hint="write the others to files")
    for target in targets:
        if not target:
            raise RequestError("the name of an output is empty", hint="name a file, or - for standard output")
        # Nothing is opened: opening a file for writing would empty it.
        path = Path(target)
        # The folder of a pipe or a device need not be writable.
        if target == "-" or _is_stream_path(path):
            continue
        if path.is_dir():
            raise CannotWrite(f"cannot write {target!r}: it is a directory", hint="name a file in it")
        if not path.parent.is_dir():
            file = next((above for above in path.parents if above.is_file()), None)
            if file is not None:
                why = f"{str(file)!r} is a file, no directory"
                raise CannotWrite(f"cannot write {target!r}: {why}", hint="choose another place with -o")
            missing = f"there is no directory {str(path.parent)!r}"
            raise CannotWrite(f"cannot write {target!r}: {missing}", hint="create it first")
        # The folder must be writable: a draft is created in it and moved into place.
        if not os.access(path.parent, os.W_OK):
            raise CannotWrite(f"cannot write {target!r}: permission denied", hint="choose another place with -o")
        # Replacing a read-only file would work, but its owner does not want that.
        if path.exists() and not os.access(path, os.W_OK):
            raise CannotWrite(f"cannot write {target!r}: it is read-only", hint="choose another place with -o")


def check_inputs_kept(sources: Iterable[Any], targets: Iterable[str | os.PathLike[str]]) -> None:
    """Raise `RequestError` if an output would overwrite an input, however it is spelled.

    `sources` are all inputs: graphs, run statistics, fonts. "-" is whatever standard output leads to.
    """
    sources = list(sources)
    for target in targets:
        require_type("target", target, str, os.PathLike)
        file = _target_status(target)
        if file is not None and any(_is_source_file(source, file) for source in sources):
            name = "standard output" if str(target) == "-" else repr(str(target))
            raise RequestError(f"{name} is the input itself", hint="write to another file")


def _target_status(target: str | os.PathLike[str]) -> os.stat_result | None:
    """Return the status of the file that would be overwritten; None if there is none or it cannot be read."""
    with suppress(OSError, ValueError, AttributeError):  # AttributeError: a program without standard output
        return os.fstat(sys.stdout.fileno()) if str(target) == "-" else Path(target).stat()
    return None


def _output_permissions(path: Path) -> int:
    """Return the permissions of the file to replace, else those that the user's umask leaves."""
    if path.exists():
        return path.stat().st_mode & 0o777
    # The umask can only be read by setting it.
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


# Find the files that reading a source opens: no output may overwrite them.

METADATA_FILE_NAME, FINGERPRINT_FILE_NAME = "keras_metadata.pb", "fingerprint.pb"  # next to the file of a SavedModel
SAVED_MODEL_FOLDERS = ("variables", "assets", "assets.extra")  # folders of a SavedModel


def _is_source_file(source: Any, file: os.stat_result) -> bool:
    """Return whether reading `source` opens this file, compared by device and inode.

    `source` is anything that `read` takes, or a tuple of them. Only regular files count. A log directory opens its
    event files and traces; a SavedModel includes everything TensorFlow wrote next to it.
    """
    if isinstance(source, os.stat_result):  # an opened file, whose name may have changed
        # The inode of a deleted file may be reused, with a different time.
        return os.path.samestat(source, file) and source.st_mtime_ns == file.st_mtime_ns
    if isinstance(source, tuple):  # the two sources of a diff
        return any(_is_source_file(part, file) for part in source)
    if not stat.S_ISREG(file.st_mode) or not isinstance(source, str | os.PathLike):
        return False
    with suppress(OSError, ValueError):  # a folder that cannot be listed is not read
        if source == "-":
            return os.path.samestat(os.fstat(sys.stdin.fileno()), file)
        path = Path(source)
        if not path.is_dir():
            return bool(str(source)) and any(
                _is_same_file(path_read, file) for path_read in (path, *_files_of_saved_model(path))
            )
        return any(_is_same_file(path_read, file) for path_read in _files_read_from_folder(path, file))
    return False


def _is_same_file(path: Path, file: os.stat_result) -> bool:
    with suppress(OSError):
        return os.path.samestat(path.stat(), file)
    return False


def _files_of_saved_model(model: Path) -> list[Path]:
    """Return the files that belong to a SavedModel, by TensorFlow's names."""
    if model.name not in SAVED_MODEL_FILES:
        return []
    folders = (model.with_name(part) for part in SAVED_MODEL_FOLDERS)
    inside = [path for folder in folders if folder.is_dir() for _, path in list_files_below(folder).files]
    return [
        *(model.with_name(name) for name in (*SAVED_MODEL_FILES, METADATA_FILE_NAME, FINGERPRINT_FILE_NAME)),
        *inside,
    ]


def _files_read_from_folder(folder: Path, file: os.stat_result) -> list[Path]:
    """Return the files that reading a folder opens, limited to candidates for `file`."""
    model = saved_model_file(folder)
    if model is not None:
        return _files_of_saved_model(model)
    # These are needed for folders only.
    from graphviz_tb.events.graphs import is_event_file
    from graphviz_tb.formats.profiler_traces import find_trace_files

    below = list_files_below(folder)
    events = [path for _, path in below.files if _has_same_size(path, file) and is_event_file(path)]
    return [*events, *(path for _, _, path in find_trace_files(below))]


def _has_same_size(path: Path, file: os.stat_result) -> bool:
    """Return whether the file has this size: a quick test before any bytes are read."""
    with suppress(OSError):
        return path.stat().st_size == file.st_size
    return False
