"""Text that does not show itself."""

from __future__ import annotations


class Secret:
    """Text that never shows itself: `str` and `repr` are `***`; `reveal` gives the value."""

    __slots__ = ("_value",)

    def __init__(self, value: str = "") -> None:
        self._value = value

    def __repr__(self) -> str:
        return "***" if self._value else "''"

    def __bool__(self) -> bool:
        return bool(self._value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._value == other._value

    def __hash__(self) -> int:
        return hash(self._value)

    def reveal(self) -> str:
        """The value itself, for the one who signs."""
        return self._value
