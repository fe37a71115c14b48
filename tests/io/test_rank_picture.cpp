#include <catch2/catch.hpp>
#include <cctype>
#include <cmath>
#include <limits>

#include "../support/files.hpp"
#include "structmat/io/rank_picture.hpp"

using namespace structmat;
using namespace structmat::test;
using Catch::Matchers::Contains;
using Catch::Matchers::Equals;

namespace {

/// What is wrong with an XML text of elements, attributes and the four entities; empty if nothing
/// is.
std::string xml_fault(const std::string& text) {
  std::vector<std::string> open;
  for (std::size_t i = 0; i < text.size();) {
    const unsigned char c = text[i];
    if (c == '<') {
      const std::size_t end = text.find('>', i);
      if (end == std::string::npos) return "a tag does not end";
      const std::string tag = text.substr(i + 1, end - i - 1);
      if (tag.find('<') != std::string::npos) return "< inside <" + tag;
      if (std::count(tag.begin(), tag.end(), '"') % 2 != 0) return "odd quotes in <" + tag;
      const std::string name = tag.substr(0, tag.find(' '));
      if (tag.front() == '/') {
        if (open.empty() || "/" + open.back() != tag) return "<" + tag + "> closes nothing";
        open.pop_back();
      } else if (tag.back() != '/' && tag.front() != '?') {
        if (open.empty() && i > 60) return "a second root <" + tag;
        open.push_back(name);
      }
      i = end + 1;
      continue;
    }
    if (c == '&') {
      const std::string entity = text.substr(i, text.find(';', i) + 1 - i);
      if (entity != "&amp;" && entity != "&lt;" && entity != "&gt;" && entity != "&quot;") {
        return "unknown entity " + entity;
      }
    }
    if (c < 0x20 && c != '\n') return "a control character";
    ++i;
  }
  return open.empty() ? "" : "<" + open.back() + "> stays open";
}

/// Unlike a matcher, this does not print whole pictures when it fails.
bool holds(const std::string& svg, const std::string& text) {
  return svg.find(text) != std::string::npos;
}

/// Rectangles in the group of the given class.
std::ptrdiff_t cells(const std::string& svg, const std::string& group) {
  const std::size_t begin = svg.find("class=\"" + group + "\"");
  if (begin == std::string::npos) return -1;
  const std::string inside = svg.substr(begin, svg.find("</g>", begin) - begin);
  std::ptrdiff_t count = 0;
  for (std::size_t at = 0; (at = inside.find("<rect", at)) != std::string::npos; ++at) ++count;
  return count;
}

/// |i - j|: order 2 on both sides, for n >= 4.
template <Scalar T>
Array<T, 2> distances(index_t n) {
  Array<T, 2> m({n, n});
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) m(i, j) = static_cast<real_t<T>>(std::abs(i - j));
  }
  return m;
}

template <Scalar T>
std::string picture(const Array<T, 2>& m, const verify::Report& report,
                    const std::string& title = "title") {
  const TemporaryFolder folder;
  io::write_rank_picture(folder / "picture.svg", m.view(), report, title);
  CHECK(folder.files() == 1);
  return read_text(folder / "picture.svg");
}

}  // namespace

TEMPLATE_TEST_CASE("a picture is well-formed and tells the order", "", float, double,
                   std::complex<float>, std::complex<double>) {
  for (const index_t n : {0, 1, 2, 3, 7, 127, 128, 129, 257}) {
    INFO("n = " << n);
    const auto m = distances<TestType>(n);
    const verify::Report report = verify::quasiseparable(m);
    const std::string svg = picture(m, report);
    CHECK_THAT(xml_fault(svg), Equals(""));
    const std::string order = std::to_string(report.order.lower);
    CHECK(holds(svg, "quasiseparable order: lower " + order + ", upper " + order +
                         " (n = " + std::to_string(n) + ")"));
    const auto blocks = static_cast<std::ptrdiff_t>(std::max<index_t>(n - 1, 0));
    CHECK(cells(svg, "ranks lower") == std::min<std::ptrdiff_t>(blocks, 128));
    CHECK(cells(svg, "ranks upper") == std::min<std::ptrdiff_t>(blocks, 128));
    CHECK(svg.size() < 300'000);
  }
}

TEST_CASE("a picture of noise stays small") {
  Array<double, 2> m({500, 500});
  unsigned state = 1;
  for (double& x : m) {
    state = state * 1664525u + 1013904223u;
    x = std::pow(10.0, -16.0 * static_cast<double>(state >> 8) / (1 << 24));
  }
  // A report as an early stop leaves it: the profile ends after a few blocks.
  const verify::Report report = verify::quasiseparable(m, {.order = Order{3, 3}});
  REQUIRE(!report.complete);
  const std::string svg = picture(m, report);
  CHECK_THAT(xml_fault(svg), Equals(""));
  for (const char* text : {"violated", "or more", "worst block: M("}) CHECK(holds(svg, text));
  CHECK(cells(svg, "ranks lower") < 128);
  CHECK(svg.size() < 300'000);
}

TEST_CASE("blocks that contain the diagonal have one cell each") {
  const auto m = distances<double>(20);
  const std::string svg = picture(m, verify::semiseparable(m));
  CHECK_THAT(xml_fault(svg), Equals(""));
  CHECK(holds(svg, "semiseparable order"));
  CHECK(holds(svg, "M(k:n, 0:k+1)"));
  CHECK(cells(svg, "ranks lower") == 20);
}

TEST_CASE("a picture of zeros") {
  const Array<double, 2> m({5, 5});
  const std::string svg = picture(m, verify::quasiseparable(m));
  CHECK_THAT(xml_fault(svg), Equals(""));
  CHECK(holds(svg, "all entries are zero"));
  CHECK(holds(svg, "lower 0, upper 0"));
}

TEST_CASE("titles are escaped, repaired and cut") {
  const auto m = distances<double>(4);
  const verify::Report report = verify::quasiseparable(m);
  const std::string svg = picture(m, report, "<b> & \"q\" \x01 \xff \xc3\xa9 \xed\xa0\x80");
  CHECK_THAT(xml_fault(svg), Equals(""));
  CHECK(holds(svg, "&lt;b&gt; &amp; &quot;q&quot; \xEF\xBF\xBD \xEF\xBF\xBD \xc3\xa9 "));
  CHECK(!holds(svg, "\xed\xa0\x80"));
  CHECK(holds(picture(m, report, std::string(200, 'a')),
              ">" + std::string(76, 'a') + "\u2026</text>"));
}

TEST_CASE("entries are read through strides") {
  const auto m = distances<double>(30);
  const verify::Report report = verify::quasiseparable(m);
  const TemporaryFolder folder;
  io::write_rank_picture(folder / "a.svg", m.view(), report, "t");
  io::write_rank_picture(folder / "b.svg", m.view().reversed(0).reversed(1), report, "t");
  CHECK(read_text(folder / "a.svg") == read_text(folder / "b.svg"));
}

TEST_CASE("a matrix that is not the report's is refused") {
  const TemporaryFolder folder;
  const verify::Report report = verify::quasiseparable(distances<double>(4));
  Array<double, 2> m = distances<double>(5);
  const auto write = [&] { io::write_rank_picture(folder / "a.svg", m.view(), report, "t"); };
  CHECK_THAT(message_of<ShapeError>(write),
             Equals("io::write_rank_picture: the matrix is 5 x 5, the report is of size 4"));
  m = distances<double>(4);
  m(1, 2) = std::numeric_limits<double>::quiet_NaN();
  CHECK_THAT(message_of<DomainError>(write), Contains("entry (1, 2)"));
  CHECK(folder.files() == 0);
}
