"""Fifty annotators at once on the real portal: who waits how long, and does the count add up.

`tests/postgres.sh .venv/bin/python benchmarks/portal_load.py` runs the portal as its own process over SQLite and over
PostgreSQL, lets real HTTP clients take, save and judge until every draft is settled, and prints a Markdown table. Each
database is run three times: at the pace of people (a pause between acts), without any pause, and with the server
killed (SIGKILL) in the middle and started again. It checks its own claim: no work with two owners, no decision lost or
doubled, the sums equal. PostgreSQL's address comes from TAXPRABEN_TEST_POSTGRES, which `tests/postgres.sh` sets.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]


@dataclass
class Outcome:
    """What the clients saw: milliseconds by act, and acts by kind."""

    times: dict[str, list[float]] = field(default_factory=dict)
    judged: Counter[str] = field(default_factory=Counter)
    owners: dict[int, set[str]] = field(default_factory=dict)
    retries: int = 0
    unexpected: Counter[str] = field(default_factory=Counter)

    def note(self, act: str, seconds: float) -> None:
        """Keep how long one act took."""
        self.times.setdefault(act, []).append(seconds * 1000)


def percentile(values: list[float], share: float) -> float:
    """The value below which this share lies (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


class Server:
    """The portal as a process of its own."""

    def __init__(self, folder: Path, url: str, workers: int) -> None:
        self.folder, self.url, self.workers = folder, url, workers
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it answers."""
        command = [sys.executable, "-c", "from cli.main import main; main()", "portal", "--port", str(self.port)]
        if self.workers > 1:
            command += ["--workers", str(self.workers)]
        environment = {**os.environ, "TAXPRABEN_QUEUE_URL": self.url, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
        with (self.folder / "portal.log").open("ab") as log:
            self.process = subprocess.Popen(
                command, cwd=self.folder, env=environment, stderr=log, stdout=log, start_new_session=True
            )
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise SystemExit(f"The portal ended: {(self.folder / 'portal.log').read_text()[-2000:]}")
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.1)
        raise SystemExit("The portal did not answer within a minute")

    def kill(self, sign: signal.Signals = signal.SIGKILL) -> None:
        """End the whole process group, by default as a power cut would."""
        if self.process is not None:
            os.killpg(self.process.pid, sign)
            self.process.wait()


def prepare(url: str, people: int, items: int) -> list[str]:
    """A fresh queue with people and drafts; returns a session's secret for each person."""
    from taxpraben.queue.intake import bring_in, set_policy
    from taxpraben.queue.people import add_person, hash_password, open_session
    from taxpraben.queue.policy import Policy
    from taxpraben.queue.store import open_queue
    from taxpraben.records.content import Content
    from taxpraben.records.document import Document
    from taxpraben.records.draft import Draft

    queue = open_queue(url)
    set_policy(queue, Policy(spot_checks=0, claim_minutes=120))
    text = "岚江市的企业应当按月申报。逾期未申报的，应当补缴税款。" * 20
    document = Document(
        document_id="doc-000000000001", pipeline="official", kind="official", source="load", origin="page-1",
        title="岚江市税务通知", text=text, parts=[], digest="d",
    )  # fmt: skip
    drafts = [
        Draft(
            draft_id=f"TaxQA-{number:012x}", task="TaxQA", document_id=document.document_id, origin="page-1",
            slot=f"第{number}条", method="model", status="drafted",
            content=Content(text=f"第{number}问：逾期未申报的企业怎么办？", answer="应当补缴税款。"),
        )
        for number in range(items)
    ]  # fmt: skip
    bring_in(queue, drafts, [document])
    hashed = hash_password("a long password")
    names = [f"a{number:03d}" for number in range(people)]
    with queue.write() as session:
        for name in names:
            add_person(session, queue.now(), name, "annotator", hashed, "load")
    secrets = [open_session(queue, name) for name in names]
    queue.close()
    return secrets


class Annotator:
    """One person: takes an item, types in it (three saves), judges it; until nothing is open."""

    def __init__(self, number: int, secret: str, base: str, pause: tuple[float, float], outcome: Outcome) -> None:
        self.name, self.secret, self.base, self.pause, self.outcome = f"a{number:03d}", secret, base, pause, outcome
        self.chance = random.Random(number)

    async def run(self, session) -> None:  # type: ignore[no-untyped-def]
        """Work until the queue is empty."""
        self.session = session
        if self.pause[1]:
            await asyncio.sleep(self.chance.uniform(0, self.pause[1] * 2))
        page, _ = await self.get("/queue", "queue page")
        csrf = found(page, r'name="csrf" value="([^"]*)"')
        place = await self.post("claim", "/queue/take", {"csrf": csrf, "count": "1"})
        while place.startswith("/pieces/"):
            work = int(found(place, r"/pieces/(\d+)"))
            page, final = await self.get(place, "item page")
            version = int(found(page, r'name="version" value="(\d+)"') or 0)
            if 'name="answer"' not in page:
                self.outcome.unexpected[f"{final} is no item in hand"] += 1
                place = await self.post("claim", "/queue/take", {"csrf": csrf, "count": "1"})
                continue
            self.outcome.owners.setdefault(work, set()).add(self.name)
            text, answer = "第一问：逾期未申报的企业怎么办？", "应当补缴税款"
            for _ in range(3):
                await self.think()
                answer += "、滞纳金"
                version = await self.save(work, version, {"text": text, "answer": answer}, csrf)
            await self.think()
            act = self.chance.choice(["accept", "fix", "reject"])
            form = {"csrf": csrf, "act": act, "version": str(version), "text": text, "answer": answer}
            if act == "reject":
                form["reject_other"] = "与原文不符"
            place = await self.post("judge", f"/pieces/{work}/judge", form)
            self.outcome.judged[act] += 1
            await self.think()

    async def think(self) -> None:
        """The pause of a person between two acts."""
        if self.pause[1]:
            await asyncio.sleep(self.chance.uniform(*self.pause))

    async def send(self, act: str, method: str, path: str, **more):  # type: ignore[no-untyped-def]
        """One request; asked again while the server is down, as a page's outbox does."""
        import aiohttp

        while True:
            began = time.perf_counter()
            try:
                async with self.session.request(
                    method, self.base + path, allow_redirects=False,
                    cookies={"taxpraben_session": self.secret}, **more,
                ) as answer:  # fmt: skip
                    body = await answer.text()
                    self.outcome.note(act, time.perf_counter() - began)
                    if answer.status >= 500:
                        self.outcome.unexpected[f"{act}: {answer.status}"] += 1
                    return answer.status, answer.headers.get("Location", ""), body
            except (TimeoutError, aiohttp.ClientError, ConnectionError):
                self.outcome.retries += 1
                await asyncio.sleep(0.2)

    async def get(self, path: str, act: str) -> tuple[str, str]:
        """A page and where it was found."""
        _, onward, body = await self.send(act, "GET", path)
        return (await self.get(onward, act)) if onward else (body, path)

    async def post(self, act: str, path: str, form: dict[str, str]) -> str:
        """Send a form; returns where it leads."""
        status, onward, _ = await self.send(act, "POST", path, data=form)
        if status != 303:
            self.outcome.unexpected[f"{act}: {status}"] += 1
            # A judgement that was taken just before the server fell: its answer was lost, the work is not.
            return "/queue" if "/judge" not in path else await self.post("claim", "/queue/take", {**form, "count": "1"})
        if onward.startswith("/queue") and "/judge" in path:
            return await self.post("claim", "/queue/take", {"csrf": form["csrf"], "count": "1"})
        return onward.split("?")[0]

    async def save(self, work: int, version: int, form: dict[str, str], csrf: str) -> int:
        """Save what is typed; returns the version to name next."""
        headers = {"X-CSRF-Token": csrf, "Accept": "application/json"}
        status, _, body = await self.send(
            "save", "POST", f"/pieces/{work}/save", json={"version": version, "form": form}, headers=headers
        )
        said = json.loads(body)
        if status != 200:
            # After a kill a save may have been kept whose answer was lost: the next one is told of it, as a page is.
            self.outcome.unexpected[f"save: {said.get('kind', status)}"] += 1
        return int(said.get("version", version))


def found(text: str, pattern: str) -> str:
    """The first group of a pattern in a text, or nothing."""
    match = re.search(pattern, text)
    return match[1] if match else ""


async def work(server: Server, secrets: list[str], pause: tuple[float, float], kill_after: float) -> Outcome:
    """Let everybody work until the queue is empty."""
    import aiohttp

    outcome = Outcome()
    connector = aiohttp.TCPConnector(limit=len(secrets))
    timeout = aiohttp.ClientTimeout(total=60)
    async with aiohttp.ClientSession(
        connector=connector, cookie_jar=aiohttp.DummyCookieJar(), timeout=timeout
    ) as session:
        people = [
            Annotator(number, secret, f"http://127.0.0.1:{server.port}", pause, outcome)
            for number, secret in enumerate(secrets)
        ]
        tasks = [asyncio.create_task(person.run(session)) for person in people]
        if kill_after:
            await asyncio.sleep(kill_after)
            server.kill()
            await asyncio.to_thread(server.start)
        await asyncio.gather(*tasks)
    return outcome


def count_up(url: str, items: int, outcome: Outcome, killed: bool) -> list[str]:
    """What does not add up; empty where everything does."""
    from sqlalchemy import func, select

    from taxpraben.queue.intake import export_decisions
    from taxpraben.queue.store import open_queue
    from taxpraben.queue.tables import Audit, Save, Work

    queue = open_queue(url)
    decisions = export_decisions(queue)
    with queue.read() as session:
        submitted = session.scalar(select(func.count()).select_from(Audit).where(Audit.act == "submitted")) or 0
        doubled = session.execute(
            select(Audit.work_id).where(Audit.act == "claimed").group_by(Audit.work_id).having(func.count() > 1)
        ).all()
        kept = session.scalar(select(func.count()).select_from(Save).where(Save.kind == "save")) or 0
        finished = session.scalar(
            select(func.count()).select_from(Work).where(Work.state.in_(("accepted", "rejected")))
        )
    queue.close()
    problems = []
    if len({row.draft_id for row in decisions}) != items or finished != items:
        problems.append(f"{len(decisions)} decisions, {finished} works settled of {items}")
    if submitted != items:
        problems.append(f"{submitted} submissions in the audit log, {items} expected")
    if doubled:
        problems.append(f"{len(doubled)} works were claimed twice")
    two = [work for work, names in outcome.owners.items() if len(names) > 1]
    if two:
        problems.append(f"{len(two)} works had two owners")
    if not killed and sum(outcome.judged.values()) != items:
        problems.append(f"clients judged {sum(outcome.judged.values())} of {items}")
    if not killed and kept != items * 4:  # three saves and the text that the judgement keeps
        problems.append(f"{kept} texts kept, {items * 4} expected")
    if not killed and outcome.unexpected:
        problems.append(f"unexpected: {dict(outcome.unexpected)}")
    return problems


def fresh(url: str) -> None:
    """Empty a PostgreSQL database."""
    from sqlalchemy import create_engine, text

    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    engine.dispose()


def run_once(database: str, url: str, arguments: argparse.Namespace, manner: str) -> tuple[list[str], list[str]]:
    """One row of the table, and what did not add up."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "params.yaml").write_text("profile: load\nprofiles: {load: {}}\n", encoding="utf-8")
        if database == "SQLite":
            url = f"sqlite:///{folder / 'queue.sqlite'}"
        else:
            fresh(url)
        items = arguments.items
        secrets = prepare(url, arguments.people, items)
        server = Server(folder, url, arguments.workers if database == "PostgreSQL" else 1)
        server.start()
        # Half the pauses where the server is killed: that row is about the sums.
        share = {"pauses": 1.0, "no pause": 0.0, "killed": 0.5}[manner]
        pause = (arguments.least_pause * share, arguments.most_pause * share)
        began = time.monotonic()
        try:
            outcome = asyncio.run(work(server, secrets, pause, arguments.kill_after if manner == "killed" else 0))
        finally:
            server.kill(signal.SIGTERM)
        wall = time.monotonic() - began
        problems = count_up(url, items, outcome, manner == "killed")
    requests = sum(len(times) for times in outcome.times.values())
    cells = [database, manner, str(items), f"{wall:.0f} s", f"{requests / wall:.0f}"]
    for act in ("claim", "save", "judge", "item page"):
        times = outcome.times.get(act, [])
        cells.append(f"{percentile(times, 0.5):.0f} / {percentile(times, 0.95):.0f}" if times else "")
    cells.append("; ".join(problems) or "adds up")
    if outcome.retries:
        cells[-1] += f" ({outcome.retries} requests asked again)"
    return cells, problems


def main() -> None:
    """Run what is asked for and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--least-pause", type=float, default=0.5, help="seconds between two acts of a person")
    parser.add_argument("--most-pause", type=float, default=1.0)
    parser.add_argument("--workers", type=int, default=1, help="server processes over PostgreSQL")
    parser.add_argument("--kill-after", type=float, default=15.0, help="seconds until the server is killed")
    parser.add_argument("--only", choices=["SQLite", "PostgreSQL"], help="one database")
    parser.add_argument("--manner", choices=["pauses", "no pause", "killed"], action="append")
    arguments = parser.parse_args()
    postgres = os.environ.get("TAXPRABEN_TEST_POSTGRES", "")
    databases = [name for name in ("SQLite", "PostgreSQL") if arguments.only in (None, name)]
    if not postgres and "PostgreSQL" in databases:
        print("PostgreSQL is left out: run with `tests/postgres.sh` before the command", file=sys.stderr)
        databases.remove("PostgreSQL")
    print(f"{arguments.people} people; p50 / p95 in milliseconds\n")
    print("| database | manner | items | wall | requests a second | claim | save | judge | item page | sums |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|---|")
    wrong = False
    for database in databases:
        for manner in arguments.manner or ["pauses", "no pause", "killed"]:
            cells, problems = run_once(database, postgres, arguments, manner)
            print("| " + " | ".join(cells) + " |", flush=True)
            wrong = wrong or bool(problems)
    if wrong:
        sys.exit("The sums do not add up")


if __name__ == "__main__":
    main()
