"""structmat check for other properties than orders, classify, complete."""
import json
import unittest

import numpy as np

from tool import Tool

RNG = np.random.default_rng(5)


def toeplitz(column, row):
    n, m = len(column), len(row)
    lags = np.concatenate([row[:0:-1], column])
    return np.array([[lags[i - j + m - 1] for j in range(m)] for i in range(n)])


class Structures(Tool):
    def both(self, name, matrix, prop, *arguments):
        """The property holds, and no longer after one entry is changed."""
        self.save(name + ".npy", matrix)
        report = self.check_json(name + ".npy", "--property", prop, *arguments)
        self.assertTrue(report["holds"])
        changed = matrix.copy()
        changed[-2, 1] += 0.5
        self.save(name + "_changed.npy", changed)
        broken = self.check_json(name + "_changed.npy", "--property", prop, *arguments, status=1)
        self.assertFalse(broken["holds"])
        self.assertIn("DOES NOT HOLD", self.run_tool("check", name + "_changed.npy", "--property",
                                                     prop, *arguments, status=1))
        return report

    def test_entry_by_entry(self):
        column, row = RNG.normal(size=7), RNG.normal(size=9)
        row[0] = column[0]
        t = toeplitz(column, row)
        self.assertLess(self.both("t", t, "toeplitz")["deviation"], 1e-15)
        self.both("h", t[:, ::-1].copy(), "hankel")
        c = RNG.normal(size=6)
        self.both("c", np.array([np.roll(c, j) for j in range(6)]).T, "circulant")
        x = RNG.normal(size=5)
        self.both("v", x[:, None] ** np.arange(6), "vandermonde")
        s, t = np.arange(5.0), np.arange(6) + 0.5
        self.both("cauchy", 1 / (s[:, None] - t), "cauchy")

    def test_band(self):
        band = np.triu(np.tril(RNG.normal(size=(8, 8)), 2), -1)
        report = self.both("b", band, "banded", "--lower", 1, "--upper", 2)
        self.assertEqual(report["band"], {"lower": 1, "upper": 2})
        self.run_tool("check", "b.npy", "--property", "banded", "--order", 1, status=1)
        self.assertEqual(self.check_json("b_changed.npy", "--property", "banded")["band"]["lower"], 5)

    def test_ranks(self):
        a = RNG.normal(size=(20, 3)) @ RNG.normal(size=(3, 30))
        report = self.both("a", a, "low-rank", "--order", 3)
        self.assertEqual((report["rank"], report["rows"], report["cols"]), (3, 20, 30))
        np.testing.assert_allclose(report["singular_values"][:3],
                                   np.linalg.svd(a)[1][:3] / np.linalg.norm(a), rtol=1e-10)
        t = toeplitz(RNG.normal(size=9), RNG.normal(size=9))
        inverse = np.linalg.inv(t)
        self.both("i", inverse, "displacement", "--order", 2)
        x = RNG.normal(size=6)
        self.save("x.npy", x[:, None])
        self.both("v", x[:, None] ** np.arange(6), "displacement", "--order", 1, "--left",
                  "diag:" + self.path("x.npy"), "--right", "z:0")
        shifted = self.check_json("i.npy", "--property", "displacement", "--stein", "--left", "z:1",
                                  "--right", "zt:-1")
        self.assertEqual(shifted["kind"], "stein")

    def test_refusals(self):
        self.save("a.npy", np.eye(3))
        for arguments in [["--property", "toeplitz", "--lower", 1], ["--property", "low-rank", "--from",
                          "probes"], ["--property", "quasiseparable", "--from", "probes"],
                          ["--property", "displacement", "--left", "q:1"],
                          ["--property", "displacement", "--left", "z:one"],
                          ["--property", "semiseparable", "--from", "generators"],
                          ["--property", "quasiseparable", "--prime", 5],
                          ["--property", "toeplitz", "--plot", "t.svg"],
                          ["--property", "toeplitz", "--order", 2],
                          ["--property", "low-rank", "--relative-to", "block"],
                          ["--property", "quasiseparable", "--order", 1, "--lower", 1]]:
            self.refusal("check", "a.npy", *arguments)

    def test_generators(self):
        self.run_tool("gen", "quasiseparable", "-n", 300, "-r", 3, "-o", "q.safetensors")
        direct = self.check_json("q.safetensors", "--property", "quasiseparable", "--order", 3)
        dense = self.check_json("q.safetensors", "--property", "quasiseparable", "--order", 3,
                                "--from", "dense")
        for key in ["order", "rank_profile", "holds", "tolerance", "size"]:
            self.assertEqual(direct[key], dense[key], key)
        np.testing.assert_allclose(direct["frobenius_norm"], dense["frobenius_norm"], rtol=1e-12)
        np.testing.assert_allclose(direct["smallest_kept"], dense["smallest_kept"], rtol=1e-6)
        self.run_tool("check", "q.safetensors", "--property", "quasiseparable", "--order", 2, status=1)

    def test_probes(self):
        n = np.arange(200.0)
        self.save("k.npy", np.exp(-np.abs(n[:, None] - n) / 7))
        report = self.check_json("k.npy", "--property", "quasiseparable", "--order", 1, "--from",
                                 "probes")
        self.assertEqual((report["verdict"], report["claim"]), ("holds", "both"))
        self.assertLess(report["failure_probability"], 1e-6)
        broken = self.check_json("k.npy", "--property", "quasiseparable", "--order", 0, "--from",
                                 "probes", status=1)
        self.assertEqual(broken["verdict"], "violated")
        self.assertGreater(broken["worst_block"]["lower_bound"], broken["tolerance"])
        self.run_tool("gen", "quasiseparable", "-n", 100, "-r", 2, "-o", "q.safetensors")
        self.assertEqual(self.check_json("q.safetensors", "--property", "quasiseparable", "--order", 2,
                                         "--from", "probes")["claim"], "sum")
        self.assertIn("probability", self.run_tool("check", "k.npy", "--property", "quasiseparable",
                                                   "--order", 1, "--from", "probes"))

    def test_representable(self):
        self.save("z.npy", np.eye(4, k=-1))
        report = self.check_json("z.npy", "--property", "representable")
        self.assertEqual((report["rank"], report["lower_order"]), (3, 1))
        self.run_tool("check", "z.npy", "--property", "representable", "--order", 2, status=1)

    def test_classify(self):
        t = toeplitz(RNG.normal(size=12), RNG.normal(size=12))
        self.save("t.npy", t)
        findings = json.loads(self.run_tool("classify", "t.npy", "--json"))["findings"]
        by_name = {f["name"]: f for f in findings}
        self.assertEqual(by_name["toeplitz"]["storage"], 23)
        self.assertEqual([f["storage"] for f in findings], sorted(f["storage"] for f in findings))
        self.assertIn("toeplitz", self.run_tool("classify", "t.npy"))
        self.save("random.npy", RNG.normal(size=(12, 12)))
        self.assertIn("none that saves storage", self.run_tool("classify", "random.npy"))
        self.save("nan.npy", np.full((2, 2), np.nan))
        self.refusal("classify", "nan.npy")

    def test_complete(self):
        def triangle(a, b, c):
            return self.save("l.npy", np.array([[0, 0, 0], [a, 0, 0], [b, c, 0]], float))
        triangle(1, 0, 1)
        none = json.loads(self.run_tool("complete", "l.npy", "--order", 1, "--json", status=1))
        self.assertFalse(none["completable"])
        self.assertEqual(none["blocking"], {"index": 1, "ranks": {"left": 1, "below": 1, "common": 0,
                                                                  "least": 2}})
        self.assertIn("NOT COMPLETABLE", self.run_tool("complete", "l.npy", "--order", 1, status=1))
        triangle(1, 2, 1)
        half = json.loads(self.run_tool("complete", "l.npy", "--order", 1, "--json", "-o", "s.npy"))
        self.assertEqual([d["kind"] for d in half["diagonal"]], ["free", "forced", "free"])
        self.assertAlmostEqual(half["diagonal"][1]["value"], 0.5)
        self.assertIsNone(half["blocking"])
        self.assertAlmostEqual(self.load("s.npy")[1, 1], 0.5)
        triangle(0, 0, 1)
        self.assertRegex(self.run_tool("complete", "l.npy", "--order", 1), r"(?m)^ +1  free +any$")
        self.run_tool("gen", "quasiseparable", "-n", 60, "-r", 2, "-o", "q.safetensors")
        self.assertIn("completable", self.run_tool("complete", "q.safetensors", "--order", 2))

    def test_picture_of_decay(self):
        self.save("z.npy", np.eye(40, k=-1) + np.tri(40))
        self.run_tool("check", "z.npy", "--property", "quasiseparable", "--plot", "z.svg")
        with open(self.path("z.svg")) as file:
            text = file.read()
        self.assertEqual(text.count('class="decay"'), 6)
        self.assertIn("lower, k = 20", text)


if __name__ == "__main__":
    unittest.main()
