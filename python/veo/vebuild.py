"""Builds libraries of kernels, and helpers with kernels linked in, out of texts."""
import os
import pathlib
import shlex
import subprocess

COMPILER = {"c": os.environ.get("CC", "cc"), "cpp": os.environ.get("CXX", "c++"), "f90": os.environ.get("FC", "gfortran")}
FLAGS = {"c": "-O2 -g -fPIC -pthread", "cpp": "-O2 -g -fPIC -pthread", "f90": "-O2 -g -fPIC -pthread"}
GLOBAL_SO_FLAGS = "-shared -fPIC -pthread"
MK_VEORUN_STATIC = os.environ.get("MK_VEORUN_STATIC", "mk_veorun_static")


class VeBuild:
    """Sources by label and kind, and what was made of them: <dir><label>.c, .o, .so, .veorun."""

    def __init__(self):
        self.clear()
        self._dir = "./"
        self._files = {}  # what clean and realclean know of, also from before clear: a set of its names, in order

    def clear(self):
        """Forgets all sources."""
        self._sources = []

    def set_build_dir(self, folder):
        self._dir = folder if folder.endswith("/") else folder + "/"
        pathlib.Path(self._dir).mkdir(parents=True, exist_ok=True)

    def _set(self, kind, label, text, flags, compiler):
        self._sources.append((kind, label, text, flags or FLAGS[kind], compiler or COMPILER[kind]))
        self._learn(label, kind, "o", "so", "veorun")

    def _learn(self, label, *endings):
        for ending in endings:
            self._files[f"{self._dir}{label}.{ending}"] = None

    def set_c_src(self, label, text, flags=None, compiler=None):
        self._set("c", label, text, flags, compiler)

    def set_cpp_src(self, label, text, flags=None, compiler=None):
        self._set("cpp", label, text, flags, compiler)

    def set_ftn_src(self, label, text, flags=None, compiler=None):
        self._set("f90", label, text, flags, compiler)

    def _run(self, command, made, verbose, environment=None):
        if verbose:
            print(shlex.join(command))
        done = subprocess.run(command, capture_output=not verbose, text=True, env=environment)
        if done.returncode != 0:
            print(done.stderr or "", end="")
            return None
        return made

    def _objects(self, verbose):
        objects = []
        for kind, label, text, flags, compiler in self._sources:
            source, made = f"{self._dir}{label}.{kind}", f"{self._dir}{label}.o"
            self._learn(label, kind, "o")  # the folder may be another one by now
            pathlib.Path(source).write_text(text, encoding="utf-8")
            if self._run([*shlex.split(compiler), *shlex.split(flags), "-c", source, "-o", made], made, verbose) is None:
                return None
            objects.append(made)
        return objects

    def _label(self, label):
        return label or self._sources[0][1]

    def build_so(self, label=None, flags=None, libs=(), linker=None, verbose=False):
        """The file's name, or None."""
        objects = self._objects(verbose)
        if not objects:
            return None
        made = f"{self._dir}{self._label(label)}.so"
        self._learn(self._label(label), "so")
        kinds = {kind for kind, *_ in self._sources}
        linker = linker or next(COMPILER[kind] for kind in ("cpp", "f90", "c") if kind in kinds)
        command = [*shlex.split(linker), *shlex.split(flags or GLOBAL_SO_FLAGS), "-o", made, *objects, *libs]
        return self._run(command, made, verbose)

    def build_veorun(self, label=None, flags=None, libs=(), verbose=False):
        """The file's name, or None."""
        objects = self._objects(verbose)
        if not objects:
            return None
        made = f"{self._dir}{self._label(label)}.veorun"
        self._learn(self._label(label), "veorun")
        environment = dict(os.environ, CFLAGS=flags) if flags else None
        return self._run([MK_VEORUN_STATIC, "-o", made, *objects, *libs], made, verbose, environment)

    def clean(self):
        """Removes the objects of all labels, also those that an earlier run has left."""
        self._remove(name for name in self._files if name.endswith(".o"))

    def realclean(self):
        """Removes all files of all labels: sources, objects, libraries and helpers."""
        self._remove(self._files)

    @staticmethod
    def _remove(names):
        for name in names:
            pathlib.Path(name).unlink(missing_ok=True)
