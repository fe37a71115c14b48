"""structmat check: known answers, reports, pictures."""
import re
import unittest

import numpy as np

from tool import Tool


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
        self.assertIn("examined through its generators", text)
        text = self.run_tool("check", "q.safetensors", "--property", "quasiseparable", "--from", "dense")
        self.assertIn("expanded to all entries", text)

    def test_picture(self):
        self.save("z.npy", np.eye(6, k=-1))
        self.run_tool("check", "z.npy", "--property", "quasiseparable", "--plot", "z.svg")
        with open(self.path("z.svg")) as file:
            self.assertIn("<svg", file.read())
        self.assertIn("missing/z.svg", self.refusal("check", "z.npy", "--property", "quasiseparable",
                                                    "--plot", "missing/z.svg"))


if __name__ == "__main__":
    unittest.main()
