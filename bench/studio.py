"""What the studio costs: processor time to start, for a page, and for a change of the plan. JSON on stdout."""

from __future__ import annotations

import asyncio
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx

ORIGIN = "http://127.0.0.1:8765"
HEADERS = {"sec-fetch-site": "same-origin", "origin": ORIGIN, "hx-request": "true"}
CHANGES = 20


def start_up(root: Path) -> float:
    """Seconds of processor time until the address is printed."""
    command = [sys.executable, "-m", "crowdblend", "studio", "--root", str(root), "--port", "0", "--json"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    process.terminate()
    process.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


async def pages(root: Path) -> dict[str, float]:
    """Seconds of processor time for the columns of a wide file, and for one change of the plan."""
    from crowdblend.studio.app import application  # noqa: PLC0415
    from crowdblend.studio.places import Root  # noqa: PLC0415
    from crowdblend.studio.security import Guard, Session  # noqa: PLC0415
    from crowdblend.studio.studio import Studio  # noqa: PLC0415

    session = Session()
    guard = Guard(application(Studio.at(Root.at(root), root / "state", ledger=str(root / "ledger.db"))), session, 8765)
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(guard), base_url=ORIGIN + session.path, headers=HEADERS
    ) as client:
        await client.get(f"/start?token={session.token}")
        first = (await client.get("/", headers={"hx-request": "false"})).text
        loaded = sorted(set(re.findall(r'(?:src|href)="([^"]*/static/[^"]*)"', first)))
        sizes = [len(first.encode()), *[len((await client.get(ORIGIN + one)).content) for one in loaded]]
        began = await client.post("/drafts", data={"kind": "table"})
        number = began.headers["location"].split("/drafts/")[1].split("/")[0]
        started = time.process_time()
        await client.post(f"/drafts/{number}/source", data={"source": "wide.csv"})
        await client.post(f"/drafts/{number}/data", data={"data:person": "id", "data:population": "town"})
        for place in range(1, 21):
            sent = {"place": str(place), "way": "width", "key:from": "0", "key:to": "10", "key:width": "5"}
            await client.post(f"/drafts/{number}/columns", data=sent)
        await client.get(f"/drafts/{number}/columns")
        wide = time.process_time() - started
        await client.post(f"/drafts/{number}/release", data={"release:epsilon": "1"})
        started = time.process_time()
        for change in range(CHANGES):
            answer = await client.post(f"/drafts/{number}/release", data={"release:epsilon": str(1 + change / 100)})
            assert answer.status_code == 200
        plan = (time.process_time() - started) / CHANGES
        page = {"first_page_requests": len(sizes), "first_page_bytes": sum(sizes)}
        return {"twenty_columns": wide, "plan_update": plan, **page}


def main() -> None:
    """Measure on a file of 1.4 million rows and 21 columns, of which only the first lines are read."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        names = ["id", *(f"column_{number}" for number in range(20))]
        with (root / "wide.csv").open("w", encoding="utf-8") as file:
            file.write(",".join(names) + "\n")
            line = ",".join(["7"] * 20) + "\n"
            for block in range(140):
                file.write("".join(f"{block * 10_000 + at},{line}" for at in range(10_000)))
        size = os.path.getsize(root / "wide.csv")
        print(json.dumps({"bytes": size, "start": start_up(root), **asyncio.run(pages(root))}))


if __name__ == "__main__":
    main()
