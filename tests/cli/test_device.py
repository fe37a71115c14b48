"""structmat --backend cuda, beside the same command on the CPU. Where the program has no device: that it says so."""
import json
import unittest

import numpy as np

from tool import DTYPES, Tool

STRUCTURED = ["toeplitz", "hankel", "circulant", "skew-circulant", "cauchy", "vandermonde",
              "log-vandermonde", "low-rank", "butterfly", "monarch"]


class OnDevice(Tool):
    """Skipped without a device. STRUCTMAT_TOOL may be the tool on the emulation, which has one."""

    def setUp(self):
        super().setUp()
        if not json.loads(self.run_tool("info", "--json"))["cuda"]["devices"]:
            self.skipTest("no device")

    def both(self, *arguments, output="y.npy", times=100, as_argument=False):
        """Results on both backends, which agree to rounding. as_argument: the output has no -o."""
        arguments = [*arguments, *([] if as_argument else ["-o"]), output]
        self.run_tool(*arguments)
        here = self.load(output)
        self.run_tool(*arguments, "--backend", "cuda")
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


class Check(OnDevice):
    def test_orders_from_entries(self):
        self.run_tool("gen", "quasiseparable", "-n", 30, "-r", 2, "--upper-order", 1, "-o", "q.safetensors")
        self.run_tool("convert", "q.safetensors", "q.npy")
        for prop in ["quasiseparable", "semiseparable"]:
            here = self.check_json("q.npy", "--property", prop)
            there = self.check_json("q.npy", "--property", prop, "--backend", "cuda")
            self.assertEqual(here["order"], there["order"])
            self.assertEqual(here["rank_profile"], there["rank_profile"])
            self.assertLess(there["compression"]["error"], 1e-13)
        refuted = self.check_json("q.npy", "--property", "quasiseparable", "--order", 1, "--backend", "cuda",
                                  status=1)
        self.assertFalse(refuted["holds"])
        dense = self.check_json("q.safetensors", "--property", "quasiseparable", "--from", "dense", "--backend",
                                "cuda")
        self.assertEqual(dense["order"], {"lower": 2, "upper": 1})

    def test_probes(self):
        self.run_tool("gen", "quasiseparable", "-n", 40, "-r", 2, "-o", "q.npy")
        holds = self.check_json("q.npy", "--property", "quasiseparable", "--from", "probes", "--order", 2,
                                "--backend", "cuda")
        self.assertEqual(holds["verdict"], "holds")
        violated = self.check_json("q.npy", "--property", "quasiseparable", "--from", "probes", "--order", 1,
                                   "--backend", "cuda", status=1)
        self.assertEqual(violated["verdict"], "violated")

    def test_what_is_refused(self):
        self.run_tool("gen", "quasiseparable", "-n", 9, "-o", "q.safetensors")
        self.save("a.npy", np.eye(4))
        cuda = ["--backend", "cuda"]
        for arguments, reason in [
                (["q.safetensors", "--property", "quasiseparable"], "--from dense"),
                (["q.safetensors", "--property", "quasiseparable", "--from", "probes", "--order", 1], "probes"),
                (["a.npy", "--property", "toeplitz"], "quasiseparable and semiseparable"),
                (["a.npy", "--property", "quasiseparable", "--exact", "gfp"], "quasiseparable and semiseparable")]:
            with self.subTest(arguments):
                self.assertIn(reason, self.refusal("check", *arguments, *cuda))


class Convert(OnDevice):
    def test_compression(self):
        n = np.arange(60.0)
        a = np.exp(-np.abs(n[:, None] - n) / 20) + np.outer(np.sin(n), np.cos(n))
        for dtype in DTYPES:
            self.save("a.npy", a.astype(dtype))
            text = self.run_tool("convert", "a.npy", "a.safetensors", "--backend", "cuda")
            self.assertRegex(text, "order +lower 2, upper 2")
            self.run_tool("convert", "a.safetensors", "b.npy")
            error = np.linalg.norm(self.load("b.npy") - a) / np.linalg.norm(a)
            self.assertLess(error, 300 * np.finfo(dtype).eps)

    def test_cauchy_like(self):
        for family in ["toeplitz", "vandermonde"]:
            for dtype in DTYPES:
                self.run_tool("gen", family, "-n", 12, "--dtype", dtype, "-o", "a.safetensors")
                entries = []
                for backend in ["cpu", "cuda"]:
                    self.run_tool("convert", "a.safetensors", "c.safetensors", "--to", "cauchy-like", "--backend",
                                  backend)
                    self.run_tool("convert", "c.safetensors", "c.npy")
                    entries.append(self.load("c.npy"))
                error = np.abs(entries[0] - entries[1]).max() / np.abs(entries[0]).max()
                self.assertLess(error, 1000 * np.finfo(dtype).eps)

    def test_entries(self):
        for family in STRUCTURED + ["quasiseparable", "semiseparable"]:
            with self.subTest(family):
                self.run_tool("gen", family, "-n", 16, "-o", "a.safetensors")
                self.both("convert", "a.safetensors", output="a.npy", as_argument=True)

    def test_compression_of_generators(self):
        self.run_tool("gen", "quasiseparable", "-n", 60, "-r", 3, "-o", "q.safetensors")
        self.run_tool("multiply", "q.safetensors", "q.safetensors", "-o", "p.safetensors")
        text = self.run_tool("convert", "p.safetensors", "c.safetensors", "--tolerance", 1e-10, "--backend", "cuda")
        self.assertRegex(text, "order +lower 6, upper 6")
        for name in ["p", "c"]:
            self.run_tool("convert", name + ".safetensors", name + ".npy")
        p, c = self.load("p.npy"), self.load("c.npy")
        self.assertLess(np.linalg.norm(p - c), 2e-10 * np.linalg.norm(p))

    def test_what_is_refused(self):
        self.save("a.npy", np.eye(4))
        cuda = ["--backend", "cuda"]
        self.assertIn("nothing is computed", self.refusal("convert", "a.npy", "b.mtx", *cuda))
        self.assertIn("--to toeplitz", self.refusal("convert", "a.npy", "b.safetensors", "--to", "toeplitz", *cuda))


class Multiply(OnDevice):
    def test_low_rank_and_circulant(self):
        for family in ["toeplitz", "cauchy", "low-rank"]:
            self.run_tool("gen", family, "-n", 20, "-o", "a.safetensors")
            self.run_tool("gen", "low-rank", "-n", 20, "-r", 3, "--seed", 2, "-o", "b.safetensors")
            for pair in [("a.safetensors", "b.safetensors"), ("b.safetensors", "a.safetensors")]:
                self.both("multiply", *pair, output="c.npy", times=1000)
        for family in ["circulant", "skew-circulant"]:
            self.run_tool("gen", family, "-n", 20, "-o", "a.safetensors")
            self.both("multiply", "a.safetensors", "a.safetensors", output="c.npy", times=1000)
        self.run_tool("gen", "quasiseparable", "-n", 20, "-o", "q.safetensors")
        self.assertIn("on the CPU", self.refusal("multiply", "q.safetensors", "q.safetensors", "-o", "c.npy",
                                                 "--backend", "cuda"))


class Bench(OnDevice):
    def test_rows_of_both_backends(self):
        table = json.loads(self.run_tool("bench", "quasiseparable", "-n", 64, "-r", 2, "--rhs", 1, "--backend",
                                         "cpu,cuda", "--format", "json"))
        self.assertEqual([row["backend"] for row in table["rows"]], ["cpu", "cuda"])
        self.assertGreater(table["device_copy_gb_per_s"], 0)
        for row in table["rows"]:
            self.assertLess(row["error"], 1e-13)
            self.assertGreater(row["dense_ms"], 0)


    def test_other_operations(self):
        for op in ["solve", "cholesky"]:
            table = json.loads(self.run_tool("bench", "quasiseparable", "--op", op, "-n", 40, "-r", 2, "--rhs", 1,
                                             "--backend", "cuda", "--format", "json"))
            row, = table["rows"]
            self.assertEqual(row["backend"], "cuda")
            self.assertGreater(row["ms"], 0)
            if op == "solve":
                self.assertLess(row["error"], 1e-12)
        self.assertIn("solve and cholesky", self.refusal("bench", "quasiseparable", "--op", "inverse", "--backend",
                                                         "cuda"))


class WithoutDevice(Tool):
    def test_says_so(self):
        facts = json.loads(self.run_tool("info", "--json"))
        if facts["cuda"]["devices"]:
            self.skipTest("there is a device")
        reason = "no CUDA device" if facts["cuda"]["built"] else "built without CUDA"
        for arguments in [["apply", "q.safetensors", "x.npy", "-o", "y.npy"],
                          ["solve", "q.safetensors", "b.npy", "-o", "x.npy"],
                          ["logdet", "q.safetensors"],
                          ["check", "q.npy", "--property", "quasiseparable"],
                          ["convert", "q.npy", "q.safetensors"],
                          ["multiply", "q.safetensors", "q.safetensors", "-o", "p.safetensors"],
                          ["bench", "quasiseparable"]]:
            with self.subTest(arguments):
                self.assertIn("backend cuda: " + reason, self.refusal(*arguments, "--backend", "cuda"))


if __name__ == "__main__":
    unittest.main()
