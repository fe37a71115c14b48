#!/usr/bin/python3
"""Every line of the README that can be run is run: check_readme.py ROOT EXAMPLE TOOL

- the C++ block stands, line for line, in the example, and what follows it is what the example prints;
- each `structmat ...` line of a console block exits with 0 (1 where the block says so) in a scratch folder;
- each workflow preset, file and picture that is named exists.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

root, example, tool = map(os.path.abspath, sys.argv[1:4])
readme = open(os.path.join(root, "README.md")).read()
blocks = re.findall(r"^```(\w*)\n(.*?)^```", readme, re.M | re.S)
failures = []


def squeeze(text):
    return [re.sub(r"\s+", " ", line).strip() for line in text.splitlines() if line.strip()]


source = squeeze(open(os.path.join(root, "examples", "01_quasiseparable_matvec.cpp")).read())
cpp = [text for kind, text in blocks if kind == "cpp"]
if not cpp:
    failures.append("no C++ block")
for line in squeeze(cpp[0]) if cpp else []:
    if line not in source:
        failures.append(f"not in the example: {line}")
printed = subprocess.run([example], check=True, capture_output=True, text=True).stdout
shown = [text for kind, text in blocks if kind == "text"]
if not shown or shown[0] != printed:
    failures.append(f"the example prints\n{printed}the README shows\n{shown[0] if shown else ''}")

commands = [line[2:] for kind, text in blocks if kind == "console" for line in text.splitlines()
            if line.startswith("$ ")]
if not commands:
    failures.append("no console lines")
with tempfile.TemporaryDirectory() as folder:
    os.symlink(os.path.join(root, "examples"), os.path.join(folder, "examples"))
    os.symlink(tool, os.path.join(folder, "structmat"))
    env = dict(os.environ, PATH=folder + os.pathsep + os.environ["PATH"])
    for command in commands:
        expected = 1 if command.endswith("# exits with 1") else 0
        result = subprocess.run(command, shell=True, cwd=folder, env=env, capture_output=True,
                                text=True)
        if result.returncode != expected:
            failures.append(f"{command}\n  exited with {result.returncode}: {result.stderr}")

presets = json.load(open(os.path.join(root, "CMakePresets.json")))
workflows = {preset["name"] for preset in presets["workflowPresets"]}
for name in re.findall(r"--workflow --preset (\w+)", readme):
    if name not in workflows:
        failures.append(f"no workflow preset {name}")
for target in re.findall(r"\]\(([^)#:]+)\)", readme):
    if not os.path.exists(os.path.join(root, target)):
        failures.append(f"no file {target}")

for failure in failures:
    print("FAILED:", failure)
print(f"{len(commands)} commands run, {len(failures)} failures")
sys.exit(bool(failures))
