"""Whoever is not the steward, in a page of the studio, gets nothing and changes nothing."""

import asyncio
import html
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from crowdblend.errors import InvalidInput
from crowdblend.studio import security
from crowdblend.studio import server as studio_server
from crowdblend.studio.app import PAGES
from crowdblend.studio.places import Root
from crowdblend.studio.security import LARGEST_BODY, LONGEST_QUERY, POLICY, REPORT_POLICY, Guard, Session
from crowdblend.studio.server import bound
from crowdblend.studio.work import checked_policy
from tests.cases import for_each
from tests.refusals import refuses
from tests.studio.conftest import FROM_PAGE, ORIGIN, PORT, Visitor

EVIL = '<img src=x onerror="alert(1)">'


@for_each("host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:80", "", "[::1]:8765"])
def test_a_foreign_host_is_refused(visitor: Visitor, host: str) -> None:
    assert visitor.get("/", headers={"host": host}).status_code == 421


@for_each(
    "origin",
    [
        *("http://evil.example", "null", "https://127.0.0.1:8765", "http://127.0.0.1:8766"),
        *("http://127.0.0.1", "http://localhost", "http://localhost:8766"),
    ],
)
@for_each("method", ["get", "post"])
def test_a_foreign_origin_is_refused(visitor: Visitor, origin: str, method: str) -> None:
    headers = {"origin": origin, "sec-fetch-site": "same-origin"}
    assert visitor.request(method, "/drafts", headers=headers).status_code == 403
    assert not visitor.studio.drafts.all()


@for_each("site", ["cross-site", "same-site", "none", None])
def test_only_a_page_of_the_studio_changes_something(visitor: Visitor, site: str | None) -> None:
    headers = {"origin": ORIGIN, **({} if site is None else {"sec-fetch-site": site})}
    assert visitor.request("POST", "/drafts", data={"kind": "table"}, headers=headers).status_code == 403
    assert not visitor.studio.drafts.all()


@for_each("site", ["cross-site", "same-site"])
@for_each("method", ["GET", "HEAD", "POST"])
def test_a_page_of_another_site_or_another_port_gets_nothing(visitor: Visitor, site: str, method: str) -> None:
    """Pages of other ports of this machine are of the same site, and browsers send them the cookie of this one."""
    for origin in ({}, {"origin": ORIGIN}):
        answer = visitor.request(method, "/", headers={**origin, "sec-fetch-site": site})
        assert answer.status_code == 403
        assert "Studio" not in answer.text


@for_each("path", ["/", "/ledger", "/static/studio.css", "/drafts/000000000000/data", "/nowhere"])
def test_without_the_cookie_there_is_nothing(visit: Callable[..., Visitor], path: str) -> None:
    stranger = visit(known=False)
    answer = stranger.get(path)
    assert answer.status_code == 403
    assert "crowdblend studio printed" in answer.text
    right = stranger.session._cookie
    for forged in ("AAAA", "", right[:1], right[:-1], f"{right}A", right.swapcase()):
        assert stranger.get(path, headers={"cookie": f"crowdblend_studio_{PORT}={forged}"}).status_code == 403
    assert stranger.get(path, headers={"cookie": f"crowdblend_studio_{PORT}={right}"}).status_code != 403


def test_the_address_works_once(visit: Callable[..., Visitor]) -> None:
    first = visit(known=False)
    address = f"/start?token={first.session.token}"
    wrong = first.get("/start?token=wrong")
    assert wrong.status_code == 403
    answer = first.get(address)
    assert answer.status_code == 303
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert first.get("/").status_code == 200
    first.cookies.clear()
    assert first.get(address).status_code == 403


def test_every_answer_says_what_a_page_may_load(visitor: Visitor) -> None:
    for path in ("/", "/static/studio.css", "/nowhere", "/ledger"):
        headers = visitor.get(path).headers
        assert headers["content-security-policy"] == POLICY
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"
    for policy in (POLICY, REPORT_POLICY):
        assert "unsafe-eval" not in policy
        scripts = re.search(r"script-src ([^;]*)", policy)
        assert scripts is None or scripts[1] == "'self'"
    assert "unsafe-inline" not in POLICY


@pytest.mark.parametrize(
    "path", ["../secret.csv", "/etc/passwd", "link.csv", "folder/../../secret.csv", "linked/secret.csv", "a\0b"]
)
def test_a_path_outside_the_root_is_refused(visitor: Visitor, root: Path, path: str) -> None:
    outside = root.parent / "outside"
    outside.mkdir()
    for place in (root.parent / "secret.csv", outside / "secret.csv"):
        place.write_text("name\nsomebody\n", encoding="utf-8")
    (root / "link.csv").symlink_to(root.parent / "secret.csv")
    (root / "linked").symlink_to(outside)
    (root / "folder").mkdir()
    number = visitor.draft(source=None)
    answer = visitor.send(f"/drafts/{number}/source", {"source": path})
    assert answer.status_code in (400, 404, 409)
    assert "name" not in visitor.studio.drafts.get(number).names
    shown = visitor.get(f"/releases/folder?folder={path.replace(chr(0), '%00')}")
    assert shown.status_code != 200
    assert "somebody" not in shown.text
    listed = visitor.get(f"/drafts/{number}/data").text
    assert "link.csv" not in listed
    assert "linked" not in listed


def test_the_studio_s_own_files_are_not_chosen(root: Path) -> None:
    (root / ".crowdblend-studio").mkdir()
    with pytest.raises(InvalidInput, match="own files"):
        Root.at(root).inside(".crowdblend-studio/drafts")


def test_publishing_writes_nowhere_else(visitor: Visitor, root: Path) -> None:
    number = _ready(visitor)
    for name in ("out", "policy"):
        sent = {"confirm": "town", "out": "published", "policy": "p.toml", name: "../elsewhere.toml"}
        assert visitor.send(f"/drafts/{number}/publish", sent).status_code == 409
    assert not (root.parent / "elsewhere.toml").exists()
    assert not (root / "p.toml").exists()


def _ready(visitor: Visitor, name: str = "sex") -> str:
    number = visitor.draft()
    visitor.send(f"/drafts/{number}/data", {"data:person": "id", "data:population": "town"})
    visitor.send(f"/drafts/{number}/columns", {"place": "1", "way": "values", "key:values": "F\nM"})
    return number


def test_texts_are_shown_as_texts(visitor: Visitor, root: Path) -> None:
    (root / f"{EVIL.replace('/', '')}.csv").write_text(f"id,{EVIL.replace(chr(34), '')}\n1,a\n", encoding="utf-8")
    number = visitor.draft(source=f"{EVIL.replace('/', '')}.csv")
    visitor.send(
        f"/drafts/{number}/data",
        {"data:person": "id", "data:population": EVIL, "about:title": EVIL, "about:contact": EVIL},
    )
    visitor.send(f"/drafts/{number}/columns", {"place": "1", "way": "values", "key:values": f"{EVIL}\n</script>"})
    for page in ("/", *(f"/drafts/{number}/{step}" for step in ("data", "columns", "release", "rehearse", "publish"))):
        answer = visitor.get(page)
        assert answer.status_code == 200, page
        assert "<img src=x" not in answer.text
        assert "</script>\n</" not in answer.text.replace("</script>\n</head>", "")
    fragment = visitor.send(
        f"/drafts/{number}/columns", {"place": "1", "way": "width", "key:from": EVIL, "key:to": "1", "key:width": "1"},
        **{"hx-request": "true"},
    )  # fmt: skip
    assert "&lt;img" in fragment.text
    assert "<img src=x" not in fragment.text


def test_a_hostile_policy_is_shown_as_text(visitor: Visitor, root: Path) -> None:
    hostile = EVIL.replace('"', "'")
    text = f'[data]\nsource = "people.csv"\nperson = "id"\npopulation = "{hostile}"\n[sampling]\ndesign = "poisson"\n'
    text += f'rate = 0.1\n[privacy]\nepsilon = 1\ndelta = 1e-6\n[columns]\nsex = {{ values = ["{hostile}"] }}\n'
    text += '[[publish]]\nkind = "table"\n'
    (root / "policy.toml").write_text(text, encoding="utf-8")
    answer = visitor.send("/drafts", {"policy": "policy.toml"})
    number = answer.headers["location"].split("/")[2]
    for step in ("data", "columns", "release", "publish"):
        assert "<img src=x" not in visitor.get(f"/drafts/{number}/{step}").text
    (root / "policy.toml").write_text(f"[data]\nsource = 1\n{hostile} = 2\n", encoding="utf-8")
    assert "<img src=x" not in visitor.send("/drafts", {"policy": "policy.toml"}).text


def test_an_address_may_be_so_long_and_no_longer(visitor: Visitor) -> None:
    assert visitor.get("/?" + "a" * LONGEST_QUERY).status_code == 200
    assert visitor.get("/?" + "a" * (LONGEST_QUERY + 1)).status_code == 414


def test_a_request_that_is_too_large_is_refused(visitor: Visitor) -> None:
    number = visitor.draft()
    large = {"data:population": "x" * (LARGEST_BODY + 1)}
    assert visitor.send(f"/drafts/{number}/data", large).status_code == 413

    async def pieces() -> AsyncIterator[bytes]:
        yield b"data:population=town"
        # No field is too long and there are not too many, but all of them together are too large.
        for number in range(4_000):
            yield b"&field%d=" % number + b"x" * 500

    headers = {**FROM_PAGE, "content-type": "application/x-www-form-urlencoded"}
    answer = visitor.request("POST", f"/drafts/{number}/data", content=pieces(), headers=headers)
    assert answer.status_code >= 400
    assert visitor.studio.drafts.get(number).choices.text("data", "population") == ""
    for length, refused in ((1_000_000, False), (1_000_001, True)):
        sent = {**headers, "content-length": str(length), "content-type": "text/plain"}
        answer = visitor.request("POST", f"/drafts/{number}/data", content=b"", headers=sent)
        assert (answer.status_code == 413) is refused
    assert visitor.get("/?" + "x" * 5_000).status_code == 414


@for_each(
    ("content", "kind"),
    [
        (b"\xff\xfe=%ff%fe&data:population=%ff", "application/x-www-form-urlencoded"),
        (b"--x\r\nbroken", "multipart/form-data; boundary=x"),
        (b'{"json": true}', "application/json"),
        (b"data:population=%00", "application/x-www-form-urlencoded"),
        (b"place=99999999999999999999&way=values", "application/x-www-form-urlencoded"),
        (b"&".join(b"a%d=1" % number for number in range(26_000)), "application/x-www-form-urlencoded"),
    ],
    daily=3,
)
@for_each("step", ["data", "columns", "release", "publish", "rehearse"])
def test_a_malformed_request_changes_nothing(visitor: Visitor, content: bytes, kind: str, step: str) -> None:
    number = visitor.draft()
    before = visitor.studio.drafts.get(number)
    answer = visitor.request(
        "POST", f"/drafts/{number}/{step}", content=content, headers={**FROM_PAGE, "content-type": kind}
    )
    assert answer.status_code < 500
    assert visitor.studio.drafts.get(number) == before


@for_each("number", ["%2e%2e", "0" * 12, "x" * 12, "../../etc", "0" * 5_000])
def test_numbers_of_drafts_and_jobs_are_no_paths(visitor: Visitor, number: str) -> None:
    for path in (f"/drafts/{number}/data", f"/jobs/{number}", f"/jobs/{number}/report"):
        # Whatever leads out of the studio's own path is as if nobody had the cookie.
        assert visitor.get(path).status_code in (403, 404, 405)


def test_looking_only_changes_nothing(visit: Callable[..., Visitor], root: Path) -> None:
    visitor = visit(read_only=True)
    before = sorted(root.rglob("*"))
    assert visitor.send("/drafts", {"kind": "table"}).status_code == 409
    for path in ("/", "/ledger", "/releases", "/gallery"):
        assert visitor.get(path).status_code == 200
    # An attack that runs changes nothing either, and may be cancelled.
    assert "There is no such job" in visitor.send("/jobs/0123456789ab/cancel").text
    assert sorted(root.rglob("*")) == before


def test_the_studio_listens_on_this_machine_and_finds_a_free_port() -> None:
    with bound(0) as first, bound(first.getsockname()[1]) as second:
        assert first.getsockname()[0] == second.getsockname()[0] == "127.0.0.1"
        assert first.getsockname()[1] != second.getsockname()[1]


def test_a_cancelled_job_goes_back_to_the_studio_only(visitor: Visitor) -> None:
    job = visitor.studio.jobs.start("attack", {"name": "duplicate", "runs": 0})
    for back in ("//evil.example", "https://evil.example", "/\\evil.example"):
        assert visitor.send(f"/jobs/{job}/cancel", {"back": back}).headers["location"] == "/"


def test_the_cookie_is_sent_for_the_studio_s_own_path_alone(visit: Callable[..., Visitor]) -> None:
    first = visit(known=False)
    cookie = first.get(f"/start?token={first.session.token}").headers["set-cookie"]
    # A browser sends cookies to every port of a host; a server at another port does not know this path.
    assert f"Path={first.session.path};" in cookie + ";"
    assert len(first.session.path) > 20
    assert first.session.path != visit(known=False).session.path
    held = {"cookie": cookie.partition(";")[0]}
    assert first.get("/", headers=held).status_code == 200
    for path in ("/", "/ledger", "/start", f"/x{first.session.path}/", first.session.path):
        assert first.request("GET", f"{ORIGIN}{path}", headers=held).status_code == 403


def test_looking_at_a_page_changes_nothing(visitor: Visitor, root: Path) -> None:
    number = _ready(visitor)
    told = {path: path.read_bytes() for path in root.parent.rglob("*") if path.is_file()}
    numbers = {"{draft}": number, "{place:int}": "1", "{job}": "0" * 12, "{name}": "duplicate"}
    shown = [route for one in PAGES for route in one.ROUTES if "GET" in (route.methods or ())]
    for route in shown:
        path = route.path
        for name, value in numbers.items():
            path = path.replace(name, value)
        assert visitor.get(f"{path}?folder=x&browse=&job=").status_code < 500, path
    assert len(shown) > 15
    assert {path: path.read_bytes() for path in root.parent.rglob("*") if path.is_file()} == told


def test_whatever_changes_something_is_a_post(visitor: Visitor) -> None:
    number = visitor.draft()
    for path in ("delete", "source", "code-book", "resume"):
        assert visitor.get(f"/drafts/{number}/{path}").status_code == 405
    assert visitor.get("/jobs/000000000000/cancel").status_code == 405
    assert visitor.studio.drafts.get(number)


def test_the_token_is_in_no_page_no_log_and_no_referrer(visit: Callable[..., Visitor], capfd: Any) -> None:
    first = visit(known=False)
    first.get(f"/start?token={first.session.token}x")
    answer = first.get(f"/start?token={first.session.token}")
    assert answer.text == ""
    assert answer.headers["location"] == "/"
    assert answer.headers["referrer-policy"] == "same-origin"
    page = first.get("/")
    assert first.session.token not in page.text
    assert first.session.token not in "".join(capfd.readouterr())


@for_each("text", ["a{{ 7 * 191 }}", "{% raise %}", "a${7*191}", "{{ draft.__class__ }}"])
def test_a_text_is_not_a_template(visitor: Visitor, root: Path, text: str) -> None:
    (root / "odd.csv").write_text(f"id,{text}\n1,x\n", encoding="utf-8")
    number = visitor.draft(source="odd.csv")
    visitor.send(f"/drafts/{number}/data", {"data:person": "id", "data:population": text})
    page = visitor.get(f"/drafts/{number}/columns").text
    assert "1337" not in page
    assert html.escape(text) in page


def test_a_hierarchy_is_no_other_file(visitor: Visitor, root: Path) -> None:
    number = visitor.draft()
    cells = {"cell/0/0": "F", "cell/0/1": "all"}
    for path in ("people.parquet", "certificate.json", "../out.csv", ".crowdblend-studio/drafts/x.csv"):
        assert visitor.send(f"/drafts/{number}/hierarchy/1", {**cells, "path": path}).status_code == 409
    for path in ("people.csv", "PEOPLE.CSV"):
        (root / path).write_text("id,sex\n1,F\n", encoding="utf-8")
        assert visitor.send(f"/drafts/{number}/hierarchy/1", {**cells, "path": path}).status_code == 409
        assert (root / path).read_text(encoding="utf-8") == "id,sex\n1,F\n"
    huge = {"cell/1999/11": "x", "cell/2000/0": "x"}
    assert visitor.send(f"/drafts/{number}/hierarchy/1", {**huge, "add": "check"}).status_code == 409


def test_a_pipe_is_not_waited_for(visitor: Visitor, root: Path) -> None:
    folder = root / "published"
    folder.mkdir()
    for name in ("certificate.json", "datapackage.json", "pipe.csv", "pipe.parquet", "pipe.toml", "pipe.csv.gz"):
        os.mkfifo(folder / name)
    (folder / "zero.csv").symlink_to("/dev/zero")
    assert visitor.get("/releases").status_code == 200
    assert visitor.get("/releases/folder?folder=published").status_code in (200, 409)
    number = visitor.draft()
    for name in ("pipe.csv", "pipe.parquet", "zero.csv", "pipe.csv.gz"):
        assert visitor.send(f"/drafts/{number}/source", {"source": f"published/{name}"}).status_code == 409
    sent = {"place": "1", "way": "hierarchy", "key:hierarchy": "published/pipe.csv", "key:level": "1"}
    visitor.send(f"/drafts/{number}/columns", sent)
    assert visitor.get(f"/drafts/{number}/hierarchy/1").status_code == 409
    assert visitor.send(f"/drafts/{number}/code-book", {"book": "published/pipe.csv"}).status_code == 409


async def _connections(port: int) -> list[bytes]:
    """What a server answers to somebody who is slow with the head, slow with the body, quick, and slow after that."""
    said, whole = [], b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"
    for sent in (b"GET / HT", b"", whole):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        said.append(await asyncio.wait_for(reader.read(100), 5))
        if sent == whole:
            writer.write(b"GET / HT")
            said.append(await asyncio.wait_for(reader.read(), 5))
        writer.close()
    return said


async def _served(ask: Callable[[int], Awaitable[list[bytes]]]) -> list[bytes]:
    """Return what somebody hears from a server that refuses everything."""
    guard = Guard(_nobody, Session(), PORT)
    config = uvicorn.Config(guard, http=studio_server.PromptProtocol, ws="none", lifespan="off", log_level="error")
    server = uvicorn.Server(config)
    with bound(0) as listening:
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        while not server.started:
            await asyncio.sleep(0.01)
        said = await ask(listening.getsockname()[1])
        server.should_exit = True
        await serving
    return said


def test_slow_clients_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(studio_server, "HEAD_WITHIN", 0.2)

    problems: list[object] = []
    monkeypatch.setattr(asyncio.BaseEventLoop, "call_exception_handler", lambda _, context: problems.append(context))
    slow, silent, quick, then_slow = asyncio.run(_served(_connections))
    assert slow == silent == b""
    assert quick.startswith(b"HTTP/1.1 421")
    assert b"HTTP/1.1" not in then_slow
    assert problems == []


@pytest.mark.parametrize("sent", [b"GET / HT", b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"])
def test_many_slow_clients_keep_nobody_out(sent: bytes) -> None:
    """Neither with half a head each, nor with connections that they keep open after an answer."""

    async def ask(port: int) -> list[bytes]:
        said = b""
        slow = [await asyncio.open_connection("127.0.0.1", port) for _ in range(150)]
        for _, writer in slow:
            writer.write(sent)
        await asyncio.sleep(0.1)
        reader, quick = await asyncio.open_connection("127.0.0.1", port)
        quick.write(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        with suppress(OSError):
            said = await asyncio.wait_for(reader.read(100), 5)
        first, last = (b"" if slow[at][0].at_eof() else b"open" for at in (0, -1))
        for _, writer in [*slow, (reader, quick)]:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
        return [said, first, last]

    quick, *open_ones = asyncio.run(_served(ask))
    assert quick.startswith(b"HTTP/1.1 421")
    assert open_ones == [b"", b"open"], "the oldest connections are closed"


@pytest.mark.parametrize("other", ["a[b]={1}; {own}", "{name}=theirs; {own}", "{own}; {name}=theirs", 'x="; {own}'])
def test_cookies_of_other_ports_lock_nobody_out(visitor: Visitor, other: str) -> None:
    name, cookie = f"crowdblend_studio_{PORT}", visitor.cookies[f"crowdblend_studio_{PORT}"]
    visitor.cookies.clear()
    sent = other.replace("{own}", f"{name}={cookie}").replace("{name}", name)
    assert visitor.get("/", headers={"cookie": sent}).status_code == 200
    assert visitor.get("/", headers={"cookie": sent.replace(cookie, "")}).status_code == 403
    assert visitor.get("/", headers={"cookie": sent.replace(cookie, cookie[:-1])}).status_code == 403


async def _nobody(*_: object) -> None:
    raise AssertionError("nothing is asked of the application")


def test_a_body_that_takes_too_long_is_not_waited_for(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(security, "BODY_WITHIN", 0.05)
    number = visitor.draft()

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(30)
        return {"type": "http.request"}

    read = security._bound_body(receive)
    assert asyncio.run(read())["type"] == "http.disconnect"
    assert visitor.studio.drafts.get(number)


OUTSIDE = {
    "a hierarchy": ('[columns]\nage = {{ hierarchy = "{secret}", level = 0 }}\n', 'design = "poisson"\nrate = 0.1'),
    "rates": (
        "[columns]\nage = {{ from = 0, to = 90, width = 10 }}\n",
        'design = "strata"\ncolumn = "sex"\nrates = "{secret}"',
    ),
    "a proposal": (
        '[columns]\nage = {{ from = 0, to = 90, width = 10 }}\n[release]\nformat = "csv"\n',
        'design = "poisson"\nrate = 0.1\n[privacy]\nproposed = "{secret}"',
    ),
}


@for_each("what", OUTSIDE)
def test_files_of_a_policy_outside_the_root_are_refused_unopened(visitor: Visitor, root: Path, what: str) -> None:
    """Whoever may open a policy learns neither whether such a file exists nor what its lines look like."""
    (root.parent / "there").write_text("a;b\na;c\n", encoding="utf-8")
    columns, sampling = OUTSIDE[what]
    answers = []
    for secret in ("../there", "../missing"):
        text = f'[data]\nsource = "people.csv"\nperson = "id"\n[sampling]\n{sampling}\n{columns}'.format(secret=secret)
        (root / "mine.toml").write_text(text + '[[publish]]\nkind = "table"\nk = 20\n', encoding="utf-8")
        for path, form in (("/drafts", {"policy": "mine.toml"}), (None, {"book": "mine.toml"})):
            answer = visitor.send(path or f"/drafts/{visitor.draft()}/code-book", form)
            assert answer.status_code == 409
            assert "leads out of the folder" in answer.text
            answers.append(re.sub(r"/drafts/\w+", "", answer.text))
        with refuses("studio.outside"):
            checked_policy("mine.toml", str(root))
    assert len(set(answers)) == 1
