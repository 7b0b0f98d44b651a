"""Collections for formats' tests, without a data folder: what names mean, and if hosted tools are dropped."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from metrics.bench import names
from metrics.formats import hosted


@contextmanager
def naming(resolve: Callable[..., Any], drops: bool = False) -> Iterator[None]:
    """`resolve` in the place of names.resolve."""
    with (
        mock.patch.object(names, "resolve", resolve),
        mock.patch.object(hosted, "drops", lambda collection: drops),
    ):
        yield
