"""The difference of the clocks, told by any answer."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from stager.storage.options import StorageOptions
from stager.storage.skew import ahead


@pytest.mark.parametrize("skew", [0, 1200, -90])
def test_an_answer_that_refuses_tells_the_time_too(skew: int) -> None:
    class Refusing(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.send_error(403)

        def date_time_string(self, timestamp: float | None = None) -> str:
            import time

            return super().date_time_string(time.time() - skew)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        options = StorageOptions(endpoint=f"http://127.0.0.1:{server.server_address[1]}")
        found = ahead("s3://bucket/team", options)
        server.shutdown()
        thread.join()
    assert found is not None
    assert abs(found - skew) < 2


def test_no_answer_and_no_server_tell_nothing() -> None:
    assert ahead("s3://bucket", StorageOptions(endpoint="http://127.0.0.1:1")) is None
    assert ahead("file:///data", StorageOptions()) is None
    assert ahead("memory://x", StorageOptions()) is None
