"""structmat --backend cuda, beside the same command on the CPU. Where the program has no device: that it says so."""
import json
import unittest

import numpy as np

from tool import DTYPES, TOOL, Tool

STRUCTURED = ["toeplitz", "hankel", "circulant", "skew-circulant", "cauchy", "vandermonde",
              "log-vandermonde", "low-rank", "butterfly", "monarch"]


class OnDevice(Tool):
    """Skipped without a device. STRUCTMAT_TOOL may be the tool on the emulation, which has one."""

    def setUp(self):
        super().setUp()
        if not json.loads(self.run_tool("info", "--json"))["cuda"]["devices"]:
            self.skipTest("no device")

    def both(self, *arguments, output="y.npy", times=100):
        """Results on both backends, which agree to rounding."""
        self.run_tool(*arguments, "-o", output)
        here = self.load(output)
        self.run_tool(*arguments, "-o", output, "--backend", "cuda")
        there = self.load(output)
        self.assertEqual((here.dtype, here.shape), (there.dtype, there.shape))
        scale = max(np.abs(here).max(initial=0), np.finfo(here.dtype).tiny)
        self.assertLess(np.abs(here - there).max(initial=0) / scale, times * np.finfo(here.dtype).eps)
        return there


class Apply(OnDevice):
    def test_generators_and_dense(self):
        rng = np.random.default_rng(1)
        self.save("x.npy", rng.normal(size=(40, 3)).astype("float32"))
        for family in ["quasiseparable", "semiseparable"]:
            for transition in ["scalar", "diagonal", "dense"]:
                for dtype in DTYPES:
                    with self.subTest(family=family, transition=transition, dtype=dtype):
                        self.run_tool("gen", family, "-n", 40, "-r", 2, "--transition", transition,
                                      "--dtype", dtype, "-o", "a.safetensors")
                        for op in [[], ["--transpose"], ["--adjoint"]]:
                            self.both("apply", "a.safetensors", "x.npy", *op)
        self.run_tool("convert", "a.safetensors", "a.npy")
        self.both("apply", "a.npy", "x.npy", "--adjoint")

    def test_other_families(self):
        rng = np.random.default_rng(2)
        for family in STRUCTURED:
            n = 64
            x = self.save("x.npy", rng.normal(size=n))
            self.run_tool("gen", family, "-n", n, "-o", "a.safetensors")
            with self.subTest(family):
                y = self.both("apply", "a.safetensors", x, times=1000)
                self.assertEqual(y.shape, (n,))


class Solve(OnDevice):
    def residual(self, matrix, *op):
        a = self.load("a.npy")
        if op == ("--transpose",):
            a = a.T
        elif op:
            a = a.conj().T
        x = np.random.default_rng(3).normal(size=(a.shape[0], 2)).astype(a.dtype)
        self.save("b.npy", a @ x)
        text = self.run_tool("solve", matrix, "b.npy", "-o", "x.npy", "--backend", "cuda", *op)
        self.assertIn("x.npy: ", text)
        got = self.load("x.npy")
        self.assertEqual(got.dtype, a.dtype)
        residual = np.linalg.norm(a @ got - a @ x)
        bound = np.linalg.norm(a) * np.linalg.norm(got)
        self.assertLess(residual, 200 * np.finfo(a.dtype).eps * bound)

    def test_structured(self):
        for family in ["toeplitz", "circulant", "skew-circulant", "cauchy"]:
            for dtype in DTYPES:
                self.run_tool("gen", family, "-n", 20, "--dtype", dtype, "--seed", 5, "-o", "a.safetensors")
                self.run_tool("convert", "a.safetensors", "a.npy")
                for op in [(), ("--transpose",), ("--adjoint",)]:
                    with self.subTest(family=family, dtype=dtype, op=op):
                        self.residual("a.safetensors", *op)

    def test_hermitian_quasiseparable(self):
        np.savetxt(self.path("t.txt"), np.sort(np.random.default_rng(4).uniform(0, 30, 60)))
        self.run_tool("gen", "kernel", "--times", "t.txt", "--kernel", "matern32:scale=2 + cosine:period=3",
                      "--noise", 0.1, "-o", "a.safetensors")
        self.run_tool("convert", "a.safetensors", "a.npy")
        self.residual("a.safetensors")
        here = json.loads(self.run_tool("logdet", "a.safetensors", "--json"))
        there = json.loads(self.run_tool("logdet", "a.safetensors", "--json", "--backend", "cuda"))
        self.assertEqual(there["sign"], 1)
        self.assertAlmostEqual(here["log_determinant"], there["log_determinant"], places=9)

    def test_what_is_refused(self):
        self.save("b.npy", np.ones(9))
        cuda = ["--backend", "cuda"]
        self.run_tool("gen", "quasiseparable", "-n", 9, "-o", "q.safetensors")
        self.run_tool("gen", "semiseparable", "-n", 9, "-o", "s.safetensors")
        for name in ["q.safetensors", "s.safetensors"]:
            self.assertIn("Hermitian", self.refusal("solve", name, "b.npy", "-o", "x.npy", *cuda))
            self.assertIn("Hermitian", self.refusal("logdet", name, *cuda))
        self.run_tool("gen", "vandermonde", "-n", 9, "-o", "v.safetensors")
        self.assertIn("Toeplitz, circulant", self.refusal("solve", "v.safetensors", "b.npy", "-o", "x.npy", *cuda))
        self.assertIn("Hermitian quasiseparable", self.refusal("logdet", "v.safetensors", *cuda))
        self.assertIn("--method", self.refusal("solve", "q.safetensors", "b.npy", "-o", "x.npy", "--method", "lu",
                                               *cuda))
        # Singular, and not definite.
        self.save("c.npy", np.zeros(9))
        self.run_tool("gen", "circulant", "--column", "c.npy", "-o", "c.safetensors")
        self.assertIn("c.safetensors: pivot 0", self.refusal("solve", "c.safetensors", "b.npy", "-o", "x.npy", *cuda))


class Bench(OnDevice):
    def test_rows_of_both_backends(self):
        table = json.loads(self.run_tool("bench", "quasiseparable", "-n", 64, "-r", 2, "--rhs", 1, "--backend",
                                         "cpu,cuda", "--format", "json"))
        self.assertEqual([row["backend"] for row in table["rows"]], ["cpu", "cuda"])
        self.assertGreater(table["device_copy_gb_per_s"], 0)
        for row in table["rows"]:
            self.assertLess(row["error"], 1e-13)
            self.assertGreater(row["dense_ms"], 0)


class WithoutDevice(Tool):
    def test_says_so(self):
        facts = json.loads(self.run_tool("info", "--json"))
        if facts["cuda"]["devices"]:
            self.skipTest("there is a device")
        reason = "no CUDA device" if facts["cuda"]["built"] else "built without CUDA"
        for arguments in [["apply", "q.safetensors", "x.npy", "-o", "y.npy"],
                          ["solve", "q.safetensors", "b.npy", "-o", "x.npy"],
                          ["logdet", "q.safetensors"],
                          ["bench", "quasiseparable"]]:
            with self.subTest(arguments):
                self.assertIn("backend cuda: " + reason, self.refusal(*arguments, "--backend", "cuda"))


if __name__ == "__main__":
    unittest.main()
