#pragma once
/// @file
/// A text in the data model of JSON as a flat tree: members in the order of the text, integers exact, duplicate keys
/// refused, every value with its line. JSON is read here, YAML in files/yaml_document.hpp; readers see no difference.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/result.hpp>

namespace kaisched::io {

enum class json_kind : std::uint8_t { null, boolean, integer, number, string, array, object };

/// "an array", "a string", ... for error messages.
[[nodiscard]] std::string_view json_kind_name(json_kind kind) noexcept;

class json_value;

/// Containers may nest this deep. No format of ours needs more than five levels; recursion over a document is safe.
inline constexpr std::size_t json_depth_limit = 64;

/// Owns the values of one text. Immutable once parsed; `json_value`s borrow from it.
class json_document {
 public:
  /// Errors start with `source`, line and column (`c.json:3:17: ...`) and say what was expected there.
  [[nodiscard]] static result<json_document> parse(std::string_view text, std::string_view source);
  /// Reads texts that follow each other, as concatenated outputs do: the root is an array of their objects and arrays.
  [[nodiscard]] static result<json_document> parse_stream(std::string_view text, std::string_view source);

  [[nodiscard]] json_value root() const;

 private:
  friend class json_value;
  friend class document_builder;

  static constexpr std::uint32_t none = 0xFFFFFFFFU;

  struct text_range {
    std::size_t begin = 0;
    std::size_t size = 0;
  };
  struct node {
    json_kind kind = json_kind::null;
    std::uint32_t next = none;   ///< the next element or member of the same container
    std::uint32_t first = none;  ///< the first element or member
    std::uint32_t count = 0;     ///< number of elements or members
    std::uint32_t line = 0;      ///< of the key, where there is one
    text_range key;
    text_range text;
    union {
      std::int64_t integer = 0;
      double number;
    };
  };

  [[nodiscard]] std::string_view view(text_range range) const {
    return std::string_view(characters_).substr(range.begin, range.size);
  }

  std::vector<node> nodes_;
  std::string characters_;
};

/// One value of a document; a pointer in size and meaning.
class json_value {
 public:
  class iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = json_value;
    using difference_type = std::ptrdiff_t;

    iterator() = default;
    iterator(const json_document* document, std::uint32_t index) : document_(document), index_(index) {}
    json_value operator*() const { return {document_, index_}; }
    iterator& operator++() {
      index_ = document_->nodes_[index_].next;
      return *this;
    }
    iterator operator++(int) {
      iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const iterator&, const iterator&) = default;

   private:
    const json_document* document_ = nullptr;
    std::uint32_t index_ = json_document::none;
  };

  json_value(const json_document* document, std::uint32_t index) : document_(document), index_(index) {}

  [[nodiscard]] json_kind kind() const { return self().kind; }
  [[nodiscard]] bool is(json_kind kind) const { return self().kind == kind; }
  /// Key of a member of an object; empty otherwise.
  [[nodiscard]] std::string_view key() const { return document_->view(self().key); }
  /// Line of the text, from 1: of the key of a member, of the start of other values.
  [[nodiscard]] std::uint32_t line() const { return self().line; }
  [[nodiscard]] bool boolean() const { return self().integer != 0; }
  [[nodiscard]] std::int64_t integer() const { return self().integer; }
  /// Value of a number, or of an integer as a number.
  [[nodiscard]] double number() const {
    return is(json_kind::number) ? self().number : static_cast<double>(self().integer);
  }
  [[nodiscard]] std::string_view text() const { return document_->view(self().text); }

  /// Elements of an array, members of an object.
  [[nodiscard]] std::uint32_t size() const { return self().count; }
  [[nodiscard]] iterator begin() const { return {document_, self().first}; }
  [[nodiscard]] iterator end() const { return {document_, json_document::none}; }

  /// Whether both are the same place of the same document.
  friend bool operator==(const json_value&, const json_value&) = default;

  /// The value as a reader of an error message wants to see it: short scalars themselves, else the kind.
  [[nodiscard]] std::string shown() const;

 private:
  [[nodiscard]] const json_document::node& self() const { return document_->nodes_[index_]; }

  const json_document* document_;
  std::uint32_t index_;
};

/// The value as a text of JSON in one line.
[[nodiscard]] std::string json_text(json_value of);

/// Appends a string with its quotes.
void append_json_string(std::string& out, std::string_view text);

}  // namespace kaisched::io
