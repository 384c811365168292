"""Recorded graphs: calls by name that depend on each other, recorded once and replayed with one message."""

from __future__ import annotations

from typing import Any, Callable, Optional, Sequence, Union

from . import _graph_types, _ham
from ._errors import CallError, ConfigError
from ._graph_types import Stage, StageNumber
from ._replay import CompiledGraph, JobHold, Replay

__all__ = ["CompiledGraph", "Graph", "GraphValue", "Replay"]

_NOTHING = object()


class GraphValue(StageNumber):
    """What a stage of a graph will give, or an input: an argument of further stages, and what they come after."""

    __slots__ = ("graph",)

    def __init__(self, graph: Graph, number: int) -> None:
        self.graph = graph
        #: In the order of recording, inputs included; that of :class:`ham.StageError`.
        self.number = number

    def __repr__(self) -> str:
        return f"<ham.GraphValue of {self.graph._stages[self.number].describe()}>"

    def after(self, *others: GraphValue) -> GraphValue:
        """The stage begins after these have ended, beside those whose values it uses. Gives the value itself."""
        if self.graph._stages[self.number].kind == "input":
            raise ConfigError("an input of a graph comes after nothing (it is there when a replay begins)")
        self.graph._stages[self.number].after += [self.graph._own(other) for other in others]
        return self

    def name(self, text: str) -> GraphValue:
        """What errors call the stage; by default the name of its function. Gives the value itself."""
        self.graph._stages[self.number].name = text
        return self


class Graph:
    """Records calls by name that depend on each other; results go from node to node without this one.

        g = ham.Graph()
        x = g.input(float)
        a = g.call(1, "my_kernels.ramp", x, 2.0)
        b = g.call(2, "my_kernels.total", a)
        step = g.compile(b)
        step(1.5).result()

    Needs no job before :meth:`compile`, which also checks what was recorded, and encodes the arguments as they are then.
    It may be compiled any number of times, and recorded on. One thread at a time. A node is a :class:`ham.Node` or its
    number.
    """

    def __init__(self) -> None:
        self._stages: list[Stage] = []
        self._in_repeat = False

    def _own(self, value: GraphValue) -> int:
        if not isinstance(value, GraphValue):
            raise TypeError(f"a value of a graph is needed, not {value!r:.200}")
        if value.graph is not self or value.number >= len(self._stages):
            raise ConfigError("a stage uses a value of another graph (values belong to the one that made them)")
        return value.number

    def _arguments(self, arguments: Sequence[Any]) -> list:
        for one in arguments:
            if isinstance(one, GraphValue):
                self._own(one)
        return list(arguments)

    def _add(self, stage: Stage) -> GraphValue:
        stage.number = len(self._stages)
        self._stages.append(stage)
        return GraphValue(self, stage.number)

    def input(self, type: Any = None) -> GraphValue:
        """A value that each replay is given, in the order of recording.

        ``type``: ``float``, ``int``, ``bool``, ``complex``, ``str``, ``bytes``, a type of NumPy for numbers, or a layout
        such as ``"vec<f8>"`` (docs/wire-format.md); by default that of the first parameter that takes it. ``int`` and the
        like stand for whichever width that parameter has.
        """
        _graph_types.check_input(type)
        return self._add(Stage("input", "input", what=type))

    def call(self, node: Any, function: str, /, *arguments: Any) -> GraphValue:
        """A call as :meth:`ham.Node.call`; arguments may be inputs and values of earlier stages."""
        number = getattr(node, "number", node)
        return self._add(Stage("call", function, node=number, function=function, arguments=self._arguments(arguments)))

    def put(self, source: Any, target: _ham.Buffer, offset: int = 0) -> GraphValue:
        """Copies what an array, or another buffer, has when the stage begins to memory of a node. Gives nothing."""
        return self._add(Stage("put", "put", what=(memoryview(source), target, offset)))

    def get(self, source: _ham.Buffer, target: Any, offset: int = 0) -> GraphValue:
        """Copies memory of a node into an array, or another buffer that can be written to. Gives nothing."""
        return self._add(Stage("get", "get", what=(source, offset, memoryview(target))))

    def copy(
        self,
        source: _ham.Buffer,
        target: _ham.Buffer,
        nbytes: Optional[int] = None,
        source_offset: int = 0,
        target_offset: int = 0,
    ) -> GraphValue:
        """Copies memory of one node to that of another, which makes the transfer; by default all behind the offset."""
        size = source.nbytes - source_offset if nbytes is None else nbytes
        return self._add(Stage("copy", "copy", node=target.node, what=(source, source_offset, target, target_offset, size)))

    def repeat(
        self,
        body: Callable[..., GraphValue],
        until: Union[str, Callable[[GraphValue], GraphValue]],
        initial: Any = _NOTHING,
    ) -> GraphValue:
        """Stages that are repeated, without this process, until a condition holds; gives the value of the last iteration.

        ``body(value)`` is called once, records an iteration, and gives its value; ``value`` is that of the iteration
        before, at first ``initial``, a value of the graph or another one. Without ``initial`` it gets no argument.
        ``until(value)`` records a stage that gives a bool; or is the name of a function from the value to a bool, which is
        called where the value is made. No repeat within another one.
        """
        if self._in_repeat:
            raise ConfigError("a repeat of a graph within another one (that is not supported) make one function of it")
        begin = len(self._stages)
        given = [] if initial is _NOTHING else self._arguments([initial])
        self._in_repeat = True
        try:
            entry = self._add(Stage("entry", "repeat", arguments=given))
            next_value = body(entry) if given else body()
            made = self._own(next_value)
            if isinstance(until, str):
                where = self._stages[made].node
                if where < 0:
                    raise ConfigError(
                        f"the condition of a repeat is about {self._stages[made].describe()}, which no call of the body has "
                        "made; let a call give the value, or record the condition"
                    )
                stop = self.call(where, until, next_value)
            else:
                stop = until(next_value)
            end = self._add(Stage("until", "until", what=(made, self._own(stop)), loop=entry.number))
            self._stages[entry.number].loop = end.number
            return end
        except BaseException:
            del self._stages[begin:]
            for stage in self._stages:
                stage.after = [one for one in stage.after if one < begin]
            raise
        finally:
            self._in_repeat = False

    def compile(self, result: GraphValue, in_flight: int = 8) -> CompiledGraph:
        """Checks the graph and gives each node its part of it. Blocks. Replays give ``result`` when all stages have ended.

        ``in_flight``: as many replays may be under way at a time. Raises TypeError, which names the stage, its function
        and both types, for a value that is not what its function takes; :class:`ham.CallError` for a function that a node
        lacks; :class:`ham.ConfigError` for a graph that cannot be, and if no job is up; :class:`ham.NodeFailure`.
        """
        last = self._own(result)
        if self._in_repeat:
            raise ConfigError("a graph is compiled within the body of a repeat (which has no end yet) compile it behind repeat()")
        if _ham.num_nodes() == 0:
            raise ConfigError("no job is up; compile a graph while there are Targets or an Executor")
        stages = [stage.copy() for stage in self._stages]
        layouts = _ask_for_layouts(stages)
        types = _graph_types.resolve(stages, layouts, last)
        hold = JobHold()
        recorded = _record(stages, layouts, types)
        compiled = recorded.compile(last, in_flight, hold)
        for stage in stages:
            stage.node = _ham.this_node() if stage.node < 0 else stage.node
        return CompiledGraph(compiled, stages, types, last, hold)


def _ask_for_layouts(stages: list[Stage]) -> dict[tuple[int, str], str]:
    found: dict[tuple[int, str], str] = {}
    for stage in stages:
        which = (stage.node, stage.function)
        if stage.kind != "call" or which in found:
            continue
        try:
            found[which] = _ham.layout(*which)
        except CallError as error:
            raise CallError(f"{stage.describe()} of a graph: {error}") from None
    return found


def _record(stages: list[Stage], layouts: dict[tuple[int, str], str], types: _graph_types.Types) -> _ham._Graph:
    """The same graph in the library; its stages have the same numbers."""
    graph = _ham._Graph()
    for stage in stages:
        if stage.kind == "input":
            graph.input(types.given[stage.number])
        elif stage.kind == "call":
            layout = layouts[stage.node, stage.function]
            graph.call(stage.node, stage.function, layout, types.encoded(stage))
        elif stage.kind == "put":
            source, target, offset = stage.what
            graph.put(source, target._describe(), offset)
        elif stage.kind == "get":
            source, offset, target = stage.what
            graph.get(source._describe(), offset, target)
        elif stage.kind == "copy":
            source, source_offset, target, target_offset, size = stage.what
            graph.copy(source._describe(), source_offset, target._describe(), target_offset, size)
        elif stage.kind == "entry":
            graph.begin_repeat(types.given[stage.number], types.encoded(stage))
        else:
            graph.end_repeat(*stage.what)
        graph.name(stage.number, stage.name)
    for stage in stages:
        for before in stage.after:
            graph.after(stage.number, before)
    return graph
