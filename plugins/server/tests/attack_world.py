"""Two tenants with people of different tags and roles, and what each has: every text and id of it is told from others.

A canary is a word that stands in one document, question, title, file name or comment and nowhere else. Whose it is
decides who may ever see it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pymupdf
import yaml

from anabranch.ingestion.pipeline import ingest
from anabranch.store.protocol import Outlines, Scope
from anabranch.store.stores import open_corpus
from anabranch_server.identity import User
from anabranch_server.identity.api_keys import digest_of_secret, new_key

CANARY = re.compile(r"zq[0-9a-f]{10}")
TOKEN = re.compile(r"[0-9A-Za-z_-]{12,}")
"""What an id looks like: of a thread, a run, a checkpoint, a document, a passage."""

TAGS = ("hr", "board")
FACTS = {
    "hr": "The salary of the director is {} crowns a year.",
    "board": "The merger with Halden is planned for {}.",
    "": "The canteen opens at {} and serves bread.",
}
QUESTIONS = (
    "What is the salary of the director?",
    "When is the merger with Halden planned?",
    "When does the canteen open?",
)
MARK = b"sent by an attacker"


def canary(*what: str) -> str:
    """Return the word that stands for something."""
    return f"zq{hashlib.sha256('/'.join(what).encode()).hexdigest()[:10]}"


ACME, GLOBEX = (f"{name}-{canary('tenant', name)}" for name in ("acme", "globex"))


@dataclass
class Person:
    """Somebody with a key, the ids that are theirs, and all that they have sent, which they may see again.

    `kept` is what they leave alone, so that at the end it shows whether others did.
    """

    user: User
    key: str = field(default_factory=new_key)
    ids: dict[str, list[str]] = field(default_factory=dict)
    kept: set[str] = field(default_factory=set)
    sent: set[str] = field(default_factory=set)

    @property
    def headers(self) -> dict[str, str]:
        """What they are known by."""
        return {"Authorization": f"Bearer {self.key}"}

    def has(self, kind: str, *ids: str) -> None:
        """Note ids of theirs."""
        known = self.ids.setdefault(kind, [])
        known.extend(each for each in ids if each not in known)


def _person(tenant: str, identity: str, *access: str, roles: tuple[Any, ...] = ("ask",)) -> Person:
    return Person(User(identity=identity, tenant=tenant, access=access, roles=frozenset(roles)))


class World:
    """All of it, as folders for a server, and afterwards as what people of it asked there."""

    def __init__(self, home: Path) -> None:
        """Take an empty folder."""
        self.home = home
        # The two alices have one name and one tag, and share nothing.
        people = [
            _person(ACME, "alice", "hr"),
            _person(ACME, "bob", "board"),
            _person(ACME, "eve"),
            _person(ACME, "rita", "hr", roles=("ask", "ingest")),
            _person(ACME, "root", roles=("admin",)),
            _person(GLOBEX, "alice", "hr"),
            _person(GLOBEX, "gus", "board", roles=("ask", "ingest")),
        ]
        self.people: Mapping[str, Person] = {each.user.owner: each for each in people}
        self._readers: dict[str, frozenset[str]] = {}
        self.seen: dict[str, set[str]] = {owner: set() for owner in self.people}

    def belongs(self, what: str, *owners: str) -> str:
        """Note who may see a canary or an id."""
        self._readers[what.lower()] = frozenset(owners)
        return what

    def foreign(self, person: Person | None, text: str) -> set[str]:
        """Return what a text says that somebody may not see; None for somebody whom the server does not know."""
        found = {each.lower() for each in (*CANARY.findall(text.lower()), *TOKEN.findall(text))}
        owner = person.user.owner if person is not None else ""
        sent = person.sent if person is not None else set()
        self.seen.setdefault(owner, set()).update(found)
        return {each for each in found - sent if owner not in self._readers.get(each, {owner})}

    def is_foreign(self, person: Person | None, kind: str, value: str) -> bool:
        """Tell whether an id of a kind is somebody else's alone."""
        owner = person.user.owner if person is not None else ""
        is_one = any(value in each.ids.get(kind, []) for each in self.people.values())
        return is_one and owner not in self._readers.get(value.lower(), {owner})

    def saw_their_own(self) -> bool:
        """Tell whether everybody was shown the text of each document that they may read: else little was asked."""
        texts = {canary(tenant, tag, "text") for tenant in (ACME, GLOBEX) for tag in FACTS}
        mine = {owner: {each for each in texts if owner in self._readers[each]} for owner in self.people}
        asking = {owner for owner, each in self.people.items() if "admin" not in each.user.roles}
        return all(mine[owner] <= self.seen[owner] for owner in asking)

    def is_of_tenant(self, what: str, tenant: str) -> bool:
        """Tell whether something is of a tenant's people alone."""
        return all(self.people[owner].user.tenant == tenant for owner in self._readers.get(what, ()))

    def readers(self, tenant: str, tag: str) -> list[str]:
        """Return who may read the documents of a tag; of none, the whole tenant."""
        return [
            owner for owner, each in self.people.items()
            if each.user.tenant == tenant and (not tag or tag in each.user.access)
        ]  # fmt: skip

    def variables(self) -> dict[str, str]:
        """Return the environment of a server of theirs."""
        return {
            "ANABRANCH_AUTH": str(self.home / "auth.yaml"),
            "ANABRANCH_CORPUS": str(self.home / "corpora" / "{tenant}"),
            "ANABRANCH_INGEST_ROOT": str(self.home / "roots" / "{tenant}"),
            "ANABRANCH_LOCK": '["corpus", "model", "base_url", "model_kwargs", "rerank_model", "file_links"]',
            "ANABRANCH_FILE_LINKS": "false",
        }

    async def write(self) -> None:
        """Write the documents, take them in, and write who may use the server."""
        for tenant in (ACME, GLOBEX):
            self.belongs(tenant.partition("-")[2], *self.readers(tenant, ""))
            (self.home / "roots" / tenant).mkdir(parents=True)
            (self.home / "roots" / tenant / "leave.md").write_text("# Leave\n\nThe director is away in June.\n")
            for tag in FACTS:
                await self._document(tenant, tag)
        keys = [
            {**each.user.model_dump(mode="json", exclude_none=True), "sha256": digest_of_secret(each.key)}
            for each in self.people.values()
        ]
        proxy = {"identity": "X-Forwarded-User", "tenant": "X-Forwarded-Tenant", "access": "X-Forwarded-Groups",
                 "secret_header": "X-Proxy-Secret", "secret_sha256": digest_of_secret(new_key())}  # fmt: skip
        (self.home / "auth.yaml").write_text(yaml.safe_dump({"keys": keys, "proxy": proxy}))

    async def _document(self, tenant: str, tag: str) -> None:
        readers = self.readers(tenant, tag)
        words = {what: self.belongs(canary(tenant, tag, what), *readers) for what in ("text", "title", "name", "pdf")}
        folder = self.home / "documents" / tenant / (tag or "all")
        folder.mkdir(parents=True)
        text = f"# {words['title']}\n\n{FACTS[tag].format(words['text'])}\n"
        (folder / f"{words['name']}.md").write_text(text)
        if tag == "hr":
            pdf: Any = pymupdf.open()
            pdf.new_page().insert_text((50, 80), f"The pension of the director is {words['pdf']} crowns.")
            pdf.save(folder / f"{words['name']}.pdf")
            pdf.close()
        place = self.home / "corpora" / tenant
        ingest([folder], place, access=(tag,) if tag else ())
        # Those of this tag alone: without any tag one sees what is everybody's.
        reader = await open_corpus(str(place))
        assert isinstance(reader, Outlines)
        for each in await reader.outlines(Scope(access=(tag,) if tag else ()), 100):
            found = await reader.leaves([each.doc_id], Scope(access=(tag,)), 100)
            if each.doc_id in self._readers:
                continue
            for owner in readers:
                self.people[owner].has("doc_id", each.doc_id)
                self.people[owner].has("chunk_id", *found.get(each.doc_id, []))
            for key in (each.doc_id, *found.get(each.doc_id, [])):
                self.belongs(key, *readers)

    async def live(self, http: httpx.AsyncClient) -> None:
        """Have everybody ask, say something of the answer, and send a file."""
        for owner, person in self.people.items():
            private = {what: self.belongs(canary(owner, what), owner) for what in ("asked", "note", "file", "said")}
            for thread in [await self._thread(http, person, private) for _ in range(2)]:
                person.has("thread_id", thread)
                run = await self._asked(http, person, thread, private["asked"])
            person.kept.add(person.ids["thread_id"][0])
            opinion = {"thread_id": thread, "run_id": run, "verdict": "right", "comment": private["said"]}
            await _ok(http.post("/feedback", json=opinion, headers=person.headers))
            if person.user.roles & {"ingest", "admin"}:
                name = f"{private['file']}.md"
                sent = {"files": (name, f"The secret is {canary(owner, 'sent')}.".encode())}
                self.belongs(canary(owner, "sent"), owner)
                reply = await _ok(http.post("/uploads", files=sent, headers=person.headers))
                person.has("path", *reply.json()["paths"])

    async def _texts(self, tenant: str) -> str:
        """Return all that a tenant's corpus holds, under whatever tags."""
        reader = await open_corpus(str(self.home / "corpora" / tenant))
        assert isinstance(reader, Outlines)
        every = Scope(access=(*TAGS, "admin", "*", ""))
        leaves = await reader.leaves([each.doc_id for each in await reader.outlines(every, 1000)], every, 1000)
        found = await reader.chunks([key for keys in leaves.values() for key in keys], every)
        return " ".join(each.text for each in found.values())

    async def _thread(self, http: httpx.AsyncClient, person: Person, private: Mapping[str, str]) -> str:
        given = {"metadata": {"note": private["note"]}}
        made = await _ok(http.post("/threads", json=given, headers=person.headers))
        return self.belongs(made.json()["thread_id"], person.user.owner)

    async def _asked(self, http: httpx.AsyncClient, person: Person, thread: str, word: str) -> str:
        """Ask on a thread; note the run and the checkpoints, and return the run."""
        asked = {"assistant_id": "answer", "input": {"question": f"{QUESTIONS[0]} {word}"}}
        done = await _ok(http.post(f"/threads/{thread}/runs/wait", json=asked, headers=person.headers))
        run = self.belongs(done.headers["content-location"].rpartition("/")[2], person.user.owner)
        person.has("run_id", run)
        past = await _ok(http.post(f"/threads/{thread}/history", json={"limit": 30}, headers=person.headers))
        for state in past.json():
            person.has("checkpoint_id", self.belongs(state["checkpoint"]["checkpoint_id"], person.user.owner))
        return run

    async def untouched(self, http: httpx.AsyncClient) -> None:
        """See that everybody still has what they had."""
        for owner, person in self.people.items():
            (thread,) = person.kept
            state = await _ok(http.get(f"/threads/{thread}/state", headers=person.headers))
            assert canary(owner, "asked") in state.text
            assert canary(owner, "note") in (await http.get(f"/threads/{thread}", headers=person.headers)).text
            for path in person.ids.get("path", [])[:1]:
                kept = self.home / "roots" / str(person.user.tenant) / path
                assert canary(owner, "sent") in kept.read_text()
        for tenant in (ACME, GLOBEX):
            texts = await self._texts(tenant)
            # A file that somebody sent is in no corpus, for nobody but they may take it in, and they did not.
            assert not [owner for owner in self.people if canary(owner, "sent") in texts]
        for file in (self.home / "roots").rglob("*"):
            if file.is_file() and MARK in (content := file.read_bytes()):
                sender = self.people[content.rpartition(b" ")[2].decode()]
                own = self.home / "roots" / str(sender.user.tenant) / Path(sender.ids["path"][0]).parent
                assert file.parent == own, file


async def _ok(sent: Any) -> httpx.Response:
    reply: httpx.Response = await sent
    assert reply.status_code < 300, reply.text[:500]
    return reply
