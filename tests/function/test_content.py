"""The original file of a document, kept in a folder and served by the function."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import quote
from uuid import uuid4

import httpx2
import pytest

from drift.originals.folder import FolderStore
from tests.function.access_keys import entry, use_keys
from tests.function.calling import Caller, assert_is_problem
from tests.ingest import made_files as made

NOON = "# Ferry\n\nThe ferry to Skarv leaves at noon from the East Jetty.\n"
DUSK = "# Ferry\n\nThe ferry to Skarv leaves at dusk from the West Jetty.\n"
HARBOUR = made.pdf([["The harbour is old."], ["The ferry to Skarv leaves at noon."]], "Harbour")


@pytest.fixture
def kept(environment: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder that originals are kept in, with the routes open."""
    environment.setenv("ENABLE_INDEXING", "true")
    environment.setenv("DOCUMENT_STORE", str(tmp_path / "originals"))
    return tmp_path / "originals"


@pytest.fixture
def own() -> str:
    return f"content-{uuid4()}"


async def send(function: Caller, project: str, name: str, content: bytes | str) -> None:
    named, body = {"project_id": project, "id": name}, content
    if isinstance(body, str):
        sent = await function.client.post("/documents", json={**named, "text": body})
    else:
        headers = {"content-type": "application/octet-stream"}
        sent = await function.client.post("/documents", params=named, headers=headers, content=body)
    assert sent.status_code == 200, sent.text


async def get(
    function: Caller, project: str, name: str, headers: dict[str, str] | None = None, **more: str
) -> httpx2.Response:
    place = f"/documents/{quote(name, safe='')}/content"
    params = {"project_id": project, **more}
    return await function.client.get(place, params=params, headers=headers)


def may_others_read(folder: Path) -> bool:
    return bool(folder.stat().st_mode & 0o077)


def files(folder: Path) -> list[Path]:
    return [one for one in folder.rglob("*") if one.is_file()]


async def test_what_was_sent_comes_back_until_it_is_replaced_or_removed(
    kept: Path, own: str, function: Caller
) -> None:
    for content, type_ in ((NOON, "text/markdown"), (HARBOUR, "application/pdf")):
        name = "a.pdf" if isinstance(content, bytes) else "a.md"
        await send(function, own, name, content)
        told = (await function.client.get(f"/documents/{name}?project_id={own}")).json()["content"]
        bytes_ = content if isinstance(content, bytes) else content.encode()
        assert told == {"type": type_, "size": len(bytes_)}
        got = await get(function, own, name)
        assert (got.status_code, got.content) == (200, bytes_)
        assert got.headers["content-type"].partition(";")[0] == type_
        assert got.headers["content-length"] == str(len(bytes_))
        assert got.headers["x-content-type-options"] == "nosniff"
        assert got.headers["content-security-policy"] == "sandbox; default-src 'none'"
        assert got.headers["cache-control"] == "private, no-cache"
        assert got.headers["content-disposition"] == f"inline; filename*=UTF-8''{name}"
    saved = await get(function, own, "a.pdf", download="true")
    assert saved.headers["content-disposition"].startswith("attachment; ")

    await send(function, own, "a.md", DUSK)
    assert (await get(function, own, "a.md")).text == DUSK
    assert len(files(kept)) == 2, "the earlier text is gone"
    assert not may_others_read(kept)
    assert (await function.client.delete(f"/documents/a.md?project_id={own}")).status_code == 204
    assert_is_problem(await get(function, own, "a.md"), 404, "not_found")
    assert [one.read_bytes() for one in files(kept)] == [HARBOUR]


@pytest.mark.parametrize(
    ("asked", "part"),
    [
        ("bytes=0-3", (0, 4)), ("bytes=10-", (10, 61)), ("bytes=-5", (56, 61)),
        ("bytes=7-900", (7, 61)), ("bytes=-900", None), ("bytes=61-", None), ("bytes=5-4", None),
        ("bytes=0-1,4-5", None), ("bytes=-", None), ("lines=1-2", None), ("bytes=-0", None),
    ],
)  # fmt: skip
async def test_a_range_gives_its_part_and_any_other_the_whole(
    kept: Path, own: str, function: Caller, asked: str, part: tuple[int, int] | None
) -> None:
    del kept
    await send(function, own, "a.md", NOON[:61])
    whole = await get(function, own, "a.md")
    got = await get(function, own, "a.md", {"range": asked})
    begin, end = part or (0, 61)
    assert (got.status_code, got.text) == (206 if part else 200, NOON[begin:end])
    assert got.headers["accept-ranges"] == "bytes"
    shown = f"bytes {begin}-{end - 1}/61" if part else None
    assert got.headers.get("content-range") == shown
    other = await get(function, own, "a.md", {"range": asked, "if-range": '"other"'})
    assert (other.status_code, other.text) == (200, whole.text)


async def test_who_has_the_bytes_gets_them_no_second_time(
    kept: Path, own: str, function: Caller
) -> None:
    del kept
    await send(function, own, "a.md", NOON)
    tag = (await get(function, own, "a.md")).headers["etag"]
    for known in (tag, f"W/{tag}", f'"x", {tag}'):
        got = await get(function, own, "a.md", {"if-none-match": known})
        assert (got.status_code, got.content, got.headers["etag"]) == (304, b"", tag)
    await send(function, own, "a.md", DUSK)
    assert (await get(function, own, "a.md", {"if-none-match": tag})).text == DUSK


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd", "a/../b.md", "..", "%2e%2e/x", "<b onmouseover=alert(1)>.md",
        "x" * 300 + ".md", "\u202egnp.md", 'quote".md', "new\nline.md", "日本.md", "a/content",
    ],
)  # fmt: skip
async def test_no_name_leads_out_of_the_folder_or_into_a_header(
    kept: Path, own: str, function: Caller, name: str
) -> None:
    await send(function, own, name, NOON)
    written = "".join(f"%{byte:02X}" for byte in name.encode())
    got = await function.client.get(f"/documents/{written}/content?project_id={own}")
    assert got.text == NOON, got.text
    shown = got.headers["content-disposition"]
    assert shown.isascii()
    assert not {*'<>"\n '} & {*shown.removeprefix("inline; ")}
    (file,) = files(kept)
    assert set(file.relative_to(kept).as_posix()) <= {*"0123456789abcdef/"}
    assert [one.name for one in kept.parent.iterdir()] == [kept.name]


async def test_what_browsers_would_run_is_text(kept: Path, own: str, function: Caller) -> None:
    del kept
    for name, content in (
        ("page.html", b"<p>The ferry leaves at noon.</p><script>alert(1)</script>"),
        ("data.xml", b"<ferry><leaves>at noon</leaves></ferry>"),
    ):
        await send(function, own, name, content)
        got = await get(function, own, name)
        assert got.headers["content-type"] == "text/plain; charset=utf-8"
        assert got.content == content


async def test_a_file_whose_secrets_are_left_out_is_not_kept(
    kept: Path, own: str, function: Caller
) -> None:
    await send(function, own, "a.yaml", b"ferry: leaves at noon\npassword: hunter2hunter2\n")
    await send(function, own, "b.yaml", b"ferry: leaves at noon\n")
    assert_is_problem(await get(function, own, "a.yaml"), 404, "content_not_kept")
    assert (await get(function, own, "b.yaml")).status_code == 200
    assert [b"hunter2" in one.read_bytes() for one in files(kept)] == [False]


async def test_what_is_not_kept_or_not_there_is_told_and_heals(
    kept: Path, own: str, function: Caller
) -> None:
    await send(function, own, "a.md", NOON)
    (file,) = files(kept)
    file.unlink()
    told = assert_is_problem(await get(function, own, "a.md"), 404, "content_not_kept")
    assert "DOCUMENT_STORE" in told["detail"]
    shown = (await function.client.get(f"/documents/a.md?project_id={own}")).json()
    assert shown["content"] is None
    await send(function, own, "a.md", NOON)
    assert (await get(function, own, "a.md")).text == NOON, "sent again"

    folder = file.parent
    folder.rename(kept / "away")
    folder.write_text("no folder")
    assert_is_problem(await get(function, own, "a.md"), 503, "document_store_unavailable")
    shown = (await function.client.get(f"/documents/a.md?project_id={own}")).json()
    assert (shown["content"], shown["chunk_count"]) == (None, 1)
    assert_is_problem(await get(function, own, "b.md"), 404, "not_found")
    assert_is_problem(await get(function, f"{own}-other", "a.md"), 404, "not_found")


async def test_the_file_of_a_document_that_is_off_is_told_to_nobody(
    kept: Path, own: str, function: Caller
) -> None:
    del kept
    await send(function, own, "a.md", NOON)
    place = f"/documents/a.md?project_id={own}"
    for off in (True, False):
        assert (await function.client.patch(place, json={"off": off})).status_code == 204
        told = (await function.client.get(place)).json()
        assert (told.get("off", False), told["content"] is None) == (off, off)
        assert told["source"] == "api"
        got = await get(function, own, "a.md")
        if off:
            assert_is_problem(got, 404, "content_not_kept")
        assert (NOON in got.text) is not off


async def test_a_store_that_hangs_keeps_a_document_waiting_for_no_longer(
    kept: Path, own: str, function: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hang(self: FolderStore, name: str) -> int | None:
        del self, name
        await asyncio.sleep(20)
        return 1

    del kept
    await send(function, own, "a.md", NOON)
    monkeypatch.setattr(FolderStore, "size", hang)
    shown = (await function.client.get(f"/documents/a.md?project_id={own}")).json()
    assert (shown["content"], shown["chunk_count"]) == (None, 1)


async def test_who_may_not_read_the_document_gets_no_file(
    kept: Path, own: str, function: Caller, environment: pytest.MonkeyPatch
) -> None:
    writes, whole = entry("all", [own], rights=["read", "write"])
    only = {"type": "eq", "key": "document_id", "value": "b.md"}
    (some, part), (strange, other) = entry("some", [own], filter=only), entry("other", ["x"])
    use_keys(environment, whole, part, other)
    function.client.headers["x-api-key"] = writes
    await send(function, own, "a.md", NOON)
    await send(function, own, "b.md", DUSK)
    for key, name, status in (
        (writes, "a.md", 200), (some, "b.md", 200), (some, "a.md", 404), (some, "c.md", 404),
        (strange, "a.md", 403), ("", "a.md", 401),
    ):  # fmt: skip
        got = await get(function, own, name, {"x-api-key": key})
        assert got.status_code == status, (key, name)
        assert status != 404 or got.json()["code"] == "not_found"
    assert len(files(kept)) == 2
