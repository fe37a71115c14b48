#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "../support/files.hpp"
#include "structmat/io/csv.hpp"

using namespace structmat;
using namespace structmat::test;
using Catch::Matchers::Equals;
using Names = std::vector<std::string>;
using Values = std::vector<std::vector<double>>;

namespace {

io::Columns parse(const std::string& text, const io::ColumnsOptions& options = {}) {
  return io::parse_columns(bytes_of(text), "f.csv", options);
}

void wrong(const std::string& text, const std::string& expected,
           const io::ColumnsOptions& options = {}) {
  INFO(text);
  CHECK_THAT(message_of<FileError>([&] { parse(text, options); }),
             Equals("io::read_columns: f.csv, " + expected));
}

}  // namespace

TEST_CASE("read_columns finds separator and header", "[csv]") {
  const Values expected{{0, 1}, {1.5, -2e3}};
  for (const std::string text : {"0,1.5\n1,-2e3\n", "0;1.5\r\n1;-2e3\r\n", "0 1.5\n1 -2e3",
                                 "0\t1.5\n 1  \t -2e3 \n", " 0 , +1.5 \n\n \n1,-2e3",
                                 "# by hand\n0,1.5 # first\n#\n1,-2e3\n", "\"0\",\"1.5\"\n1,-2e3\n",
                                 "\xEF\xBB\xBF"
                                 "0,1.5\n1,-2e3\n"}) {
    INFO(text);
    const io::Columns columns = parse(text);
    CHECK(columns.names.empty());
    CHECK(columns.values == expected);
  }
  CHECK(parse("t,x\n0,1.5\n1,-2e3\n").values == expected);
  CHECK(parse("t,x\n0,1.5\n").names == Names{"t", "x"});
  CHECK(parse("time  value\n0 1.5\n").names == Names{"time", "value"});
  CHECK(parse("\"time, s\",\"the \"\"value\"\" # 1\"\n0,1.5\n").names ==
        Names{"time, s", "the \"value\" # 1"});
  CHECK(parse("a,b;c\n1;2\n").names == Names{"a,b", "c"});
  CHECK(parse("t,x\n").values == Values{{}, {}});
  CHECK(parse("7").values == Values{{7}});
}

TEST_CASE("read_columns of missing and infinite values", "[csv]") {
  const std::string text = "t,x\n0,1\n1,\n2,nan\n3,4\n";
  wrong(text, "line 3, column 2: the field is empty");
  wrong("1,nan\n", "line 1, column 2: the value is not a number (NaN)");
  CHECK(parse(text, {.missing = io::Missing::skip_row}).values == Values{{0, 3}, {1, 4}});
  const auto kept = parse(text, {.missing = io::Missing::as_nan});
  CHECK(kept.values[0] == std::vector<double>{0, 1, 2, 3});
  CHECK(std::isnan(kept.values[1][1]));
  CHECK(std::isnan(kept.values[1][2]));

  wrong("1\n-inf\n", "line 2, column 1: the value is infinite");
  wrong("1\ninf\n", "line 2, column 1: the value is infinite", {.missing = io::Missing::skip_row});
  CHECK(parse("1\n-inf\n", {.allow_infinite = true}).values ==
        Values{{1, -std::numeric_limits<double>::infinity()}});
}

TEST_CASE("read_columns names file, line, column and reason", "[csv]") {
  wrong("", "line 1: the file has no columns");
  wrong("# only\n\n", "line 1: the file has no columns");
  wrong("a,b\n1,2\n3,x\n", "line 3, column 2: \"x\" is not a number");
  wrong("a,1\n1,2\n", "line 1, column 1: \"a\" is not a number");
  wrong("1;2\n1,5;2\n", "line 2, column 1: \"1,5\" is not a number");
  wrong("1,2\n3\n", "line 2, column 2: the line has 1 fields, the first one 2");
  wrong("1,2\n3,4,5\n", "line 2, column 3: the line has 3 fields, the first one 2");
  wrong("1,2\n3,1e999\n", "line 2, column 2: \"1e999\" is outside the range of double");
  wrong("1,\"2\n", "line 1, column 2: the quoted field does not end");
  wrong("\"1\"2,3\n", "line 1, column 1: text follows the closing quote");
  CHECK_THROWS_AS(io::read_columns("/nowhere/a.csv"), FileError);
}

TEST_CASE("read_columns reads files", "[csv]") {
  const TemporaryFolder folder;
  write_text(folder / "a.csv", "1,2\n");
  CHECK(io::read_columns(folder / "a.csv").values == Values{{1}, {2}});
}

TEST_CASE("read_columns of a file cut anywhere gives whole columns or an error", "[csv]") {
  const std::string text = "time,\"x, m\"\n0,1.5\n1,2.5\n";
  for (std::size_t length = 0; length < text.size(); ++length) {
    try {
      const io::Columns columns = parse(text.substr(0, length));
      for (const auto& column : columns.values) {
        CHECK(column.size() == columns.values[0].size());
      }
    } catch (const FileError&) {
    }
  }
}
