#!/usr/bin/env python3
"""Has every public entry for the device what it must have?

    gpu/entries.py                                  operations of fixed shape: a test that captures them
    gpu/entries.py --stand-ins EMULATED.a LIBRARY.a all: a stand-in in the library without CUDA (needs readelf)

Operations of fixed shape are those that return void: what others return is on the host, so that they wait. Each is
called by its header, its name and the type of its first operand, "toeplitz/apply.hpp apply Hankel": a source in
gpu/tests must have that string for check_fixed_shape(), or call it, and replay(), and name that type.
"""
import os
import re
import subprocess
import sys

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def sources(folder, endings):
    for path, _, names in sorted(os.walk(os.path.join(root, folder))):
        for name in sorted(names):
            if name.endswith(endings):
                with open(os.path.join(path, name)) as file:
                    yield os.path.relpath(os.path.join(path, name), os.path.join(root, folder)), file.read()


def entries():
    found = set()
    for header, text in sources("include/structmat", ".hpp"):
        code = re.sub(r"//[^\n]*", "", text)
        for match in re.finditer(r"\bvoid\s+(\w+)\(\s*const exec::cuda& e,\s*(?:const\s+)?([\w:]+)", code):
            kind = match[2].split("::")[-1]
            found.add((header, match[1], "" if kind == "Op" else re.sub("View$", "", kind)))
    return sorted(found)


def untested():
    tests = list(sources("gpu/tests", (".cpp", ".hpp")))
    text = "".join(content for _, content in tests)
    for header, name, kind in entries():
        label = f"{header} {name} {kind}"
        # Names may be put together: "toeplitz/apply.hpp apply " + family.
        named = f'"{label}' in text or (f'"{header} {name} "' in text and f'"{kind}"' in text)
        called = any("check_fixed_shape" not in content and re.search(r"\breplay\b", content) and
                     re.search(rf"\b{name}\b\s*[<(]", content) and kind in content for _, content in tests)
        if not named and not called:
            yield label


def stale():
    known = {f"{header} {name}" for header, name, _ in entries()}
    for path, content in sources("gpu/tests", ".cpp"):
        for match in re.finditer(r'"(\w+/\w+\.hpp \w+) [\w, ]*"', content):
            if match[1] not in known:
                yield f"{path}: {match[1]}"


def exported(library):
    """Public functions of a static library that have to do with devices."""
    table = subprocess.run(["readelf", "-sW", library], check=True, capture_output=True, text=True).stdout
    names = set()
    for line in table.splitlines():
        fields = line.split()
        if len(fields) == 8 and fields[3] == "FUNC" and fields[4] != "LOCAL" and fields[5] == "DEFAULT" and \
                fields[6] != "UND":
            names.add(fields[7])
    return names


def without_stand_in(emulated, library):
    missing = sorted(exported(emulated) - exported(library))
    text = subprocess.run(["c++filt"], input="\n".join(missing), check=True, capture_output=True, text=True).stdout
    return [name for name in text.splitlines() if re.match(r"[\w:<>, ]*\bstructmat::", name) and "space::cuda" in name]


def report(problem, names):
    for name in names:
        print(f"{problem}: {name}")
    return bool(names)


if len(sys.argv) == 4 and sys.argv[1] == "--stand-ins":
    sys.exit(report("no stand-in in gpu/absent", without_stand_in(*sys.argv[2:])))
elif len(sys.argv) == 1:
    bad = report("no test captures", list(untested()))
    sys.exit(report("no such entry", list(stale())) or bad)
sys.exit(__doc__)
