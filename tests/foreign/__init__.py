"""Scripts that write small graphs with the tools that people use, each in the tools' own Python.

`make tools` installs them apart: they want an older driver. A script reads what to write from its
standard input (`given.py`), and only imports its tool and the standard library.
"""
