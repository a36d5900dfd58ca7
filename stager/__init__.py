"""stager: from bucket to GPU.

Versions of datasets in your own object store, fast, whole and verified on the node.

    import stager
    folder = stager.pull("alpaca@v3")            # a pathlib.Path
    with stager.lease("alpaca@v3") as folder:    # stays in the cache for this block
        ...
    report = stager.push("data/", "alpaca", message="labels fixed")

Nothing heavy is imported before it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stager.api import adopt, lease, pull, push

__version__ = "0.1.0"
__all__ = ["__version__", "adopt", "lease", "pull", "push"]


def __getattr__(name: str) -> Any:
    if name in ("adopt", "lease", "pull", "push"):
        from stager import api

        return getattr(api, name)
    raise AttributeError(f"module 'stager' has no attribute {name!r}")
