"""structmat info, refusals of all commands, signals, progress."""
import glob
import io
import json
import os
import pty
import select
import signal
import struct
import subprocess
import time
import unittest

import numpy as np

from tool import TOOL, Tool


class Info(Tool):
    def test_text_and_json_agree(self):
        text = self.run_tool("info")
        facts = json.loads(self.run_tool("info", "--json"))
        for value in [facts["version"], facts["commit"], facts["build_type"], facts["simd"],
                      facts["blas"]["vendor"], facts["blas"]["core"], facts["fft"]["name"],
                      facts["fft"]["licence"], facts["fft"]["consequence"]]:
            self.assertIn(value, text)
        self.assertIn("CUDA", text)
        self.assertIsInstance(facts["cuda"]["built"], bool)

    def test_core_type_from_the_environment(self):
        environment = dict(os.environ, OPENBLAS_CORETYPE="Haswell")
        text = subprocess.run([TOOL, "info"], capture_output=True, text=True, env=environment).stdout
        self.assertIn("OPENBLAS_CORETYPE=Haswell", text)

    def test_help_and_version(self):
        self.assertRegex(self.run_tool("--version"), r"^structmat \d+\.\d+\.\d+ \(\w+\)\n$")
        for command in [[], ["info"], ["gen"], ["gen", "quasiseparable"], ["gen", "semiseparable"],
                        ["gen", "kernel"], ["check"], ["convert"], ["apply"], ["bench"]]:
            self.assertRegex(self.run_tool(*command, "--help"), "Example|Options of a family")


class Usage(Tool):
    def test_bad_usage(self):
        self.save("a.npy", np.eye(3))
        quasi = ["--property", "quasiseparable"]
        for arguments, reason in [
                (["check"], "file is required"),
                (["check", "a.npy"], "--property is required"),
                (["check", "a.npy", "--property", "tridiagonal"], "toeplitz"),
                (["check", "a.npy", *quasi, "--order", "-1"], "--order"),
                (["check", "a.npy", *quasi, "--order", "1", "--lower", "2"], "excludes"),
                (["check", "a.npy", *quasi, "--tolerance", "nan"], "tolerance"),
                (["check", "a.npy", *quasi, "--tolerance", "-1"], "tolerance"),
                (["check", "a.npy", *quasi, "--speed", "1"], "--speed"),
                (["gen"], "subcommand is required"),
                (["gen", "quasiseparable", "-o", "q.npy"], "--size is required"),
                (["gen", "quasiseparable", "-n", "4", "-o", "q.txt"], "must end in .npy"),
                (["gen", "quasiseparable", "-n", "1000000", "-o", "q.npy"], "GB"),
                (["gen", "quasiseparable", "-n", "4", "-o", "missing/q.npy"], "No such file"),
                (["convert", "a.npy", "b.npy", "--to", "quasiseparable"], "--to quasiseparable"),
                (["convert", "a.npy", "b.safetensors", "--to", "dense"], "--to dense"),
                (["convert", "a.npy", "b.mtx", "--tolerance", "1"], "belong to compression"),
                (["convert", "a.npy", "b.safetensors", "--tolerance", "-1"], "tolerance"),
                (["apply", "a.npy", "a.npy", "-o", "y.safetensors"], "the product is dense"),
                (["apply", "a.npy", "a.npy", "-o", "y.npy", "--adjoint", "--transpose"], "excludes"),
                (["bench", "tridiagonal"], "toeplitz"),
                (["bench", "quasiseparable", "-n", "2-1"], "--size: \"2-1\""),
                (["bench", "quasiseparable", "--rhs", "x"], "--rhs: \"x\""),
                (["bench", "quasiseparable", "--threads", "-1"], "--threads")]:
            with self.subTest(arguments):
                self.assertIn(reason, self.refusal(*arguments))
        self.assertEqual(os.listdir(self.folder), ["a.npy"])

    def test_no_command(self):
        result = subprocess.run([TOOL], capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stderr.count("\n")), (2, 1))
        self.assertTrue(result.stderr.startswith("structmat: "))

    def test_bad_input(self):
        with open(self.path("broken.npy"), "wb") as file:
            file.write(b"\x93NUMPY\x01\x00\x10")
        with open(self.path("broken.mtx"), "w") as file:
            file.write("%%MatrixMarket matrix array real general\n2 2\n1\n2\nx\n4\n")
        with open(self.path("broken.safetensors"), "wb") as file:
            file.write(struct.pack("<Q", 2) + b"{}")
        self.save("nan.npy", np.array([[1, 2], [np.nan, 4]]))
        self.save("wide.npy", np.ones((2, 3)))
        self.save("text.npy", np.array([["a"]]))
        for name, reason in [("missing.npy", "No such file"), ("broken.npy", "broken.npy"),
                             ("broken.mtx", "line 5"), ("broken.safetensors", "missing"),
                             ("nan.npy", "(1, 0) is nan"), ("wide.npy", "2 x 3"),
                             ("text.npy", "text.npy"), ("matrix.txt", "must end in"),
                             (".", "must end in")]:
            with self.subTest(name):
                self.assertIn(reason, self.refusal("check", name, "--property", "quasiseparable"))
                if name not in ["wide.npy", "nan.npy"]:
                    self.refusal("convert", name, "out.npy")
                    self.refusal("apply", name, "wide.npy", "-o", "out.npy")
        self.refusal("convert", "nan.npy", "out.safetensors")
        self.refusal("convert", "wide.npy", "out.safetensors")
        self.assertFalse(os.path.exists(self.path("out.npy")))
        self.assertFalse(os.path.exists(self.path("out.safetensors")))

    def test_a_full_disk_is_an_error(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "w") as full:
            result = subprocess.run([TOOL, "info"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(result.returncode, 2)
        self.assertIn("standard output", result.stderr)


class Interrupt(Tool):
    def test_signals_leave_no_half_written_file(self):
        for number in [signal.SIGINT, signal.SIGTERM]:
            with self.subTest(number):
                process = subprocess.Popen([TOOL, "gen", "quasiseparable", "-n", "3000", "-o", "q.mtx"],
                                           cwd=self.folder)
                deadline = time.monotonic() + 60
                while not glob.glob(self.path(".structmat-*")):
                    self.assertLess(time.monotonic(), deadline)
                    self.assertIsNone(process.poll(), "finished before the signal")
                    time.sleep(0.001)
                process.send_signal(number)
                self.assertEqual(process.wait(60), 130)
                self.assertEqual(os.listdir(self.folder), [])

    def test_progress_on_a_terminal_is_erased(self):
        # The matrix comes through a pipe, which stays empty until the progress shows.
        os.mkfifo(self.path("m.npy"))
        controller, terminal = pty.openpty()
        process = subprocess.Popen([TOOL, "check", "m.npy", "--property", "quasiseparable"],
                                   cwd=self.folder, stdout=subprocess.DEVNULL, stderr=terminal)
        os.close(terminal)
        text = b""
        while b"reading" not in text:
            self.assertTrue(select.select([controller], [], [], 60)[0], "no progress in a minute")
            text += os.read(controller, 4096)
        matrix = io.BytesIO()
        np.save(matrix, np.eye(3))
        with open(self.path("m.npy"), "wb") as pipe:
            pipe.write(matrix.getvalue())
        self.assertEqual(process.wait(60), 0)
        try:
            while chunk := os.read(controller, 4096):
                text += chunk
        except OSError:  # how Linux tells that nobody writes any more
            pass
        os.close(controller)
        self.assertRegex(text, rb"^(\r\x1b\[Kstructmat check: reading: \d+ s)+\r\x1b\[K")
        self.assertTrue(text.endswith(b"\r\x1b[K"))


if __name__ == "__main__":
    unittest.main()
