"""`dataclass` for values: like the standard library's, but freezing one costs nothing when it is made.

A frozen dataclass sets each of its fields through object.__setattr__, which makes a value of twenty fields
five times as dear, and a request makes dozens. That nobody changes one is therefore mypy's to check, which
takes this for the standard one; at run time a value is a plain object with slots, compared and hashed by its
fields as frozen ones are.
"""

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

T = TypeVar("T")

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, frozen: bool = False, slots: bool) -> Callable[[type[T]], type[T]]:
        """As dataclasses.dataclass."""
        return dataclasses.dataclass(slots=slots, unsafe_hash=frozen)
