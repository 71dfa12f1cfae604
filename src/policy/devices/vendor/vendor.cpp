#include "policy/devices/vendor/vendor.hpp"

#include <algorithm>

namespace kaisched::devices {

const vendor_template* find_vendor(const vendor_catalog& among, std::string_view key) {
  const auto found =
      std::lower_bound(among.begin(), among.end(), key,
                       [](const vendor_template& one, std::string_view wanted) { return one.key < wanted; });
  return found == among.end() || found->key != key ? nullptr : &*found;
}

}  // namespace kaisched::devices
