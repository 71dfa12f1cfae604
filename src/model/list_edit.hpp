#pragma once
/// @file
/// A sorted list that a table changes row by row, in n log n steps.

#include <algorithm>
#include <cstddef>
#include <map>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/cow.hpp"

namespace kaisched::model {

/// The rows of one table, which all add, all change or all remove objects. Until `finish` puts the list in order, what
/// is added comes last and what is removed stays.
/// `KeyOf` makes the place of an object in the order, as a view; `Key` is the same as a value of its own.
template <class Key, class Info, class KeyOf>
class list_edit {
 public:
  using key_view = std::invoke_result_t<KeyOf, const Info&>;

  list_edit(base::cow<std::vector<Info>>& list, KeyOf key_of)
      : list_(list), key_of_(std::move(key_of)), sorted_(list->size()) {}

  /// The object of this key; null: there is none.
  [[nodiscard]] const Info* find(const key_view& key) const {
    const std::size_t at = position(key);
    return at == none ? nullptr : &(*list_)[at];
  }
  /// Adds the object, or puts it in the place of the one with its key.
  void put(Info one) {
    const std::size_t at = position(key_of_(one));
    std::vector<Info>& all = list_.write();
    if (at != none) {
      all[at] = std::move(one);
      return;
    }
    all.push_back(std::move(one));
    added_.emplace(Key(key_of_(all.back())), all.size() - 1);
  }
  /// There must be one.
  void remove(const key_view& key) {
    removed_.resize(list_->size(), false);
    removed_[position(key)] = true;
  }
  void finish() {
    const auto before = [&](const Info& a, const Info& b) { return key_of_(a) < key_of_(b); };
    if (!added_.empty()) {
      std::vector<Info>& all = list_.write();
      const auto first = all.begin() + static_cast<std::ptrdiff_t>(sorted_);
      std::sort(first, all.end(), before);
      std::inplace_merge(all.begin(), first, all.end(), before);
    }
    if (!removed_.empty()) {
      std::vector<Info> left;
      for (std::size_t i = 0; i < removed_.size(); ++i) {
        if (!removed_[i]) left.push_back((*list_)[i]);
      }
      list_.write() = std::move(left);
    }
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  [[nodiscard]] std::size_t position(const key_view& key) const {
    const auto first = list_->begin();
    const auto last = first + static_cast<std::ptrdiff_t>(sorted_);
    const auto at =
        std::lower_bound(first, last, key, [&](const Info& a, const key_view& b) { return key_of_(a) < b; });
    if (at != last && key_of_(*at) == key) {
      const auto i = static_cast<std::size_t>(at - first);
      return removed_.empty() || !removed_[i] ? i : none;
    }
    const auto added = added_.empty() ? added_.end() : added_.find(Key(key));
    return added == added_.end() ? none : added->second;
  }

  base::cow<std::vector<Info>>& list_;
  KeyOf key_of_;
  std::size_t sorted_;                ///< so many of the first ones are in order
  std::map<Key, std::size_t> added_;  ///< positions
  std::vector<bool> removed_;         ///< by position; empty: none is
};

template <class Key, class Info, class KeyOf>
[[nodiscard]] list_edit<Key, Info, KeyOf> edit_list(base::cow<std::vector<Info>>& list, KeyOf key_of) {
  return {list, std::move(key_of)};
}

}  // namespace kaisched::model
