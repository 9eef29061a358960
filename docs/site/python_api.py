# SPDX-License-Identifier: BSD-3-Clause
"""The Python package for Sphinx, which imports it without its compiled module."""

import re
import sys
import types


def replace_compiled_module() -> None:
    """Let ``import ramify`` succeed without a build. Only the names of the module are missing."""
    module = types.ModuleType("ramify._ramify")
    for name, base, text in (
        ("CudaError", RuntimeError, "A CUDA call or a launch failed."),
        ("Unavailable", RuntimeError, "This machine or this build lacks a backend or a route."),
    ):
        setattr(module, name, type(name, (base,), {"__doc__": text, "__module__": "ramify"}))
    module.__getattr__ = lambda name: type(name, (), {"__module__": "ramify"})
    sys.modules["ramify._ramify"] = module


def _escaped(text: str) -> str:
    """Return text in which only literals have a meaning in reStructuredText."""
    parts = re.split(r"(``.*?``)", text)
    return "".join(p if p.startswith("``") else re.sub(r"([|*])", r"\\\1", p) for p in parts)


def format_docstring(_app, _what, _name, _obj, _options, lines):
    """Make a list of the lines ``name:  text`` of a docstring, and of the lines indented below."""
    result = []
    in_list = False
    for line in lines:
        match = re.match(r"(\w+(?:, \w+)*:) +(\S.*)", line)
        if match and (in_list or not result or not result[-1]):
            in_list = True
            result.append(f":{match[1]} {_escaped(match[2])}")
        elif in_list and line.startswith("    "):
            if line.lstrip().startswith("``"):  # a line of a table
                result.append("")
            result.append("    " + _escaped(line.strip()))
        else:
            if in_list and line:
                result.append("")
            in_list = in_list and not line
            result.append(line if line.startswith("    ") else _escaped(line))
    lines[:] = result


def skip_member(_app, _what, _name, obj, _skip, _options):
    """Skip the fields of named tuples, which the docstring of the class describes."""
    return True if (getattr(obj, "__doc__", None) or "").startswith("Alias for field") else None
