"""How a cloud says no: as a value with a status, a code and what else its answer names."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum


class Refused(Exception):
    """A request is refused; `ec` is the fine code of OSS, `details` are further XML elements."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        ec: str = "",
        details: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.ec = ec
        self.details = dict(details or {})

    def with_ec(self, ec: str) -> Refused:
        """The same refusal with another fine code."""
        return Refused(self.status, self.code, self.message, ec, self.details)


class Fault(Enum):
    """What can be wrong with the credentials of a request; each cloud has its words for it."""

    ANONYMOUS = "no signature at all"
    MALFORMED = "the signature cannot be read"
    KEY = "the key is unknown or revoked"
    TOKEN = "the security token is missing or of another key"
    EXPIRED = "the security token has expired"
    OVERDUE = "the signature's own time is over"
    SKEW = "the request's clock is too far from the server's"
    REGION = "signed for another region or service"
    SIGNATURE = "the signature is of another secret or another request"
    PAYLOAD = "the body is not the one whose digest was signed"


class AuthFailure(Exception):
    """The credentials of a request are refused."""

    def __init__(self, fault: Fault, details: Mapping[str, str] | None = None) -> None:
        super().__init__(fault.value)
        self.fault = fault
        self.details = dict(details or {})
