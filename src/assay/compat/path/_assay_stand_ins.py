"""Makes the packages of this folder step aside. Any Python may read this, 2.7 too."""

import sys
from os.path import abspath, dirname, join

NAME = "assay.compat.stand_ins"
FOLDER = dirname(abspath(__file__))


def give_way(name):
    if sys.version_info < (3, 7):  # noqa: UP036 - not the interpreter that Assay runs in
        # Too old for anything of Assay's: as if this folder were not there.
        sys.path[:] = [entry for entry in sys.path if abspath(entry) != FOLDER]
        del sys.modules[name]
        __import__(name)
    else:
        _stand_ins().give_way(name, FOLDER)


def _stand_ins():
    """The one copy in this process, whether or not Assay is installed in it."""
    if NAME not in sys.modules:
        from importlib.util import module_from_spec, spec_from_file_location

        spec = spec_from_file_location(NAME, join(dirname(FOLDER), "stand_ins.py"))
        module = module_from_spec(spec)
        sys.modules[NAME] = module
        spec.loader.exec_module(module)
    return sys.modules[NAME]
