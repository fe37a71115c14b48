"""structmat check --exact, complete --exact, lemmas."""
import json
import os
import unittest

from tool import Tool


def has_exact():
    import subprocess
    from tool import TOOL
    info = subprocess.run([TOOL, "info", "--json"], capture_output=True, text=True, check=True)
    return json.loads(info.stdout)["exact"]["built"]


@unittest.skipUnless(has_exact(), "built without exact arithmetic")
class Exact(Tool):
    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)
        return name

    def test_order_depends_on_the_field(self):
        self.write("a.mtx", "%%MatrixMarket matrix coordinate integer general\n4 4 4\n"
                            "3 1 1\n3 2 2\n4 1 3\n4 2 1\n")
        common = ["a.mtx", "--property", "quasiseparable"]
        rational = self.check_json(*common, "--exact", "rational")
        self.assertEqual((rational["order"], rational["field"], rational["proved"]),
                         ({"lower": 2, "upper": 0}, "Q", False))
        self.assertTrue(self.check_json(*common, "--exact", "rational", "--prove")["proved"])
        five = self.check_json(*common, "--exact", "gfp", "--prime", 5)
        self.assertEqual((five["order"]["lower"], five["field"]), (1, "GF(5)"))
        self.assertEqual(self.check_json(*common, "--exact", "gfp", "--prime", 7)["order"]["lower"], 2)
        self.run_tool("check", *common, "--exact", "rational", "--order", 1, status=1)
        self.run_tool("check", *common, "--exact", "gfp", "--prime", 5, "--order", 1)

    def test_text_is_read_as_written(self):
        # Rows 2 and 3 are parallel as fractions, not as doubles.
        self.write("a.txt", "# three rows\n1, 0, 0\n0.1, 1, 0\n1/3 1e-1 1\n")
        report = self.check_json("a.txt", "--property", "low-rank", "--exact", "rational")
        self.assertEqual((report["rank"], report["rows"]), (3, 3))
        self.write("b.txt", "0.1 0.2 0.3\n0.2 0.4 0.6\n")
        self.assertEqual(self.check_json("b.txt", "--property", "low-rank", "--exact",
                                         "rational")["rank"], 1)
        self.assertIn("bad.txt", self.refusal("check", self.write("bad.txt", "1 2\n3\n"), "--property",
                                              "low-rank", "--exact", "rational"))

    def test_other_properties(self):
        self.write("z.txt", "0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n")
        self.assertEqual(self.check_json("z.txt", "--property", "representable", "--exact",
                                         "rational")["rank"], 3)
        self.write("t.txt", "1 2 3\n4 1 2\n7 4 1\n")
        for field in ["rational", "gfp"]:
            self.assertEqual(self.check_json("t.txt", "--property", "displacement", "--exact",
                                             field)["rank"], 2)
        semi = self.check_json("z.txt", "--property", "semiseparable", "--exact", "rational")
        self.assertEqual(semi["order"], {"lower": 2, "upper": 0})
        for arguments in [["--property", "low-rank", "--lower", 1],
                          ["--property", "quasiseparable", "--prime", 5],
                          ["--property", "toeplitz"], ["--property", "low-rank", "--tolerance", 1],
                          ["--property", "quasiseparable", "--from", "probes", "--order", 1],
                          ["--property", "displacement", "--left", "diag:x.npy"]]:
            self.refusal("check", "t.txt", "--exact", "rational", *arguments)
        self.refusal("check", "t.txt", "--exact", "gfp", "--prime", 6, "--property", "low-rank")

    def test_complete(self):
        self.write("l.txt", "0 0 0\n1 0 0\n3 1 0\n")
        report = json.loads(self.run_tool("complete", "l.txt", "--order", 1, "--exact", "rational",
                                          "--json"))
        self.assertEqual(report["diagonal"][1], {"index": 1, "kind": "forced", "value": "1/3"})
        blocked = self.write("b.txt", "0 0 0\n1 0 0\n0 1 0\n")
        self.run_tool("complete", blocked, "--order", 1, "--exact", "gfp", "--prime", 3, status=1)
        self.assertEqual(json.loads(self.run_tool("complete", blocked, "--exact", "rational",
                                                  "--json"))["order"], 2)

    def test_lemmas(self):
        rows = json.loads(self.run_tool("lemmas", "--trials", 1, "--json"))
        self.assertTrue(all(row["holds"] for row in rows))
        self.assertEqual(set(rows[0]), {"name", "statement", "field", "instances", "holds", "witness",
                                        "violation"})
        self.assertEqual({row["field"] for row in rows}, {"rational", "gfp", "double"})
        one = json.loads(self.run_tool("lemmas", "collapse", "--order", 4, "--size", 8, "--trials", 2,
                                       "--field", "gfp", "--prime", 101, "--json"))
        self.assertEqual([(row["name"], row["instances"]) for row in one], [("collapse", 2)])
        self.assertRegex(self.run_tool("lemmas", "inverse-order", "--trials", 1),
                         r"(?m)^inverse-order +Q +\d+ +holds +the cyclic shift")
        self.refusal("lemmas", "no-such-lemma")
        self.refusal("lemmas", "--prime", 4)

    def test_page(self):
        page = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "math", "lemmas.md")
        with open(page) as file:
            self.assertEqual(self.run_tool("lemmas", "--page"), file.read())


if __name__ == "__main__":
    unittest.main()
