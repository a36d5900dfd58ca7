"""Taking a version off this node, or finding why it must stay.

The receipt is taken away first, by a rename; then pins and leases are looked at once more,
and it is put back when there is one. A pull writes its lease first and reads the receipt
then, so it either finds the receipt or its lease is found. All under the tree's lock, which
a pull that stages the same content holds.

Killed in the middle, an eviction leaves the receipt aside. Whoever looks for the version
next puts it back when the folder is still there: the version is whole or it is not there.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path

from stager.cache import leases, staged
from stager.cache.folders import Folders
from stager.cache.leases import named
from stager.cache.locks import exclusive
from stager.cache.staged import Staged
from stager.cache.staging import discard
from stager.errors import CacheBusy, ManifestInvalid
from stager.events import Listener, ignore
from stager.model import receipt as receipts


def reason_to_stay(
    folders: Folders, found: Staged, users: Mapping[Path, int], asker: int = 0
) -> str:
    """Why this node needs the version; empty when it does not.

    `users` is what in_use() found; a lease of the process `asker` is no reason.
    """
    if reason := _claimed(folders, found, asker):
        return reason
    user = users.get(found.folder)
    return f"in use by {named(user)}" if user is not None else ""


def evict(folders: Folders, found: Staged, asker: int = 0, force: bool = False) -> str:
    """Removes the version; why it stays when it does. With `force` only a pin is a reason."""
    try:
        with exclusive(folders.tree_lock(found.receipt.tree), ignore, wait=False):
            return _evict(folders, found, asker, force)
    except CacheBusy as busy:
        return f"being staged by {busy.fields['holder']}"


def settled(folders: Folders, name: str, version: str, listener: Listener) -> Staged | None:
    """As staged.find, after an eviction that is under way or was killed has come to its end."""
    found = staged.find(folders, name, version)
    if found is None:
        _settle(folders, name, version, listener, wait=True)
        found = staged.find(folders, name, version)  # it may have been put back meanwhile
    return found


def settle_all(folders: Folders) -> None:
    """Brings killed evictions to their end, by putting back what is whole.

    One that is under way is left alone: the caller may hold the lock it would wait for.
    """
    for path in (folders.root / "datasets").glob("*/.*.evicted"):
        name, version = path.parent.name.replace("+", "/"), path.name[1:].removesuffix(".evicted")
        with contextlib.suppress(CacheBusy):
            _settle(folders, name, version, ignore, wait=False)


def _evict(folders: Folders, found: Staged, asker: int, force: bool) -> str:
    name, version = found.receipt.name, found.receipt.version
    now = staged.find(folders, name, version)
    if now is None:
        return ""
    if now.receipt != found.receipt:
        return "staged anew"
    if reason := _reason(folders, found, asker, force):
        return reason
    receipt, aside = folders.receipt(name, version), folders.evicted(name, version)
    os.rename(receipt, aside)
    if reason := _reason(folders, found, asker, force):
        os.rename(aside, receipt)
        return reason
    discard(found.folder)
    folders.placement(name, version).unlink(missing_ok=True)
    aside.unlink(missing_ok=True)
    return ""


def _reason(folders: Folders, found: Staged, asker: int, force: bool) -> str:
    return _pinned(folders, found) if force else _claimed(folders, found, asker)


def _claimed(folders: Folders, found: Staged, asker: int) -> str:
    if reason := _pinned(folders, found):
        return reason
    holders = leases.holders(folders, found.receipt.name, found.receipt.version, asker)
    return f"leased by {', '.join(holders)}" if holders else ""


def _pinned(folders: Folders, found: Staged) -> str:
    return "pinned" if folders.pin(found.receipt.name, found.receipt.version).exists() else ""


def _settle(folders: Folders, name: str, version: str, listener: Listener, wait: bool) -> None:
    aside, receipt = folders.evicted(name, version), folders.receipt(name, version)
    try:
        tree = receipts.decode(aside.read_bytes(), str(aside)).tree
    except FileNotFoundError:
        return
    except ManifestInvalid:
        aside.unlink(missing_ok=True)
        return
    with exclusive(folders.tree_lock(tree), listener, wait):
        if folders.version(name, version).is_dir() and not receipt.exists() and aside.exists():
            os.rename(aside, receipt)
        else:
            aside.unlink(missing_ok=True)
