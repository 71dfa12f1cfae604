#pragma once
/// @file
/// Hash maps for looking names up. There is no way to iterate, so no order of a hash can reach a decision.

#include <cstdint>
#include <string_view>

#include <boost/unordered/unordered_flat_map.hpp>

namespace kaisched::base {

/// Name to number. The bytes of the names must outlive their entries.
class name_map {
 public:
  static constexpr std::uint32_t none = 0xFFFFFFFFU;

  [[nodiscard]] std::uint32_t find(std::string_view name) const {
    const auto it = map_.find(name);
    return it == map_.end() ? none : it->second;
  }
  /// False if the name is there already.
  bool insert(std::string_view name, std::uint32_t number) { return map_.emplace(name, number).second; }
  void erase(std::string_view name) { map_.erase(name); }
  void reserve(std::size_t n) { map_.reserve(n); }
  void clear() { map_.clear(); }

 private:
  boost::unordered_flat_map<std::string_view, std::uint32_t> map_;
};

}  // namespace kaisched::base
