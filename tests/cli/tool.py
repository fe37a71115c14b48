"""What the tests of the structmat tool share. The program is $STRUCTMAT_TOOL."""
import json
import os
import subprocess
import tempfile
import unittest

import numpy as np

TOOL = os.environ["STRUCTMAT_TOOL"]
DTYPES = ["float32", "float64", "complex64", "complex128"]


class Tool(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_tool(self, *arguments, status=0):
        result = subprocess.run([TOOL, *map(str, arguments)], cwd=self.folder, capture_output=True,
                                text=True, timeout=120)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        if status != 2:
            self.assertEqual(result.stderr, "")
        return result.stdout

    def refusal(self, *arguments):
        """The one line on stderr of a call that is refused."""
        result = subprocess.run([TOOL, *map(str, arguments)], cwd=self.folder, capture_output=True,
                                text=True, timeout=120)
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertTrue(result.stderr.startswith("structmat " + arguments[0]), result.stderr)
        return result.stderr

    def save(self, name, array):
        np.save(self.path(name), array)
        return name

    def load(self, name):
        return np.load(self.path(name))

    def check_json(self, *arguments, status=0):
        return json.loads(self.run_tool("check", *arguments, "--json", status=status))
