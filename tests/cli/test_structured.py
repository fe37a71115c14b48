"""structmat gen, info, convert, apply, solve, logdet and bench for structured matrices without a recurrence."""
import json
import unittest

import numpy as np

from test_gen import tensors_of
from tool import DTYPES, Tool

FAMILIES = ["toeplitz", "hankel", "circulant", "skew-circulant", "cauchy", "vandermonde",
            "log-vandermonde", "low-rank", "butterfly", "monarch"]
RECTANGULAR = ["toeplitz", "hankel", "cauchy", "vandermonde", "log-vandermonde", "low-rank", "butterfly"]


def difference(n):
    i = np.arange(n)
    return i[:, None] - i


def dense_of(family, arrays, metadata):
    """Entries from the definition of each family."""
    a = {name: value[0] for name, value in arrays.items() if name != "shape"}
    m, n = arrays.get("shape", (0, 0))
    i, j = np.arange(m)[:, None], np.arange(n)
    if family == "toeplitz":
        return a["lags"][i - j + n - 1]
    if family == "hankel":
        return a["anti_diagonals"][i + j]
    if "column" in a:
        d = difference(len(a["column"]))
        sign = -1 if family == "skew_circulant" else 1
        return a["column"][d % len(d)] * np.where(d < 0, sign, 1)
    if family == "cauchy":
        return 1 / (a["s"][:, None] - a["t"])
    if family == "vandermonde":
        return a["x"][:, None] ** j
    if family == "log_vandermonde":
        return np.exp(i * a["a"])
    if family == "low_rank":
        return a["u"] @ a["v"].T
    if family == "monarch":
        w1, w2 = a["w1"], a["w2"]
        k, q, p = w1.shape
        l, s, _ = w2.shape
        x = np.eye(k * p, dtype=w1.dtype).reshape(k, p, k * p)
        t = np.einsum("kqp,kpc->kqc", w1, x).reshape(-1, l, k * p)
        return np.einsum("lsr,rlc->slc", w2, t).reshape(l * s, k * p)
    assert family == "butterfly" and metadata["structmat.strides"] == "increasing"
    size = 2 * a["factors"].shape[1]
    x, stride = np.eye(size, dtype=a["factors"].dtype), 1
    for f in a["factors"]:
        for p in range(size // 2):
            at = p // stride * 2 * stride + p % stride
            x[[at, at + stride]] = f[p] @ x[[at, at + stride]]
        stride *= 2
    return x[:m, :n]


class Structured(Tool):
    def test_random_matrices_against_the_definition(self):
        for family in FAMILIES:
            for dtype in DTYPES:
                with self.subTest(f"{family} {dtype}"):
                    size = 9 if family == "monarch" else 8
                    shape = ["--width", 6] if family in RECTANGULAR else []
                    common = [family, "-n", size, *shape, "--dtype", dtype, "--seed", 5]
                    text = self.run_tool("gen", *common, "-o", "m.safetensors")
                    self.assertIn(f"{family}, ", text.replace("\n", ", "))
                    self.run_tool("gen", *common, "-o", "m.npy")
                    arrays, metadata = tensors_of(self.path("m.safetensors"))
                    self.assertEqual(metadata["structmat.family"], family.replace("-", "_"))
                    expected = dense_of(metadata["structmat.family"], arrays, metadata)
                    got = self.load("m.npy")
                    self.assertEqual((got.dtype, got.shape), (dtype, (size, 6 if shape else size)))
                    self.assertLess(np.abs(got - expected).max(),
                                    200 * np.finfo(dtype).eps * np.abs(expected).max())
                    x = np.random.default_rng(1).normal(size=(got.shape[1], 3))
                    self.save("x.npy", x)
                    self.run_tool("apply", "m.safetensors", "x.npy", "-o", "y.npy")
                    scale = np.abs(got).max() * np.abs(x).sum()
                    np.testing.assert_allclose(self.load("y.npy"), got @ x,
                                               atol=100 * np.finfo(dtype).eps * scale)
                    self.run_tool("apply", "m.safetensors", "y.npy", "-o", "z.npy", "--adjoint",
                                  "--threads", 1)
                    y = self.load("y.npy")
                    scale *= np.abs(got).max() * len(y)
                    np.testing.assert_allclose(self.load("z.npy"), got.conj().T @ y,
                                               atol=100 * np.finfo(dtype).eps * scale)

    def test_from_data(self):
        c, r = np.array([1.0, 2, 3, 4]), np.array([1, 5j, 6])
        self.save("c.npy", c)
        self.save("r.npy", r)
        with open(self.path("x.txt"), "w") as file:
            file.write("0.5\n-1\n2\n")
        expand = lambda: (self.run_tool("convert", "m.safetensors", "m.npy"), self.load("m.npy"))[1]
        self.run_tool("gen", "toeplitz", "--column", "c.npy", "--row", "r.npy", "-o", "m.safetensors")
        np.testing.assert_array_equal(expand(), [[1, 5j, 6], [2, 1, 5j], [3, 2, 1], [4, 3, 2]])
        self.run_tool("gen", "toeplitz", "--column", "c.npy", "--hermitian", "-o", "m.safetensors")
        np.testing.assert_array_equal(expand(), c[abs(difference(4))])
        self.save("last.npy", np.array([4.0, 7]))
        self.run_tool("gen", "hankel", "--column", "c.npy", "--row", "last.npy", "-o", "m.safetensors")
        np.testing.assert_array_equal(expand(), [[1, 2], [2, 3], [3, 4], [4, 7]])
        self.run_tool("gen", "circulant", "--column", "x.txt", "-o", "m.safetensors")
        np.testing.assert_array_equal(expand(), [[.5, 2, -1], [-1, .5, 2], [2, -1, .5]])
        self.run_tool("gen", "cauchy", "--rows", "x.txt", "--columns", "c.npy", "--skip", "-o",
                      "m.safetensors")
        np.testing.assert_allclose(expand()[2], [1, 0, -1, -.5])
        self.run_tool("gen", "vandermonde", "--nodes", "x.txt", "--size", 4, "-o", "m.safetensors")
        np.testing.assert_allclose(expand(), np.vander([.5, -1, 2], 4, increasing=True))
        self.run_tool("gen", "log-vandermonde", "--logarithms", "x.txt", "-n", 5, "-o", "m.safetensors")
        self.assertEqual(expand().shape, (5, 3))

    def test_info(self):
        text = self.run_tool("gen", "low-rank", "-n", 30, "--width", 20, "-r", 3, "-o", "l.safetensors")
        self.assertEqual(text, "l.safetensors: low-rank, order 3, 30 x 20, float64\n")
        facts = json.loads(self.run_tool("info", "l.safetensors", "--json"))
        self.assertEqual((facts["family"], facts["rows"], facts["cols"], facts["stored"]),
                         ("low-rank", 30, 20, 150))
        self.run_tool("gen", "quasiseparable", "-n", 5, "-o", "q.safetensors")
        self.assertIn("quasiseparable", self.run_tool("info", "q.safetensors"))
        self.save("a.npy", np.ones((2, 3)))
        self.assertEqual(self.run_tool("info", "a.npy"), "a.npy: 2 x 3, float64, 6 numbers\n")

    def test_dense_to_families(self):
        rng = np.random.default_rng(3)
        t = rng.normal(size=19)[difference(10) + 9]
        s = np.arange(10.0) ** 1.5
        for name, a in [("toeplitz", t), ("hankel", t[:, ::-1]),
                        ("circulant", rng.normal(size=10)[difference(10) % 10]),
                        ("vandermonde", np.vander([.5, 2, 3, -1], 4, increasing=True)),
                        ("cauchy", 1 / (s[:, None] + s + .5)),
                        ("low-rank", np.outer(rng.normal(size=40), rng.normal(size=30)))]:
            for to in [name, "recognised"]:
                with self.subTest(f"{name} {to}"):
                    self.save("a.npy", a)
                    text = self.run_tool("convert", "a.npy", "a.safetensors", "--to", to)
                    self.assertIn(f"a.safetensors: {name}", text)
                    self.run_tool("convert", "a.safetensors", "b.npy")
                    np.testing.assert_allclose(self.load("b.npy"), a, atol=1e-12 * np.abs(a).max())
        self.save("a.npy", rng.normal(size=(6, 6)))
        for family in ["toeplitz", "hankel", "circulant", "cauchy", "vandermonde"]:
            self.assertIn("deviation at", self.refusal("convert", "a.npy", "a2.safetensors", "--to", family))
        self.assertIn("no structure", self.refusal("convert", "a.npy", "a2.safetensors", "--to", "recognised"))
        self.assertIn("--to toeplitz", self.refusal("convert", "a.npy", "b.npy", "--to", "toeplitz"))
        self.assertIn("--order", self.refusal("convert", "a.npy", "a2.safetensors", "--to", "toeplitz",
                                              "--order", 1))

    def test_between_families(self):
        self.run_tool("gen", "toeplitz", "-n", 7, "--width", 5, "-o", "t.safetensors")
        self.run_tool("convert", "t.safetensors", "h.safetensors", "--to", "hankel", "--reverse-columns")
        self.run_tool("convert", "h.safetensors", "back.safetensors", "--to", "toeplitz",
                      "--reverse-columns")
        for name in "t", "h", "back":
            self.run_tool("convert", name + ".safetensors", name + ".npy")
        np.testing.assert_array_equal(self.load("h.npy"), self.load("t.npy")[:, ::-1])
        np.testing.assert_array_equal(self.load("back.npy"), self.load("t.npy"))
        self.run_tool("gen", "toeplitz", "-n", 7, "-o", "t.safetensors")
        self.run_tool("convert", "t.safetensors", "c.safetensors", "--to", "cauchy-like")
        self.run_tool("convert", "t.safetensors", "t.npy")
        self.run_tool("convert", "c.safetensors", "c.npy")
        f = np.exp(2j * np.pi * np.outer(np.arange(7), np.arange(7)) / 7) / np.sqrt(7)
        d = np.exp(1j * np.pi * np.arange(7) / 7)
        np.testing.assert_allclose(self.load("c.npy"), f @ self.load("t.npy") / d @ f.conj().T,
                                   atol=1e-12)

    def test_checks_see_the_entries(self):
        self.run_tool("gen", "toeplitz", "-n", 20, "-o", "t.safetensors")
        self.assertTrue(self.check_json("t.safetensors", "--property", "toeplitz")["holds"])
        self.check_json("t.safetensors", "--property", "hankel", status=1)
        report = self.check_json("t.safetensors", "--property", "displacement", "--order", 2)
        self.assertTrue(report["holds"])

    def test_solve_and_determinant(self):
        rng = np.random.default_rng(4)
        for family in ["toeplitz", "hankel", "circulant", "skew-circulant", "cauchy",
                       "vandermonde", "quasiseparable"]:
            for dtype in ["float64", "complex128"]:
                with self.subTest(f"{family} {dtype}"):
                    self.run_tool("gen", family, "-n", 12, "--dtype", dtype, "--seed", 2, "-o",
                                  "a.safetensors")
                    self.run_tool("convert", "a.safetensors", "a.npy")
                    a = self.load("a.npy")
                    for flag, op in [([], a), (["--transpose"], a.T), (["--adjoint"], a.conj().T)]:
                        x = rng.normal(size=(12, 2))
                        self.save("b.npy", op @ x)
                        self.run_tool("solve", "a.safetensors", "b.npy", "-o", "x.npy", *flag)
                        np.testing.assert_allclose(self.load("x.npy"), x,
                                                   atol=1e-11 * np.linalg.cond(a))
                    found = json.loads(self.run_tool("logdet", "a.safetensors", "--json"))
                    sign, log = np.linalg.slogdet(a)
                    self.assertAlmostEqual(found["log_determinant"], log, delta=1e-9)
                    got = found["sign"]
                    got = complex(got["re"], got["im"]) if isinstance(got, dict) else got
                    self.assertLess(abs(got - sign), 1e-9)
        self.assertIn("backward error",
                      (self.run_tool("gen", "toeplitz", "-n", 40, "-o", "t.safetensors"),
                       self.save("b.npy", np.ones(40)),
                       self.run_tool("solve", "t.safetensors", "b.npy", "-o", "x.npy"))[2])
        self.assertEqual(self.load("x.npy").shape, (40,))

    def test_refusals(self):
        self.save("c.npy", np.arange(3.0))
        self.save("square.npy", np.eye(3))
        self.run_tool("gen", "butterfly", "-n", 4, "-o", "b.safetensors")
        self.save("x.npy", np.ones(4))
        for arguments, reason in [
                (["gen", "toeplitz", "--column", "c.npy", "-o", "t.safetensors"], "--row"),
                (["gen", "toeplitz", "--row", "c.npy", "-o", "t.safetensors"], "--column"),
                (["gen", "toeplitz", "-o", "t.safetensors"], "--size"),
                (["gen", "toeplitz", "--column", "c.npy", "--row", "c.npy", "-n", 4, "-o",
                  "t.safetensors"], "excludes"),
                (["gen", "circulant", "--column", "square.npy", "-o", "t.safetensors"], "a vector"),
                (["gen", "cauchy", "--rows", "c.npy", "--columns", "c.npy", "-o", "t.npy"], "equals"),
                (["gen", "monarch", "-n", 8, "-o", "m.safetensors"], "b^2"),
                (["solve", "b.safetensors", "x.npy", "-o", "y.npy"], "no solver"),
                (["solve", "b.safetensors", "x.npy", "-o", "y.npy", "--condition"], "quasiseparable"),
                (["logdet", "b.safetensors"], "no determinant"),
                (["logdet", "square.npy"], "a dense matrix"),
                (["apply", "b.safetensors", "c.npy", "-o", "y.npy"], "3 rows"),
                (["bench", "toeplitz", "--order", "3"], "--order has no meaning"),
                (["bench", "low-rank", "--transition", "dense"], "--transition has no meaning"),
                (["bench", "cauchy", "--backend", "cuda"], "cuda"),
                (["convert", "b.safetensors", "c.safetensors", "--to", "cauchy-like"], "Toeplitz")]:
            with self.subTest(arguments):
                self.assertIn(reason, self.refusal(*arguments))

    def test_bench(self):
        for family in FAMILIES:
            order = ["-r", 1] if family in ["low-rank", "butterfly"] else []
            table = json.loads(self.run_tool("bench", family, "-n", "64", "--rhs", "1", *order,
                                             "--format", "json", "--threads", 1))
            self.assertIsNone(table["transition"])
            self.assertEqual(len(table["rows"]), 1)
            self.assertLess(table["rows"][0]["error"], 1e-11)


if __name__ == "__main__":
    unittest.main()
