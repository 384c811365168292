"""The words of experiments.py: measurements, plots, experiments."""
import dataclasses


EMULATED = "emulated link"
PARTLY_EMULATED = "partly over an emulated link"


@dataclasses.dataclass(frozen=True)
class Measurement:
    """One command that prints a result. In argv and in `uses`, {bin} is the build's folder of programs, {source}
    the repository, {gpu} the build for GPUs, {python} this interpreter.

    needs: "program:NAME" below {bin}, "file:PATH" of the repository, "command:NAME" of the machine, "subcommand:NAME" of
    ham-bench, "option:NAME" of ham-bench, "spawns:MPI", "cores:N", "gpu:NAME" (a GPU, and the program NAME built for it). The first
    that is not there is the reason why this is not measured.
    uses: patterns of further files, with the same braces: when one of them changes, comes or goes, it is measured again.
    """

    name: str
    argv: tuple
    needs: tuple = ()
    uses: tuple = ()
    expected_s: float = 10
    timeout_s: float = 120
    environment: tuple = ()  # of pairs
    emulated: bool = False


@dataclasses.dataclass(frozen=True)
class Series:
    """Points of a plot: columns x and y of a table of a measurement, or of a figure of a paper ("paper:1/fig9").

    table, x and y are regular expressions. where: pairs of a column and an expression that its cell matches; most: only the rows
    with the largest value of this column. role: ours, floor, paper or peer; of a roofline also peak and bandwidth; of a stack total,
    which was measured and not added up; level is a horizontal line at the largest y. low and high: columns of the quartiles, or
    one column with both. inverse_x: bytes per flop as flop per byte. bandwidth: y are microseconds for as many bytes as the column
    "bytes" says, and are shown as GiB/s.
    """

    label: str
    source: str
    y: str
    x: str = ""  # the first column
    table: str = ""
    low: str = ""
    high: str = ""
    role: str = "ours"
    scale: float = 1
    where: tuple = ()
    most: str = ""
    inverse_x: bool = False
    bandwidth: bool = False


@dataclasses.dataclass(frozen=True)
class Plot:
    """kind: lines (over numbers), bars (one for each row of each series), values (one bar for each series, its first value), stack
    (series on each other, one bar for each row) or roofline (points under what the machine reaches)."""

    title: str
    y_label: str
    series: tuple
    kind: str = "lines"
    x_label: str = ""
    log_x: bool = True
    log_y: bool = True
    emulated: bool = False


@dataclasses.dataclass(frozen=True)
class Experiment:
    """What a figure or table of a paper becomes here. about: what is measured; differs: what is emulated or cannot be had; emulated:
    what its title says of it, EMULATED or PARTLY_EMULATED, if any of its measurements is. tables: functions that make a table of
    several measurements; each is given a function from a measurement's name to its reports, and gives None if they are not there."""

    name: str
    title: str
    about: str
    measurements: tuple
    plots: tuple = ()
    paper: tuple = ()  # references like "1/fig9"
    differs: str = ""
    emulated: str = ""
    tables: tuple = ()
