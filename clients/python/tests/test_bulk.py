"""Downloads continue after a break, are verified, and send the key to no other address."""

import asyncio
import hashlib
import re

import httpx
import pytest

import pregon

CONTENT = bytes(range(256)) * 40
ADDRESS = "https://pregon.example"


def snapshot(content=CONTENT, sha256=None):
    file = {
        "kind": "reports",
        "format": "parquet",
        "url": "https://elsewhere.example/api/v1/bulk/x/../../reports.parquet",
        "rows": 1,
        "bytes": len(content),
        "sha256": sha256 or hashlib.sha256(content).hexdigest(),
    }
    return {
        "id": "20261119T030000Z-41",
        "seq": 41,
        "cursor": "k3-41",
        "epoch": "k3",
        "as_of": "2026-11-19T03:00:00Z",
        "created_at": "2026-11-19T03:00:01Z",
        "partial": False,
        "files": [file],
    }


class Cut(httpx.SyncByteStream, httpx.AsyncByteStream):
    """Some bytes, and then an error."""

    def __init__(self, content):
        self.content = content

    def __iter__(self):
        yield self.content
        raise httpx.ReadError("cut")

    async def __aiter__(self):
        yield self.content
        raise httpx.ReadError("cut")


class Service:
    """A service with one file, of which each answer has some bytes at most."""

    def __init__(self, listed=None, content=CONTENT, most=10**9, ranges=True):
        self.listed = listed or snapshot()
        self.content = content
        self.most = most
        self.ranges = ranges
        self.requests = []

    def __call__(self, request):
        self.requests.append(request)
        assert request.url.host == "pregon.example"
        if request.url.path == "/api/v1/bulk":
            return httpx.Response(200, json={"data": [self.listed]})
        assert request.url.path == "/api/v1/bulk/20261119T030000Z-41/reports.parquet"
        start, status, headers = 0, 200, {}
        if self.ranges and "range" in request.headers:
            start = int(re.fullmatch(r"bytes=(\d+)-", request.headers["range"])[1])
            status, headers = 206, {"content-range": f"bytes {start}-{len(self.content) - 1}/{len(self.content)}"}
        rest = self.content[start:]
        stream = httpx.ByteStream(rest) if len(rest) <= self.most else Cut(rest[: self.most])
        return httpx.Response(status, headers=headers, stream=stream)

    def client(self, **options):
        return pregon.Client(ADDRESS, "key", transport=httpx.MockTransport(self), **options)

    def download(self, folder, **options):
        return self.client(**options).bulk.download(folder, kinds=["reports"])


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    monkeypatch.setattr("pregon._sync.time.sleep", lambda seconds: None)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_whole(tmp_path):
    copy = Service().download(tmp_path / "new")
    assert copy.paths["reports"].read_bytes() == CONTENT
    assert names(tmp_path / "new") == ["reports.parquet"]
    assert copy.cursor == "k3-41"


def test_cut_again_and_again(tmp_path):
    service = Service(most=1000)
    assert service.download(tmp_path, retries=1).paths["reports"].read_bytes() == CONTENT
    assert len(service.requests) == 1 + -(-len(CONTENT) // 1000)


def test_a_service_without_ranges(tmp_path):
    service = Service(most=1000, ranges=False)
    with pytest.raises(pregon.Error):
        Service(most=1000).client(retries=0).bulk.download(tmp_path, kinds=["reports"])
    service.most = 10**9
    assert service.download(tmp_path).paths["reports"].read_bytes() == CONTENT


def test_continued_by_a_later_call(tmp_path):
    with pytest.raises(pregon.Error) as raised:
        Service(most=1000).download(tmp_path, retries=0)
    assert raised.value.kind == "connection"
    assert "reports.parquet" not in names(tmp_path)
    service = Service()
    assert service.download(tmp_path).paths["reports"].read_bytes() == CONTENT
    assert service.requests[1].headers["range"] == "bytes=1000-"


def test_kept_if_it_is_there(tmp_path):
    service = Service()
    service.download(tmp_path)
    service.download(tmp_path)
    assert len(service.requests) == 3


def test_a_file_that_is_altered(tmp_path):
    service = Service(content=CONTENT[:-1] + b"x")
    with pytest.raises(pregon.Error) as raised:
        service.download(tmp_path)
    assert raised.value.kind == "integrity"
    assert names(tmp_path) == []


def test_a_file_that_is_too_long(tmp_path):
    with pytest.raises(pregon.Error) as raised:
        Service(content=CONTENT + b"x").download(tmp_path)
    assert raised.value.kind == "integrity"
    assert "reports.parquet" not in names(tmp_path)


def test_a_hash_that_is_none(tmp_path):
    with pytest.raises(pregon.Error, match="SHA-256"):
        Service(snapshot(sha256="../../../etc/passwd")).download(tmp_path)


@pytest.mark.parametrize("arguments", [{"kinds": ["nothing"]}, {"format": "xlsx"}])
def test_arguments_that_are_none(tmp_path, arguments):
    with pytest.raises(pregon.Error) as raised:
        Service().client().bulk.download(tmp_path, **arguments)
    assert raised.value.kind == "invalid"


def test_records(tmp_path):
    zstandard = pytest.importorskip("zstandard")
    content = zstandard.compress(b'{"id":"ip-1"}\n{"id":"ip-2"}')
    path = tmp_path / "reports.jsonl.zst"
    path.write_bytes(content)
    copy = pregon.Download(snapshot=None, paths={"reports": path})
    assert [record["id"] for record in copy.records("reports")] == ["ip-1", "ip-2"]
    path.write_bytes(zstandard.compress(b'{"id":"ip-1"}\n' + b"[" * 10**5))
    with pytest.raises(pregon.Error, match="not a JSON object"):
        list(copy.records("reports"))
    with pytest.raises(pregon.Error, match="jsonl"):
        pregon.Download(snapshot=None, paths={}).records("reports")


def test_the_asynchronous_client(tmp_path, monkeypatch):
    async def at_once(seconds):
        pass

    monkeypatch.setattr("pregon._async.asyncio.sleep", at_once)

    async def main():
        transport = httpx.MockTransport(Service(most=5000))
        async with pregon.AsyncClient(ADDRESS, "key", transport=transport) as client:
            return await client.bulk.download(tmp_path, kinds=["reports"])

    assert asyncio.run(main()).paths["reports"].read_bytes() == CONTENT
