"""Runs the structmat tool as a user does. Usage: test_tool.py PATH-OF-STRUCTMAT [unittest options]"""
import glob
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np

TOOL = None
# std::mt19937_64 with seed 0 through the polar method (computed in Python).
FIRST_NORMAL = -0.48132337199836744
DTYPES = ["float32", "float64", "complex64", "complex128"]


def tensors_of(path):
    """The arrays and the metadata of a .safetensors file, by an independent reader."""
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    metadata = header.pop("__metadata__", {})
    arrays = {}
    for name, info in header.items():
        kind = {"F32": "<f4", "F64": "<f8", "I64": "<i8"}[info["dtype"]]
        begin, end = info["data_offsets"]
        array = np.frombuffer(data[begin:end], kind).reshape(info["shape"])
        if "structmat.dtype." + name in metadata:
            array = array.view(metadata["structmat.dtype." + name])[..., 0]
        arrays[name] = array
    return arrays, metadata


def transition(a, i, r):
    """a_i as an r x r matrix, whatever the kind."""
    return a[i] * np.eye(r) if a.ndim == 1 else np.diag(a[i]) if a.ndim == 2 else a[i]


def lower_of(p, a, q, diagonal_included):
    """Entries from the definition: exclusive below the diagonal, or inclusive on and below it."""
    n, r = p.shape
    m = np.zeros((n, n), p.dtype)
    for j in range(n):
        state = q[j]
        if diagonal_included:
            m[j, j] = p[j] @ state
        for i in range(j + 1, n):
            if diagonal_included:
                state = transition(a, i, r) @ state
            m[i, j] = p[i] @ state
            if not diagonal_included:
                state = transition(a, i, r) @ state
    return m


def upper_of(g, b, h):
    """g_i^T b_{i+1} ... b_{j-1} h_j is the lower form of the transpose with transposed transitions."""
    return lower_of(h, np.swapaxes(b, -1, -2) if b.ndim == 3 else b, g, False).T


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
                (["check", "a.npy", "--property", "toeplitz"], "toeplitz"),
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
                (["bench", "toeplitz"], "toeplitz"),
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


class Gen(Tool):
    def dense_from_tensors(self, name):
        arrays, metadata = tensors_of(self.path(name))
        a = {key: value[0] for key, value in arrays.items()}
        if metadata["structmat.family"] == "semiseparable":
            return lower_of(a["c"], a["a"], a["b"], True)
        return (lower_of(a["p"], a["a"], a["q"], False) + np.diag(a["d"]) +
                upper_of(a["g"], a["b"], a["h"]))

    def test_all_kinds_against_the_definition(self):
        for family in ["quasiseparable", "semiseparable"]:
            for kind in ["scalar", "diagonal", "dense"]:
                for dtype in DTYPES:
                    with self.subTest(f"{family} {kind} {dtype}"):
                        common = [family, "-n", 9, "-r", 2, "--transition", kind, "--dtype", dtype,
                                  "--seed", 5]
                        self.run_tool("gen", *common, "-o", "m.safetensors")
                        self.run_tool("gen", *common, "-o", "m.npy")
                        dense = self.load("m.npy")
                        self.assertEqual(dense.dtype, dtype)
                        expected = self.dense_from_tensors("m.safetensors")
                        error = np.abs(dense - expected).max()
                        self.assertLess(error, 100 * np.finfo(dtype).eps * np.abs(dense).max())

    def test_seeds(self):
        def generators(seed):
            self.run_tool("gen", "quasiseparable", "--size", 20, "--order", 3, "--seed", seed, "-o",
                          "q.safetensors")
            with open(self.path("q.safetensors"), "rb") as file:
                return file.read()
        self.assertEqual(generators(1), generators(1))
        self.assertNotEqual(generators(1), generators(2))
        self.run_tool("gen", "semiseparable", "-n", 1, "-r", 1, "--seed", 0, "-o", "s.safetensors")
        c = tensors_of(self.path("s.safetensors"))[0]["c"].ravel()[0]
        self.assertAlmostEqual(c, FIRST_NORMAL, delta=1e-15)

    def test_orders_and_contraction(self):
        self.run_tool("gen", "quasiseparable", "-n", 60, "-r", 3, "--upper-order", 1, "--transition",
                      "dense", "-o", "q.safetensors")
        arrays, _ = tensors_of(self.path("q.safetensors"))
        singular = np.linalg.svd(arrays["a"][0], compute_uv=False)
        self.assertTrue((singular <= 1 + 1e-12).all() and (singular >= 0.9 - 1e-12).all())
        report = self.check_json("q.safetensors", "--property", "quasiseparable")
        self.assertEqual(report["order"], {"lower": 3, "upper": 1})

    def test_empty_and_single(self):
        for n in [0, 1]:
            self.run_tool("gen", "quasiseparable", "-n", n, "-r", 2, "-o", "q.safetensors")
            self.run_tool("convert", "q.safetensors", "q.npy")
            self.assertEqual(self.load("q.npy").shape, (n, n))
            report = self.check_json("q.safetensors", "--property", "quasiseparable", "--order", 0)
            self.assertTrue(report["holds"])

    def test_kernel(self):
        with open(self.path("t.csv"), "w") as file:
            file.write("value,time\n5,0\n6,1\n7,1000\n8,1001\n")
        common = ["gen", "kernel", "--times", "t.csv", "--column", "time", "--kernel",
                  "matern32:scale=2,variance=3", "--noise", 0.5]
        self.run_tool(*common, "-o", "k.npy")
        t = np.array([0, 1, 1000, 1001.0])
        s = np.sqrt(3) * np.abs(t[:, None] - t) / 2
        np.testing.assert_allclose(self.load("k.npy"), 3 * (1 + s) * np.exp(-s) + 0.5 * np.eye(4),
                                   rtol=1e-12, atol=1e-300)
        self.run_tool(*common, "-o", "k.safetensors")
        self.run_tool("convert", "k.safetensors", "k2.npy")
        np.testing.assert_array_equal(self.load("k.npy"), self.load("k2.npy"))

    def test_kernel_of_the_first_column(self):
        with open(self.path("t.txt"), "w") as file:
            file.writelines(f"{i}\n" for i in range(1000))
        self.run_tool("gen", "kernel", "--times", "t.txt", "--kernel", "exponential", "-o",
                      "k.safetensors")
        self.save("ones.npy", np.ones(1000))
        self.run_tool("apply", "k.safetensors", "ones.npy", "-o", "sums.npy")
        self.assertAlmostEqual(self.load("sums.npy").ravel()[500], 2.163953413738653, delta=1e-13)

    def test_kernel_refusals(self):
        with open(self.path("t.csv"), "w") as file:
            file.write("time\n0\n2\n1\n")
        common = ["gen", "kernel", "--times", "t.csv", "-o", "k.npy", "--kernel"]
        self.assertIn("time 2 is 1", self.refusal(*common, "exponential"))
        self.assertIn("known are exponential, matern12", self.refusal(*common, "rbf"))
        self.assertIn("no column \"t\"; there are time",
                      self.refusal(*common, "exponential", "--column", "t"))


class Check(Tool):
    def test_inverse_of_a_tridiagonal_matrix(self):
        a = np.array([[4, 3, 2, 1], [3, 6, 4, 2], [2, 4, 6, 3], [1, 2, 3, 4]]) / 5
        self.save("a.npy", a)
        report = self.check_json("a.npy", "--property", "quasiseparable", "--order", 1)
        self.assertEqual(
            set(report) - {"file", "compression"},
            {"property", "holds", "order", "rank_profile", "smallest_kept", "largest_dropped",
             "tolerance", "worst_block", "size", "complete", "relative_to", "asked",
             "frobenius_norm"})
        self.assertEqual(report["order"], {"lower": 1, "upper": 1})
        self.assertEqual(report["rank_profile"], {"lower": [1] * 3, "upper": [1] * 3})
        self.assertEqual(report["asked"], {"lower": 1, "upper": 1})
        self.assertEqual((report["size"], report["complete"], report["holds"]), (4, True, True))
        self.assertAlmostEqual(report["frobenius_norm"], np.linalg.norm(a), delta=1e-14)
        self.assertAlmostEqual(report["tolerance"], 4 * np.finfo(float).eps)
        self.assertLess(report["largest_dropped"], report["tolerance"])
        self.assertGreater(report["smallest_kept"], 0.1)
        refuted = self.check_json("a.npy", "--property", "quasiseparable", "--order", 0, status=1)
        self.assertFalse(refuted["holds"])
        block = refuted["worst_block"]
        sub = a[block["row_begin"]:block["row_end"], block["col_begin"]:block["col_end"]]
        np.testing.assert_allclose(block["singular_values"][0],
                                   np.linalg.norm(sub, 2) / np.linalg.norm(a), rtol=1e-12)

    def test_shift(self):
        self.save("z.npy", np.eye(4, k=-1))
        report = self.check_json("z.npy", "--property", "quasiseparable")
        self.assertEqual(report["order"], {"lower": 1, "upper": 0})
        self.run_tool("check", "z.npy", "--property", "quasiseparable", "--lower", 1, "--upper", 0)
        self.run_tool("check", "z.npy", "--property", "quasiseparable", "--lower", 0, status=1)
        self.run_tool("check", "z.npy", "--property", "quasiseparable", "--upper", 0)

    def test_two_by_two_block(self):
        a = np.eye(4)
        a[2, 0], a[2, 1], a[3, 0], a[3, 1] = 1, 2, 3, 1
        self.save("a.npy", a)
        report = self.check_json("a.npy", "--property", "quasiseparable")
        self.assertEqual(report["order"], {"lower": 2, "upper": 0})
        self.run_tool("check", "a.npy", "--property", "quasiseparable", "--order", 1, status=1)
        self.run_tool("check", "a.npy", "--property", "quasiseparable", "--order", 2)

    def test_semiseparable(self):
        self.run_tool("gen", "semiseparable", "-n", 50, "-r", 2, "-o", "s.safetensors")
        report = self.check_json("s.safetensors", "--property", "semiseparable", "--order", 2)
        self.assertEqual(report["order"]["lower"], 2)
        self.run_tool("check", "s.safetensors", "--property", "semiseparable", "--order", 1, status=1)

    def test_tolerance_and_reference(self):
        a = np.diag(np.arange(1.0, 9))
        a[6, 0], a[7, 1] = 1, 1e-6
        self.save("a.npy", a)
        common = ["a.npy", "--property", "quasiseparable"]
        self.assertEqual(self.check_json(*common)["order"]["lower"], 2)
        loose = self.check_json(*common, "--tolerance", 1e-5)
        self.assertEqual((loose["order"]["lower"], loose["tolerance"]), (1, 1e-5))
        block = self.check_json(*common, "--tolerance", 1e-5, "--relative-to", "block")
        self.assertEqual(block["relative_to"], "block")

    def test_text(self):
        n = np.arange(200.0)
        self.save("k.npy", np.exp(-np.abs(n[:, None] - n) / 7))
        text = self.run_tool("check", "k.npy", "--property", "quasiseparable", "--order", 1)
        for pattern in [r"^file +k.npy: 200 x 200, float64$", r"^order +lower 1, upper 1$",
                        r"^verdict +holds$", r"^smallest kept +\S+$", r"^largest dropped +\S+$",
                        r"^worst block +\w+, rows \d+ to 199, columns 0 to \d+$",
                        r"^compression +\d+ numbers instead of 40000 \(1/"]:
            self.assertRegex(text, re.compile(pattern, re.M))
        self.save("random.npy", np.random.default_rng(0).normal(size=(60, 60)))
        text = self.run_tool("check", "random.npy", "--property", "quasiseparable")
        self.assertIn("structure brings nothing", text)
        self.run_tool("gen", "quasiseparable", "-n", 40, "-o", "q.safetensors")
        text = self.run_tool("check", "q.safetensors", "--property", "quasiseparable")
        self.assertIn("expanded to all entries", text)

    def test_picture(self):
        self.save("z.npy", np.eye(6, k=-1))
        self.run_tool("check", "z.npy", "--property", "quasiseparable", "--plot", "z.svg")
        with open(self.path("z.svg")) as file:
            self.assertIn("<svg", file.read())
        self.assertIn("missing/z.svg", self.refusal("check", "z.npy", "--property", "quasiseparable",
                                                    "--plot", "missing/z.svg"))


class Convert(Tool):
    def test_compress_and_expand(self):
        n = np.arange(300.0)
        a = np.exp(-np.abs(n[:, None] - n) / 20) + np.outer(np.sin(n), np.cos(n))
        for dtype in DTYPES:
            with self.subTest(dtype):
                self.save("a.npy", a.astype(dtype))
                text = self.run_tool("convert", "a.npy", "a.safetensors", "--to", "quasiseparable")
                for word in ["order ", "truncation error", "rounding bound", "stored "]:
                    self.assertIn(word, text)
                arrays, metadata = tensors_of(self.path("a.safetensors"))
                self.assertEqual(metadata["structmat.dtype"], dtype)
                stored = sum(x.size for k, x in arrays.items() if len(k) == 1)
                self.assertIn(f"{stored} numbers", text)
                self.assertLess(stored, a.size / 10)
                self.run_tool("convert", "a.safetensors", "b.npy", "--to", "dense")
                b = self.load("b.npy")
                self.assertEqual(b.dtype, dtype)
                error = np.linalg.norm(b - a) / np.linalg.norm(a)
                self.assertLess(error, 300 * np.finfo(dtype).eps)

    def test_tolerance_and_order(self):
        n = np.arange(100.0)
        a = 1 / (1 + np.abs(n[:, None] - n))
        self.save("a.npy", a)
        self.run_tool("convert", "a.npy", "a.safetensors", "--tolerance", 1e-3)
        self.run_tool("convert", "a.safetensors", "b.npy")
        self.assertLess(np.linalg.norm(self.load("b.npy") - a), 1e-3 * np.linalg.norm(a))
        text = self.run_tool("convert", "a.npy", "a.safetensors", "--order", 2)
        self.assertRegex(text, "order +lower 2, upper 2")

    def test_containers(self):
        a = np.random.default_rng(1).normal(size=(5, 3)) + 1j
        self.save("a.npy", a)
        self.run_tool("convert", "a.npy", "a.mtx")
        self.run_tool("convert", "a.mtx", "b.npy")
        np.testing.assert_array_equal(self.load("b.npy"), a)
        # Over an existing file, and onto the input itself.
        self.run_tool("convert", "b.npy", "b.npy")
        np.testing.assert_array_equal(self.load("b.npy"), a)
        self.run_tool("gen", "quasiseparable", "-n", 4, "-o", "q.safetensors")
        self.assertIn("both hold generators", self.refusal("convert", "q.safetensors", "r.safetensors"))

    def test_several_matrices_are_refused(self):
        arrays = {"c": (2, 3, 1), "b": (2, 3, 1), "a": (2, 3)}
        header, at = {"__metadata__": {"structmat.family": "semiseparable", "structmat.format": "1",
                                       "structmat.transition": "scalar", "structmat.dtype": "float64",
                                       "structmat.form": "inclusive"}}, 0
        for name, shape in arrays.items():
            size = 8 * int(np.prod(shape))
            header[name] = {"dtype": "F64", "shape": shape, "data_offsets": [at, at + size]}
            at += size
        text = json.dumps(header).encode()
        with open(self.path("two.safetensors"), "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text + bytes(at))
        self.assertIn("2 matrices", self.refusal("convert", "two.safetensors", "a.npy"))


class Apply(Tool):
    def test_against_numpy(self):
        rng = np.random.default_rng(2)
        self.run_tool("gen", "quasiseparable", "-n", 70, "-r", 3, "--dtype", "complex128", "-o",
                      "q.safetensors")
        self.run_tool("convert", "q.safetensors", "q.npy")
        self.run_tool("convert", "q.npy", "block.safetensors")
        a = self.load("q.npy")
        x = rng.normal(size=(70, 4))
        self.save("x.npy", x)
        for matrix in ["q.safetensors", "q.npy", "block.safetensors"]:
            for options, m in [([], a), (["--transpose"], a.T), (["--adjoint"], a.conj().T)]:
                with self.subTest(f"{matrix} {options}"):
                    self.run_tool("apply", matrix, "x.npy", "-o", "y.npy", "--threads", 1, *options)
                    y = self.load("y.npy")
                    self.assertEqual((y.dtype, y.shape), (np.complex128, (70, 4)))
                    np.testing.assert_allclose(y, m @ x, atol=1e-12 * np.abs(m @ x).max())

    def test_dtypes_widen_without_loss(self):
        for a in DTYPES:
            for b in DTYPES:
                with self.subTest(f"{a} {b}"):
                    self.run_tool("gen", "semiseparable", "-n", 8, "--dtype", a, "-o", "s.safetensors")
                    self.save("x.npy", np.arange(8).astype(b))
                    self.run_tool("apply", "s.safetensors", "x.npy", "-o", "y.npy")
                    self.assertEqual(self.load("y.npy").dtype, np.result_type(np.dtype(a), np.dtype(b)))

    def test_shapes(self):
        self.save("a.npy", np.arange(6.0).reshape(2, 3))
        self.save("x.npy", np.ones(3))
        self.run_tool("apply", "a.npy", "x.npy", "-o", "y.npy")
        np.testing.assert_array_equal(self.load("y.npy"), [3, 12])
        self.save("column.npy", np.ones((3, 1)))
        self.run_tool("apply", "a.npy", "column.npy", "-o", "y.npy")
        self.assertEqual(self.load("y.npy").shape, (2, 1))
        self.run_tool("apply", "a.npy", "x.npy", "-o", "y.mtx")
        self.run_tool("apply", "a.npy", "y.mtx", "-o", "z.npy", "--transpose")
        np.testing.assert_allclose(self.load("z.npy").ravel(), [36, 51, 66])
        self.assertIn("3 rows, the operator has 2 columns",
                      self.refusal("apply", "a.npy", "x.npy", "-o", "w.npy", "--adjoint"))
        self.run_tool("gen", "quasiseparable", "-n", 5, "-o", "q.safetensors")
        self.assertIn("3 rows", self.refusal("apply", "q.safetensors", "x.npy", "-o", "w.npy"))
        self.assertIn("dense file", self.refusal("apply", "a.npy", "q.safetensors", "-o", "w.npy"))


class Bench(Tool):
    def test_formats(self):
        common = ["bench", "quasiseparable", "-n", "64-128*2", "-r", "2,3", "--rhs", "1,4",
                  "--dense-limit", "1e-4"]
        table = json.loads(self.run_tool(*common, "--format", "json"))
        self.assertEqual(len(table["rows"]), 8)
        self.assertIn("BLAS", table["machine"])
        for row in table["rows"]:
            self.assertGreaterEqual(row["ms"], row["fastest_ms"])
            self.assertGreater(row["fastest_ms"], 0)
            if row["ms"] > 2 * row["fastest_ms"]:
                self.assertTrue(row["unsteady"])
            # 64^2 * 8 bytes fit into 0.1 MB, 128^2 * 8 do not.
            self.assertEqual(row["dense_ms"] is None, row["n"] == 128)
            if row["error"] is not None:
                self.assertLess(row["error"], 1e-13)
        self.run_tool(*common, "--format", "csv", "-o", "t.csv")
        with open(self.path("t.csv")) as file:
            lines = file.read().splitlines()
        self.assertTrue(lines[0].startswith("# quasiseparable apply"))
        self.assertEqual(len(lines), 10)
        text = self.run_tool("bench", "semiseparable", "-n", "32", "-r", "1", "--rhs", "1", "--threads",
                             "1", "--op", "apply_adjoint", "--dtype", "complex64", "--transition",
                             "dense")
        self.assertIn("1 BLAS threads, 1 OpenMP threads", text)
        self.assertIn("|     32 |     1 |   1 |", text)

    def test_cuda_is_measured_or_refused(self):
        facts = json.loads(self.run_tool("info", "--json"))
        if not facts["cuda"]["built"]:
            self.assertIn("built without CUDA",
                          self.refusal("bench", "quasiseparable", "--backend", "cpu,cuda"))


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
        controller, terminal = pty.openpty()
        subprocess.run([TOOL, "bench", "quasiseparable", "-n", "64-512*2", "-r", "2"], check=True,
                       stdout=subprocess.DEVNULL, stderr=terminal, timeout=120)
        os.close(terminal)
        text = b""
        try:
            while chunk := os.read(controller, 4096):
                text += chunk
        except OSError:  # how Linux tells that nobody writes any more
            pass
        os.close(controller)
        self.assertRegex(text, rb"^(\r\x1b\[Kstructmat bench: \d+ (%|s))+\r\x1b\[K$")


if __name__ == "__main__":
    TOOL = os.path.abspath(sys.argv.pop(1))
    unittest.main()
