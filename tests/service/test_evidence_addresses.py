"""Evidence is fetched from hosts on the list alone, and never from an address that is not public."""

from __future__ import annotations

import pytest
from served import served

from disputatio._service.fetching import fetch, is_public
from disputatio._service.problems import RefusedError


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.1.2.3", "100.64.0.1"),
        *("224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fc00::1", "ff02::1", "::ffff:127.0.0.1"),
        *("::ffff:10.0.0.1", "2002:7f00:1::", "192.0.2.1", "198.18.0.1", "240.0.0.1"),
    ],
)
def test_an_address_that_not_everybody_has_is_private(address):
    assert not is_public(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "93.184.216.34", "2606:4700:4700::1111", "::ffff:1.1.1.1"])
def test_an_address_of_the_internet_is_public(address):
    assert is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        *(
            "http://example.com/",
            "https://EXAMPLE.com.evil.example/",
            "https://user@allowed.example/",
            "file:///etc/passwd",
        ),
        *(
            "ftp://allowed.example/",
            "http://allowed.example:22/",
            "http://[::1/",
            "http://",
            "gopher://allowed.example",
        ),
        "http://allowed.example\\@evil.example/",
    ],
)
async def test_a_host_that_is_not_on_the_list_is_not_asked(url):
    with pytest.raises(RefusedError) as refused:
        await fetch(url, frozenset({"allowed.example"}), 1_000)
    assert refused.value.status == 422
    assert "not fetched" in refused.value.cause or "no address" in refused.value.cause


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
async def test_a_host_on_the_list_with_a_private_address_is_not_asked_either(host):
    with pytest.raises(RefusedError, match="not public"):
        await fetch(f"http://{host}/", frozenset({"localhost", "127.0.0.1", "::1"}), 1_000)


@pytest.mark.slow
async def test_without_a_list_nothing_is_fetched_at_all(tmp_path):
    async with served(tmp_path) as here, here.client() as client:
        answer = await client.post("/v1/evidence/fetch", json={"url": "https://example.com/a.html"})
        assert answer.status_code == 422
        assert "--allow-host" in answer.json()["next_step"]


@pytest.mark.slow
async def test_the_reference_of_the_api_is_the_one_the_application_writes():
    import asyncio
    from pathlib import Path

    from disputatio._service.reference import reference

    written = (Path(__file__).parents[2] / "docs/reference/http-api.md").read_text("utf-8")
    assert written == await asyncio.to_thread(reference), (
        "python -m disputatio._service.reference > docs/reference/http-api.md"
    )
