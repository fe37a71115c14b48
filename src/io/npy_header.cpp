#include "npy_header.hpp"

#include <charconv>
#include <string_view>

namespace structmat::io::detail {

namespace {

/// Reads the dictionary literal that NumPy writes: strings, True, False and tuples of integers.
class Literal {
 public:
  Literal(std::string_view text, std::size_t offset, const Source& source)
      : text_(text), offset_(offset), source_(source) {}

  NpyHeader dictionary() {
    NpyHeader header;
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr" && !has_descr) {
        has_descr = true;
        descr(header);
      } else if (key == "fortran_order" && !has_order) {
        has_order = true;
        header.fortran_order = boolean();
      } else if (key == "shape" && !has_shape) {
        has_shape = true;
        header.shape = tuple();
      } else {
        fail("the key " + excerpt(key) + " is unknown or appears twice");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (at_ != text_.size()) fail("text follows the dictionary");
    if (!has_descr || !has_order || !has_shape) {
      fail("one of the keys descr, fortran_order and shape is missing");
    }
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    source_.fail("byte " + std::to_string(offset_ + at_), reason);
  }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool accept(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(std::string("expected '") + c + "'");
  }

  std::string string() {
    const char quote = accept('\'') ? '\'' : '"';
    if (quote == '"') expect('"');
    const std::size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) fail("the string does not end");
    std::string result(text_.substr(at_, end - at_));
    at_ = end + 1;
    return result;
  }

  bool boolean() {
    skip_space();
    for (const auto& [word, value] : {std::pair{"True", true}, std::pair{"False", false}}) {
      if (text_.substr(at_).starts_with(word)) {
        at_ += std::string_view(word).size();
        return value;
      }
    }
    fail("expected True or False");
  }

  std::vector<index_t> tuple() {
    std::vector<index_t> result;
    expect('(');
    while (!accept(')')) {
      skip_space();
      index_t extent = 0;
      const auto [end, code] =
          std::from_chars(text_.data() + at_, text_.data() + text_.size(), extent);
      if (code != std::errc() || extent < 0) fail("expected an extent below 2^63");
      at_ = static_cast<std::size_t>(end - text_.data());
      accept('L');  // written by Python 2
      result.push_back(extent);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return result;
  }

  void descr(NpyHeader& header) {
    skip_space();
    if (at_ < text_.size() && text_[at_] == '[') {
      source_.fail<Unsupported>("byte " + std::to_string(offset_ + at_),
                                "records (structured types) are not read");
    }
    const std::string code = string();
    constexpr std::string_view orders = "<>|=";
    const bool has_order = !code.empty() && orders.find(code[0]) != std::string_view::npos;
    header.element_type = code.substr(has_order ? 1 : 0);
    header.swap = has_order && code[0] == '>';
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t offset_;
  const Source& source_;
};

}  // namespace

NpyHeader parse_npy_header(std::span<const std::byte> bytes, const Source& source) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  constexpr std::string_view magic = "\x93NUMPY";
  if (!text.starts_with(magic)) source.fail("byte 0", "not an .npy file (no \\x93NUMPY)");
  if (text.size() < 8) source.fail("byte 6", "the file ends within the version");
  const int major = static_cast<unsigned char>(text[6]),
            minor = static_cast<unsigned char>(text[7]);
  if (major < 1 || major > 3 || minor != 0) {
    source.fail("byte 6", "version " + std::to_string(major) + "." + std::to_string(minor) +
                              "; read are 1.0, 2.0 and 3.0");
  }
  const std::size_t width = major == 1 ? 2 : 4;
  const std::size_t begin = 8 + width;
  if (text.size() < begin) source.fail("byte 8", "the file ends within the header's length");
  std::size_t length = 0;
  for (std::size_t i = 0; i < width; ++i) {
    length |= std::to_integer<std::size_t>(bytes[8 + i]) << (8 * i);
  }
  if (length > text.size() - begin) {
    source.fail("byte 8", "the header has " + std::to_string(length) + " bytes, the file only " +
                              std::to_string(text.size() - begin) + " more");
  }
  NpyHeader header = Literal(text.substr(begin, length), begin, source).dictionary();
  header.data_offset = begin + length;
  return header;
}

}  // namespace structmat::io::detail
