"""The faults, each by the name that the table in docs/faults.md gives it.

A fault has up to three moments: `reading` the request's body, `instead` of forwarding, and
`after` the server answered. `applies` says which requests it can befall.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

from tests.support.faults.exchange import Answer, End, Pace, Request

Applies = Callable[[Request], bool]
Instead = Callable[[Request], Answer | None]
After = Callable[[Request, Answer], Answer]


def anything(request: Request) -> bool:
    """Every request."""
    return True


def gets(request: Request) -> bool:
    """Objects and ranges of objects."""
    return request.is_get


def lists(request: Request) -> bool:
    """Pages of listings."""
    return request.is_list


def writes(request: Request) -> bool:
    """Whatever carries a body to the server."""
    return request.method in ("PUT", "POST") and request.header("content-length") not in ("", "0")


def changes(request: Request) -> bool:
    """Whatever leaves something behind at the server."""
    return request.method in ("PUT", "POST", "DELETE")


def puts(request: Request) -> bool:
    """Whole objects that are written."""
    return request.method == "PUT" and not request.query


def answers_body(request: Request) -> bool:
    """What is answered with a body: objects and listings."""
    return request.is_get or request.is_list


def ranges(request: Request) -> bool:
    """GETs with a range."""
    return request.is_get and bool(request.header("range"))


@dataclass(frozen=True)
class Upload:
    """How much of a request's body is taken, at which pace, and what happens then."""

    stop_at: int | None = None
    end: End = End.KEEP
    pace: Pace | None = None


@dataclass(frozen=True)
class Fault:
    """One way to misbehave."""

    name: str
    applies: Applies = anything
    upload: Upload = Upload()
    instead: Instead | None = None
    after: After | None = None


def _xml(code: str, message: str) -> bytes:
    text = f"<Code>{code}</Code><Message>{message}</Message><RequestId>0</RequestId>"
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<Error>{text}</Error>'.encode()


def refusal(status: int, code: str, message: str = "by order") -> Answer:
    """An error as S3 writes one: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html"""
    headers = [("Content-Type", "application/xml"), ("Server", "fault-proxy")]
    return Answer(status, code, headers, _xml(code, message))


def refused(name: str, status: int, code: str, applies: Applies = anything) -> Fault:
    """The proxy answers an error itself and forwards nothing."""
    return Fault(name, applies, instead=lambda _: refusal(status, code))


def clock_skew(seconds: float = 1200.0) -> Fault:
    """403 RequestTimeTooSkewed, from a server whose Date is off by so many seconds."""

    def answer(_: Request) -> Answer:
        now = format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)
        return refusal(403, "RequestTimeTooSkewed").with_header("Date", now)

    return Fault("clock skew", instead=answer)


def redirected(status: int, to: str) -> Fault:
    """A redirect to another endpoint, without the region that would explain it."""

    def answer(request: Request) -> Answer:
        code = {301: "PermanentRedirect", 307: "TemporaryRedirect"}[status]
        return refusal(status, code).with_header("Location", to + request.target)

    return Fault(f"{status} redirect", instead=answer)


def reset_download(at: int) -> Fault:
    """The connection is reset when `at` bytes of the answer's body have been sent."""
    return Fault("reset in the answer", answers_body, after=_ends(at, End.RESET))


def stalled_download(at: int) -> Fault:
    """After `at` bytes of the answer's body nothing comes any more."""
    return Fault("stall in the answer", answers_body, after=_ends(at, End.STALL))


def short_body(missing: int = 1) -> Fault:
    """The right Content-Length, and a connection closed some bytes before."""

    def after(_: Request, answer: Answer) -> Answer:
        stop = max(0, len(answer.body) - missing)
        return replace(answer, stop_at=stop, end=End.CLOSE)

    return Fault("short body", answers_body, after=after)


def silent() -> Fault:
    """The request is taken and never answered."""
    return Fault("no answer", upload=Upload(end=End.STALL))


def reset_upload(at: int) -> Fault:
    """The connection is reset when `at` bytes of the request's body have come."""
    return Fault("reset in the upload", writes, upload=Upload(at, End.RESET))


def stalled_upload(at: int) -> Fault:
    """After `at` bytes of the request's body nothing is read any more."""
    return Fault("stall in the upload", writes, upload=Upload(at, End.STALL))


def wrong_length(by: int) -> Fault:
    """A Content-Length that is wrong by so many bytes; the body is whole."""

    def after(_: Request, answer: Answer) -> Answer:
        declared = max(0, len(answer.body) + by)
        stop = min(len(answer.body), declared)
        return replace(answer, declared=declared, stop_at=stop, end=End.CLOSE)

    which = "long" if by > 0 else "short"
    return Fault(f"Content-Length too {which}", answers_body, after=after)


def flipped_byte(at: int = -10) -> Fault:
    """One bit of the body is another, its length the same; a second byte is never hit."""

    def after(_: Request, answer: Answer) -> Answer:
        if not answer.body or answer.status >= 300:
            return answer
        body = bytearray(answer.body)
        body[at % len(body)] ^= 1
        return replace(answer, body=bytes(body))

    return Fault("flipped byte", gets, after=after)


def whole_object(whole: Callable[[str], bytes]) -> Fault:
    """200 with the whole object for a range. `whole` gives the object at a path."""

    def after(request: Request, answer: Answer) -> Answer:
        kept = [pair for pair in answer.headers if pair[0].lower() != "content-range"]
        return replace(answer, status=200, reason="OK", headers=kept, body=whole(request.path))

    return Fault("200 for a range", ranges, after=after)


def lying_range(whole: Callable[[str], bytes]) -> Fault:
    """206 and the Content-Range that was asked for, over the object's first bytes."""

    def after(request: Request, answer: Answer) -> Answer:
        size = len(answer.body)
        return replace(answer, body=whole(request.path)[:size])

    return Fault("206 with other bytes", ranges, after=after)


def other_range(whole: Callable[[str], bytes]) -> Fault:
    """206 with the whole object, which its Content-Range says."""

    def after(request: Request, answer: Answer) -> Answer:
        body = whole(request.path)
        said = f"bytes 0-{len(body) - 1}/{len(body)}"
        return replace(answer, body=body).with_header("Content-Range", said)

    return Fault("206 with the whole object", ranges, after=after)


def torn_listing() -> Fault:
    """XML that ends in the middle, with the length it has."""

    def after(_: Request, answer: Answer) -> Answer:
        return replace(answer, body=answer.body[: len(answer.body) * 2 // 3])

    return Fault("torn listing", lists, after=after)


def repeated_keys() -> Fault:
    """Every key of the page twice."""

    def after(_: Request, answer: Answer) -> Answer:
        again = re.sub(rb"(<Contents>.*?</Contents>)", rb"\1\1", answer.body, flags=re.DOTALL)
        return replace(answer, body=again)

    return Fault("repeated keys", lists, after=after)


AGAIN = "the-same-page-again"


class Pages:
    """Listings that go on with the page they began with, once or for ever."""

    def __init__(self, endless: bool) -> None:
        self._endless = endless
        self._pages: dict[str, Answer] = {}

    def fault(self) -> Fault:
        """The fault of this listing."""
        name = "endless listing" if self._endless else "repeated page"
        return Fault(name, lists, instead=self.instead, after=self.after)

    def instead(self, request: Request) -> Answer | None:
        """The page that was given before, for whoever asks to go on with it."""
        if request.query.get("continuation-token") != AGAIN:
            return None
        page = self._pages[request.query.get("prefix", "")]
        return self._more(page) if self._endless else page

    def after(self, request: Request, answer: Answer) -> Answer:
        """The page, saying that there is more; one without keys is left alone.

        obstore would ask for the next of those by itself, for ever, and rightly: a store may
        answer with pages of nothing while it reads past what was deleted.
        """
        if answer.status != 200 or b"<Contents>" not in answer.body:
            return answer
        self._pages[request.query.get("prefix", "")] = answer
        return self._more(answer)

    def _more(self, answer: Answer) -> Answer:
        token = f"<NextContinuationToken>{AGAIN}</NextContinuationToken>".encode()
        body = answer.body.replace(b"<IsTruncated>false<", b"<IsTruncated>true<")
        body = re.sub(rb"<NextContinuationToken>.*?</NextContinuationToken>", b"", body)
        return replace(
            answer, body=body.replace(b"</ListBucketResult>", token + b"</ListBucketResult>")
        )


def replaced(replace_object: Callable[[str], None]) -> Fault:
    """The object is replaced before the request is forwarded."""

    def instead(request: Request) -> None:
        replace_object(request.path)

    return Fault("object replaced", ranges, instead=instead)


def lost_answer() -> Fault:
    """The server does it, and the connection is reset before it can say so."""

    def after(_: Request, answer: Answer) -> Answer:
        return replace(answer, status=0, end=End.RESET)

    return Fault("answer lost", changes, after=after)


def lying_put() -> Fault:
    """200 to a write that never happens."""

    def answer(_: Request) -> Answer:
        return Answer(200, "OK", [("ETag", '"0"')])

    return Fault("200 to a lost write", puts, instead=answer)


def slow(rate: float, pause_after: int = 0, pause_seconds: float = 0.0) -> Fault:
    """All bodies share so many bytes per second, both ways together; see Pace for pauses."""
    pace = Pace(rate, pause_after, pause_seconds)

    def after(_: Request, answer: Answer) -> Answer:
        return replace(answer, pace=pace)

    return Fault("slow link", upload=Upload(pace=pace), after=after)


def observed(call: Callable[[Request], None]) -> Fault:
    """No fault: `call` is told of the request before it is forwarded."""

    def instead(request: Request) -> None:
        call(request)

    return Fault("observed", instead=instead)


def _ends(at: int, end: End) -> After:
    def after(_: Request, answer: Answer) -> Answer:
        stop = min(at, max(0, len(answer.body) - 1))
        return replace(answer, stop_at=stop, end=end)

    return after
