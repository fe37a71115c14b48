#include "safetensors_header.hpp"

#include <limits>
#include <nlohmann/json.hpp>
#include <set>

namespace structmat::io::detail {

namespace {

/// Receives the events of the JSON parser. Every level has one form, so the level and the last keys
/// are all the state there is: { name: { key: value } }, where the value is a string or an array of
/// integers.
class Handler : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Handler(const Source& source) : source_(source) {}

  SafetensorsHeader header;

  bool start_object(std::size_t) override {
    if (level_ >= 2 || in_array_) fail("an object where none belongs");
    ++level_;
    fields_.clear();
    return true;
  }

  bool key(string_t& text) override {
    if (level_ == 1) {
      name_ = text;
      in_metadata_ = text == metadata_name;
      const bool is_new = in_metadata_ ? !std::exchange(has_metadata_, true)
                                       : header.tensors.try_emplace(text).second;
      if (!is_new) fail("the name appears twice");
    } else {
      field_ = text;
      if (!in_metadata_ && text != "dtype" && text != "shape" && text != "data_offsets") {
        fail("the key " + excerpt(text) + " is unknown");
      }
      if (!fields_.insert(text).second) fail("the key " + excerpt(text) + " appears twice");
    }
    return true;
  }

  bool string(string_t& text) override {
    if (level_ != 2 || in_array_) fail("a string where none belongs");
    if (in_metadata_) {
      header.metadata[field_] = text;
    } else if (field_ == "dtype") {
      tensor().dtype = text;
    } else {
      fail(field_ + " is a string, not an array");
    }
    return true;
  }

  bool start_array(std::size_t) override {
    if (level_ != 2 || in_array_ || in_metadata_ || field_ == "dtype") {
      fail("an array where none belongs");
    }
    in_array_ = true;
    offsets_.clear();
    return true;
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (!in_array_) fail("a number where none belongs");
    if (field_ == "shape") {
      if (value > std::numeric_limits<index_t>::max()) fail("an extent exceeds 2^63 - 1");
      tensor().shape.push_back(static_cast<index_t>(value));
    } else {
      if (offsets_.size() == 2) fail("data_offsets has more than two numbers");
      offsets_.push_back(value);
    }
    return true;
  }

  bool end_array() override {
    in_array_ = false;
    if (field_ == "data_offsets") {
      if (offsets_.size() != 2) fail("data_offsets needs two numbers");
      tensor().begin = offsets_[0];
      tensor().end = offsets_[1];
    }
    return true;
  }

  bool end_object() override {
    if (level_ == 2 && !in_metadata_ && fields_.size() != 3) {
      fail("one of dtype, shape and data_offsets is missing");
    }
    --level_;
    return true;
  }

  bool null() override { unexpected("null"); }
  bool boolean(bool) override { unexpected("a truth value"); }
  bool number_integer(number_integer_t) override { unexpected("a negative number"); }
  bool number_float(number_float_t, const string_t&) override { unexpected("a fraction"); }
  bool binary(binary_t&) override { unexpected("binary data"); }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    source_.fail("byte " + std::to_string(7 + position), std::string("not JSON: ") + error.what());
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    source_.fail(name_.empty() ? "header" : "header, tensor " + excerpt(name_), reason);
  }
  [[noreturn]] void unexpected(const char* what) const {
    fail(std::string(what) + " where none belongs");
  }

  TensorInfo& tensor() { return header.tensors.at(name_); }

  const Source& source_;
  int level_ = 0;
  bool in_array_ = false;
  bool in_metadata_ = false;
  bool has_metadata_ = false;
  std::string name_;
  std::string field_;
  std::set<std::string> fields_;  // keys seen in the current object
  std::vector<std::size_t> offsets_;
};

}  // namespace

SafetensorsHeader parse_safetensors_header(std::string_view json, const Source& source) {
  if (!json.starts_with('{')) source.fail("byte 8", "the header does not begin with '{'");
  Handler handler(source);
  nlohmann::json::sax_parse(json.begin(), json.end(), &handler);
  return std::move(handler.header);
}

}  // namespace structmat::io::detail
