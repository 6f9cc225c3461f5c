"""Downloads of snapshots, which continue after a break and are verified."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ._calls import Single, list_snapshots
from ._decode import json_object
from ._errors import Error
from ._http import Answer, Request, error_of, segment
from ._steps import Call, Close, Open, Options, Patience, Read, Sleep
from .models import Snapshot, SnapshotFile

RecordKind = Literal["reports", "issuers", "positions"]
FileFormat = Literal["parquet", "csv", "jsonl"]

KINDS: tuple[RecordKind, ...] = ("reports", "issuers", "positions")

_ENDINGS: dict[str, str] = {
    "parquet": ".parquet",
    "csv": ".csv.zst",
    "jsonl": ".jsonl.zst",
}

# The longest line of a file in JSON Lines: a record.
_MAX_LINE = 16 << 20

# Seconds without a byte after which a download is interrupted and continued.
_IDLE = 60.0


@dataclass(frozen=True, slots=True)
class Download:
    """The files of a snapshot. All have the SHA-256 that the service stated."""

    snapshot: Snapshot
    paths: dict[str, Path]
    """The path of each file, by its kind."""

    @property
    def cursor(self) -> str:
        """Where changes continue: client.changes(download.cursor) gives all that is newer."""
        return self.snapshot.cursor

    def records(self, kind: RecordKind) -> Iterator[dict[str, Any]]:
        """Read the records of a file with the format ``jsonl``. It needs the package zstandard."""
        path = self.paths.get(kind)
        if path is None or not path.name.endswith(_ENDINGS["jsonl"]):
            raise Error("invalid", f'there is no file of {kind} in JSON Lines: download it with format="jsonl"')
        return _records(path)


def _records(path: Path) -> Iterator[dict[str, Any]]:
    try:
        import zstandard
    except ImportError:
        raise Error("invalid", "JSON Lines are compressed with zstd: pip install 'pregon[bulk]'") from None
    with path.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True) as reader:
        rest = b""
        while chunk := reader.read(1 << 20):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                yield _record(path, line)
            if len(rest) > _MAX_LINE:
                raise Error("integrity", f"{path} has a line of more than {_MAX_LINE >> 20} MiB")
        if rest:
            yield _record(path, rest)


def _record(path: Path, line: bytes) -> dict[str, Any]:
    record = json_object(line)
    if record is None:
        raise Error("integrity", f"{path} has a line that is not a JSON object")
    return record


def download(
    directory: str | os.PathLike[str],
    *,
    kinds: Iterable[RecordKind] = KINDS,
    format: FileFormat = "parquet",
    snapshot: Snapshot | None = None,
) -> Single[Download]:
    """Download the newest snapshot, or another one, into a directory.

    A download that is cut off continues where it was, also in the next call. A file that is
    there already and has the right SHA-256 is kept. A file appears under its name, such as
    ``reports.parquet``, when it is complete and verified.
    """
    wanted = list(kinds)
    if format not in _ENDINGS:
        raise Error("invalid", f"format is {format!r}: use one of {', '.join(_ENDINGS)}")
    for kind in wanted:
        if kind not in KINDS:
            raise Error("invalid", f"kinds has {kind!r}: use some of {', '.join(KINDS)}")

    def run(options: Options) -> Call[Download]:
        chosen = snapshot
        if chosen is None:
            snapshots = yield from list_snapshots().run(options)
            if not snapshots:
                raise Error("not_found", "the service has no snapshot yet: it makes one every night")
            chosen = snapshots[0]
        folder = Path(directory)
        folder.mkdir(parents=True, exist_ok=True)
        paths: dict[str, Path] = {}
        for kind in wanted:
            paths[kind] = yield from _download_file(options, chosen, _file(chosen, kind, format), folder)
        return Download(chosen, paths)

    return Single(run)


def _file(snapshot: Snapshot, kind: str, format: str) -> SnapshotFile:
    for file in snapshot.files:
        if file.kind == kind and file.format == format:
            return file
    raise Error("not_found", f"the snapshot {snapshot.id} has no file of {kind} as {format}")


def _download_file(options: Options, snapshot: Snapshot, file: SnapshotFile, folder: Path) -> Call[Path]:
    name = file.kind + _ENDINGS[file.format]
    path = folder / name
    if path.exists() and _is(path, file):
        return path
    if not re.fullmatch("[0-9a-f]{64}", file.sha256):
        raise Error("integrity", f"the service states {file.sha256[:100]!r} as SHA-256 of {name}")
    part = folder / f".{name}.{file.sha256[:16]}.part"
    # The address is made from the one of the client: the key is for no other.
    location = f"/api/v1/bulk/{segment(snapshot.id)}/{name}"
    patience = Patience(options)
    while not part.exists() or part.stat().st_size < file.bytes:
        try:
            yield from _continue(location, part, file, patience)
            continue
        except Error as error:
            pause = patience.pause(error)
        yield Close()
        yield Sleep(pause)
    if not _is(part, file):
        part.unlink()
        raise Error("integrity", f"{name} does not have the SHA-256 that the service states: download it again")
    part.replace(path)
    return path


def _continue(location: str, part: Path, file: SnapshotFile, patience: Patience) -> Call[None]:
    """Download what a partial file lacks."""
    size = part.stat().st_size if part.exists() else 0
    headers = {"Accept": "*/*", **({"Range": f"bytes={size}-"} if size else {})}
    answer: Answer = yield Open(Request(location, headers=headers), _IDLE)
    if answer.status >= 300:
        raise error_of(answer)
    continues = answer.status == 206 and answer.headers.get("content-range", "").startswith(f"bytes {size}-")
    with part.open("ab" if continues else "wb") as out:
        if not continues:
            size = 0
        while chunk := (yield Read()):
            size += len(chunk)
            if size > file.bytes:
                raise Error("integrity", f"{location} is longer than the service states")
            out.write(chunk)
            patience.progress()
    yield Close()
    if size < file.bytes:
        raise Error("connection", f"{location} ended after {size} of {file.bytes} bytes")


def _is(path: Path, file: SnapshotFile) -> bool:
    """Report whether a file is complete and unchanged."""
    if path.stat().st_size != file.bytes:
        return False
    digest = hashlib.sha256()
    with path.open("rb") as content:
        while block := content.read(1 << 20):
            digest.update(block)
    return digest.hexdigest() == file.sha256
