"""structmat gen against the definition of the families."""
import json
import struct
import unittest

import numpy as np

from tool import DTYPES, Tool

# std::mt19937_64 with seed 0 through the polar method (computed in Python).
FIRST_NORMAL = -0.48132337199836744


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

    def test_kernel_expression(self):
        t = np.array([0, 0.3, 1, 2.5, 40])
        np.savetxt(self.path("t.txt"), t)
        self.run_tool("gen", "kernel", "--times", "t.txt", "--kernel",
                      "exponential:scale=4 * cosine:period=3 + sho:w0=2,variance=0.5", "-o", "k.npy")
        lag = np.abs(t[:, None] - t)
        np.testing.assert_allclose(
            self.load("k.npy"), np.exp(-lag / 4) * np.cos(2 * np.pi * lag / 3) +
            0.5 * (1 + 2 * lag) * np.exp(-2 * lag), atol=1e-13)

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


if __name__ == "__main__":
    unittest.main()
