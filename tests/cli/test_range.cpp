// Lists of sizes on the command line.
#include "range.hpp"

#include <catch2/catch.hpp>

#include "command.hpp"

using namespace structmat;
using cli::parse_range;
using Numbers = std::vector<index_t>;

TEST_CASE("lists and ranges") {
  CHECK(parse_range("7") == Numbers{7});
  CHECK(parse_range("4,16") == Numbers{4, 16});
  CHECK(parse_range("3-5") == Numbers{3, 4, 5});
  CHECK(parse_range("256-2048*2") == Numbers{256, 512, 1024, 2048});
  CHECK(parse_range("256-2047*2") == Numbers{256, 512, 1024});
  CHECK(parse_range("10-50+20,1,5-5*3") == Numbers{10, 30, 50, 1, 5});
  CHECK(parse_range("1-9223372036854775807*1000000").size() == 4);
  CHECK(parse_range("9223372036854775806-9223372036854775807").size() == 2);
}

TEST_CASE("what is no range is refused with its text") {
  for (const char* text : {"", ",", "1,", "x", "1-", "-1", "1-2*", "1-2*x", "1*2", "1+2", "1--2",
                           "1.5", "1-4*2*2", " 1", "9223372036854775808"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_range(text), cli::UsageError);
  }
  CHECK_THROWS_WITH(parse_range("4,0"), "\"0\": numbers must be at least 1");
  CHECK_THROWS_WITH(parse_range("9-3"), "\"9-3\": the last number is below the first");
  CHECK_THROWS_WITH(parse_range("1-8*1"), "\"1-8*1\": the factor must be at least 2");
  CHECK_THROWS_WITH(parse_range("1-2000"), "\"1-2000\": more than 1000 numbers");
}
