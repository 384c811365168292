"""What the stages of a graph take and give, as layout texts; checked before it is compiled."""

from __future__ import annotations

import struct
from typing import Any, Optional

from . import _types
from ._errors import ConfigError

_NUMBERS = ("f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1")
#: What a type of Python stands for; the first one where no parameter says which.
_KINDS: dict[type, tuple[str, ...]] = {
    float: ("f8", "f4"),
    int: _NUMBERS[2:],
    bool: ("bool",),
    complex: ("complex<f8>", "complex<f4>"),
    str: ("str",),
    bytes: ("vec<u1>", "vec<i1>", "vec<char>", "vec<enum<u1>>"),
}


class StageNumber:
    """What stands for what a stage gives: :class:`ham.GraphValue`."""

    __slots__ = ("number",)
    number: int


class Stage:
    """One stage of a recording, or an input. ``loop``: of the first stage of a repeat the last one, and the other way round."""

    __slots__ = ("kind", "name", "number", "node", "function", "arguments", "what", "loop", "after")

    def __init__(
        self,
        kind: str,
        name: str,
        node: int = -1,
        function: str = "",
        arguments: Optional[list] = None,
        what: Any = None,
        loop: int = -1,
    ) -> None:
        self.kind = kind
        self.name = name
        self.number = -1
        self.node = node
        self.function = function
        self.arguments = arguments or []
        self.what = what
        self.loop = loop
        self.after: list[int] = []

    def copy(self) -> Stage:
        made = Stage(self.kind, self.name, self.node, self.function, list(self.arguments), self.what, self.loop)
        made.number = self.number
        made.after = list(self.after)
        return made

    def describe(self) -> str:
        return f"stage {self.number} ({self.name})"


def _kinds(of: Any) -> tuple[str, ...]:
    """The layouts that the type of an input stands for; none: any."""
    if of is None:
        return ()
    if isinstance(of, str):
        _types.codec(of)
        return (of,)
    if of in _KINDS:
        return _KINDS[of]
    if _types.numpy is not None:
        letter = _types.numpy.dtype(of).str[1:]
        if letter == "b1" or letter in _NUMBERS:
            return ("bool",) if letter == "b1" else (letter,)
    raise TypeError(f'{of!r} is no type of an input; write its layout, such as "vec<f8>", or leave it out')


def check_input(of: Any) -> None:
    """Raises TypeError for what an input cannot be."""
    _kinds(of)


def _number(value: Any) -> int:
    """Of a value of the graph; -1: it is another one."""
    return value.number if isinstance(value, StageNumber) else -1


class Types:
    """``given``: what each stage gives. ``taken``: of each call and repeat, what it takes."""

    def __init__(self, stages: list[Stage], layouts: dict[tuple[int, str], str]) -> None:
        self._stages = stages
        self._signatures = {one.number: layouts[one.node, one.function] for one in stages if one.kind == "call"}
        self.taken: dict[int, list[str]] = {}
        for number, layout in self._signatures.items():
            sent = layout.rpartition("->")[0]
            self.taken[number] = _types._split(sent) if sent else []
        self.given = [self._of(number, ()) for number in range(len(stages))]
        for one in stages:
            if one.kind == "entry" and one.arguments:
                self.taken[one.number] = [self.given[one.number]]

    def _of(self, number: int, asked: tuple[int, ...]) -> str:
        stage = self._stages[number]
        if number in asked:
            raise ConfigError(f"{stage.describe()} of a graph has no type: nothing but itself says what it is")
        asked += (number,)
        if stage.kind == "call":
            return self._signatures[number].rpartition("->")[2]
        if stage.kind == "until":
            return self._of(stage.what[0], asked)
        if stage.kind == "input":
            return self._of_input(stage, asked)
        if stage.kind == "entry" and stage.arguments:
            first = _number(stage.arguments[0])
            return self._of(first if first >= 0 else self._stages[stage.loop].what[0], asked)
        return "void"

    def _of_input(self, stage: Stage, asked: tuple[int, ...]) -> str:
        kinds = _kinds(stage.what)
        if len(kinds) == 1:
            return kinds[0]
        used = self._use(stage.number, asked)
        if used and (not kinds or used in kinds):
            return used
        if not kinds:
            raise ConfigError(f"{stage.describe()} of a graph has no type: no call takes it; say it in input(...)")
        return kinds[0]

    def _use(self, number: int, asked: tuple[int, ...]) -> str:
        """The type of the first parameter that takes a value; empty: there is none."""
        for stage in self._stages:
            for at, argument in enumerate(stage.arguments):
                if _number(argument) != number:
                    continue
                if stage.kind == "call" and at < len(self.taken[stage.number]):
                    return self.taken[stage.number][at]
                if stage.kind == "entry":
                    return self._use(stage.number, asked) or self._of(self._stages[stage.loop].what[0], asked)
        return ""

    def check(self) -> None:
        for stage in self._stages:
            if stage.kind == "call":
                self._check_call(stage, self._signatures[stage.number])
            elif stage.kind == "until":
                self._check_repeat(stage)

    def _check_call(self, stage: Stage, layout: str) -> None:
        taken = self.taken[stage.number]
        if len(stage.arguments) != len(taken):
            raise TypeError(f"{stage.describe()}: the function takes {len(taken)} arguments, not {len(stage.arguments)}: {layout}")
        for at, argument in enumerate(stage.arguments):
            source = _number(argument)
            if source >= 0 and self.given[source] != taken[at]:
                raise TypeError(
                    f"{stage.describe()}: argument {at + 1} is {self._stages[source].describe()}, which gives "
                    f"{self.given[source]}, and {stage.function} takes {taken[at]} there: {layout} (between stages nothing "
                    "is converted)"
                )

    def _check_repeat(self, stage: Stage) -> None:
        following, stop = stage.what
        entry = self._stages[stage.loop]
        if entry.arguments and self.given[following] != self.given[entry.number]:
            raise TypeError(
                f"{entry.describe()}: its value is {self.given[entry.number]} at first, and {self.given[following]} of "
                f"{self._stages[following].describe()} (between stages nothing is converted)"
            )
        if self.given[stop] != "bool":
            raise TypeError(f"{stage.describe()}: {self._stages[stop].describe()} gives {self.given[stop]}, and must give bool")

    def encoded(self, stage: Stage) -> list:
        """The arguments of a stage: numbers of stages, and bytes."""
        made: list = []
        for at, argument in enumerate(stage.arguments):
            number = _number(argument)
            if number >= 0:
                made.append(number)
                continue
            try:
                made.append(encode(self.taken[stage.number][at], argument))
            except TypeError as error:
                raise TypeError(f"{stage.describe()}: argument {at + 1}: {error}") from None
        return made


def encode(layout: str, value: Any) -> bytes:
    """The bytes of one value. Raises TypeError for what is none of this type."""
    parts: list = []
    try:
        _types.codec(layout).write(parts, value)
    except (TypeError, ValueError, AttributeError, struct.error) as error:
        raise TypeError(f"{value!r:.200} is no {layout}: {error}") from None
    return b"".join(parts)


def resolve(stages: list[Stage], layouts: dict[tuple[int, str], str], last: int) -> Types:
    """``last``: the stage that gives the result.

    Raises TypeError where a value is not what takes it, or one that Python gives or takes has no counterpart there;
    ConfigError where a type is not known.
    """
    types = Types(stages, layouts)
    types.check()
    for stage in stages:
        if (stage.kind == "input" or stage.number == last) and types.given[stage.number] != "void":
            try:
                _types.codec(types.given[stage.number])
            except TypeError as error:
                raise TypeError(f"{stage.describe()}: {error}") from None
    return types


__all__ = ["Stage", "StageNumber", "Types", "check_input", "encode", "resolve"]
