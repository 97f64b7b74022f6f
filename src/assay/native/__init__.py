"""The compiled core: plain C in `c/`, made into one shared library when the package is built, never at run time."""
