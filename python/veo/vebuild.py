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

    def clear(self):
        self._sources, self._made = [], []

    def set_build_dir(self, folder):
        self._dir = folder if folder.endswith("/") else folder + "/"
        pathlib.Path(self._dir).mkdir(parents=True, exist_ok=True)

    def _set(self, kind, label, text, flags, compiler):
        self._sources.append((kind, label, text, flags or FLAGS[kind], compiler or COMPILER[kind]))

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
        self._made.append(made)
        return made

    def _objects(self, verbose):
        objects = []
        for kind, label, text, flags, compiler in self._sources:
            source, made = f"{self._dir}{label}.{kind}", f"{self._dir}{label}.o"
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
        environment = dict(os.environ, CFLAGS=flags) if flags else None
        return self._run([MK_VEORUN_STATIC, "-o", made, *objects, *libs], made, verbose, environment)

    def clean(self):
        """Removes objects."""
        self._remove([one for one in self._made if one.endswith(".o")])

    def realclean(self):
        """Removes all that was made, and the sources."""
        self._remove(self._made + [f"{self._dir}{label}.{kind}" for kind, label, *_ in self._sources])

    @staticmethod
    def _remove(names):
        for name in names:
            pathlib.Path(name).unlink(missing_ok=True)
