"""structmat convert, apply, solve and bench."""
import json
import os
import struct
import unittest

import numpy as np

from test_gen import tensors_of
from tool import DTYPES, Tool


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

    def test_generators_are_compressed(self):
        self.run_tool("gen", "quasiseparable", "-n", 60, "-r", 6, "--seed", 3, "-o", "q.safetensors")
        text = self.run_tool("convert", "q.safetensors", "r.safetensors", "--order", 2)
        self.assertRegex(text, "order +lower 2, upper 2")
        stated = float(text.split("truncation error")[1].split()[0])
        self.run_tool("convert", "q.safetensors", "q.npy")
        self.run_tool("convert", "r.safetensors", "r.npy")
        q, r = self.load("q.npy"), self.load("r.npy")
        self.assertAlmostEqual(np.linalg.norm(q - r) / np.linalg.norm(q) / stated, 1, places=2)
        self.run_tool("gen", "semiseparable", "-n", 9, "-r", 2, "-o", "s.safetensors")
        self.assertIn("quasiseparable generators", self.refusal("convert", "s.safetensors", "t.safetensors"))

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


class Multiply(Tool):
    def product(self, a, b, *options):
        text = self.run_tool("multiply", a, b, "-o", "c.safetensors", *options)
        for name in ["c.safetensors", a, b]:
            self.run_tool("convert", name, name.replace(".safetensors", ".npy"))
        c, x, y = [self.load(name.replace(".safetensors", ".npy")) for name in ["c.safetensors", a, b]]
        self.assertEqual(c.dtype, np.result_type(x, y))
        error = np.linalg.norm(c - x @ y) / (np.linalg.norm(x) * np.linalg.norm(y))
        # Entries of a factor are rounded to its own type.
        return error / max(np.finfo(m.dtype).eps for m in [x, y]), text

    def test_generators(self):
        families = [("quasiseparable", "diagonal", "float64"), ("quasiseparable", "diagonal", "complex64"),
                    ("quasiseparable", "dense", "float32"), ("semiseparable", "scalar", "float64")]
        for i, (family, transition, dtype) in enumerate(families):
            self.run_tool("gen", family, "-n", 30, "-r", 2, "--transition", transition, "--dtype", dtype, "--seed", i,
                          "-o", f"{i}.safetensors")
        for i in range(len(families)):
            for j in range(len(families)):
                with self.subTest(f"{families[i]} {families[j]}"):
                    error, text = self.product(f"{i}.safetensors", f"{j}.safetensors")
                    self.assertLess(error, 100)
                    self.assertIn("quasiseparable, order ", text)
                    self.assertIn("dense transitions" if {i, j} <= {0, 1} or i == j == 2 else "block", text)

    def test_compression(self):
        self.run_tool("gen", "quasiseparable", "-n", 40, "-r", 3, "-o", "a.safetensors")
        error, text = self.product("a.safetensors", "a.safetensors", "--tolerance", 1e-12)
        self.assertLess(error, 1e4)
        self.assertIn("truncation error", text)
        text = self.run_tool("multiply", "a.safetensors", "a.safetensors", "-o", "c.safetensors", "--order", 2)
        self.assertIn("order 2 lower and 2 upper", text)

    def test_low_rank_and_circulant(self):
        for family in ["toeplitz", "monarch", "low-rank"]:
            order = ["-r", 3] if family == "low-rank" else []
            self.run_tool("gen", family, "-n", 16, *order, "--dtype", "complex64", "-o", "a.safetensors")
            self.run_tool("gen", "low-rank", "-n", 16, "-r", 3, "--seed", 2, "-o", "b.safetensors")
            for pair in [("a.safetensors", "b.safetensors"), ("b.safetensors", "a.safetensors")]:
                error, text = self.product(*pair)
                self.assertLess(error, 100)
                self.assertIn("low-rank, order 3", text)
        for family in ["circulant", "skew-circulant"]:
            self.run_tool("gen", family, "-n", 15, "-o", "a.safetensors")
            error, text = self.product("a.safetensors", "a.safetensors")
            self.assertLess(error, 100)
            self.assertIn(family, text)

    def test_refusals(self):
        self.run_tool("gen", "quasiseparable", "-n", 5, "-o", "q.safetensors")
        self.run_tool("gen", "quasiseparable", "-n", 6, "-o", "r.safetensors")
        self.run_tool("gen", "toeplitz", "-n", 5, "-o", "t.safetensors")
        self.run_tool("gen", "low-rank", "-n", 6, "-o", "l.safetensors")
        self.save("a.npy", np.eye(5))
        for a, b, reason in [("q", "r", "5"), ("t", "t", "circulant"), ("t", "l", "6 rows"),
                             ("q", "t", "recurrence")]:
            with self.subTest(a + b):
                self.assertIn(reason, self.refusal("multiply", a + ".safetensors", b + ".safetensors", "-o",
                                                   "c.safetensors"))
        self.assertIn("structmat apply", self.refusal("multiply", "a.npy", "q.safetensors", "-o", "c.npy"))
        self.assertFalse(os.path.exists(self.path("c.safetensors")))


class Solve(Tool):
    def test_all_families_and_dtypes(self):
        random = np.random.default_rng(2)
        for family in ["quasiseparable", "semiseparable"]:
            for transition in ["scalar", "diagonal", "dense"]:
                for dtype in DTYPES:
                    with self.subTest(family=family, transition=transition, dtype=dtype):
                        self.run_tool("gen", family, "-n", 20, "-r", 2, "--transition", transition,
                                      "--dtype", dtype, "--seed", 4, "-o", "a.safetensors")
                        self.run_tool("convert", "a.safetensors", "a.npy")
                        a = self.load("a.npy")
                        for flag, op in [(None, a), ("--transpose", a.T), ("--adjoint", a.conj().T)]:
                            x = random.normal(size=(20, 3)).astype(dtype)
                            self.save("b.npy", op @ x)
                            flags = [flag] if flag else []
                            self.run_tool("solve", "a.safetensors", "b.npy", "-o", "x.npy", *flags)
                            got = self.load("x.npy")
                            residual = np.linalg.norm(op @ got - op @ x)
                            bound = np.linalg.norm(op) * np.linalg.norm(got)
                            self.assertLess(residual, 20 * np.finfo(dtype).eps * bound)

    def test_report(self):
        self.run_tool("gen", "quasiseparable", "-n", 50, "-r", 2, "--seed", 4, "-o", "a.safetensors")
        self.save("b.npy", np.ones(50))
        text = self.run_tool("solve", "a.safetensors", "b.npy", "-o", "x.npy", "--condition",
                             "--method", "lu")
        for word in ["method ", "growth ", "backward error", "condition ", "x.npy: 50 x 1"]:
            self.assertIn(word, text)
        self.assertEqual(self.load("x.npy").shape, (50,))
        report = json.loads(self.run_tool("solve", "a.safetensors", "b.npy", "-o", "x.npy", "--json"))
        self.assertEqual(report["method"], "qr")
        self.assertLess(report["backward_error"], 1e-14)

    def test_block_generators_and_singular_ones(self):
        a = np.tril(np.ones((12, 12))) + np.eye(12)
        self.save("a.npy", a)
        self.run_tool("convert", "a.npy", "a.safetensors")
        self.save("b.npy", a @ np.arange(12.0))
        self.run_tool("solve", "a.safetensors", "b.npy", "-o", "x.npy")
        np.testing.assert_allclose(self.load("x.npy"), np.arange(12.0), atol=1e-12)
        self.save("z.npy", np.zeros((3, 3)))
        self.run_tool("convert", "z.npy", "z.safetensors")
        self.save("c.npy", np.ones(3))
        self.assertIn("singular", self.refusal("solve", "z.safetensors", "c.npy", "-o", "y.npy"))
        self.assertFalse(os.path.exists(self.path("y.npy")))

    def test_usage(self):
        self.run_tool("gen", "quasiseparable", "-n", 5, "-o", "a.safetensors")
        self.save("b.npy", np.ones(4))
        self.assertIn("x has", self.refusal("solve", "a.safetensors", "b.npy", "-o", "x.npy"))
        self.save("d.npy", np.eye(4))
        self.assertIn("structmat convert", self.refusal("solve", "d.npy", "b.npy", "-o", "x.npy"))
        self.assertIn("dense", self.refusal("solve", "a.safetensors", "b.npy", "-o", "x.safetensors"))


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

    def test_other_operations(self):
        for op in ["solve", "cholesky", "multiply", "inverse", "compress", "vjp"]:
            for transition in ["scalar", "diagonal", "dense"] if op == "solve" else ["diagonal"]:
                with self.subTest(op=op, transition=transition):
                    table = json.loads(self.run_tool("bench", "quasiseparable", "--op", op, "-n", 40, "-r", 2,
                                                     "--rhs", 2, "--transition", transition, "--dtype", "complex128",
                                                     "--format", "json"))
                    self.assertEqual(table["op"], op)
                    row, = table["rows"]
                    self.assertGreater(row["gb_per_s"], 0)
                    if op in ["cholesky", "compress"]:
                        self.assertIsNone(row["dense_ms"])
                    else:
                        self.assertGreater(row["dense_ms"], 0)
                        self.assertLess(row["error"], 1e-12)
        self.assertIn("--op solve", self.refusal("bench", "toeplitz", "--op", "solve"))

    def test_cuda_is_measured_or_refused(self):
        facts = json.loads(self.run_tool("info", "--json"))
        if not facts["cuda"]["built"]:
            self.assertIn("built without CUDA",
                          self.refusal("bench", "quasiseparable", "--backend", "cpu,cuda"))
            self.assertIn("built without CUDA",
                          self.refusal("apply", "q.safetensors", "x.npy", "-o", "y.npy", "--backend", "cuda"))


if __name__ == "__main__":
    unittest.main()
