#pragma once
/// @file
/// Small nodes for tests of devices.

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "io/vendors/vendor_reader.hpp"
#include "policy/devices/allocation/place.hpp"

namespace kaisched::devices::test {

inline const io::shipped_devices& shipped() {
  static const io::shipped_devices devices = [] {
    result<io::shipped_devices> read = io::read_shipped_devices();
    if (!read) throw std::runtime_error(read.failure().message);
    return *read;
  }();
  return devices;
}
inline const vendor_catalog& vendors() { return shipped().vendors; }

/// From 0 to less than n.
template <class Random>
std::int64_t draw(Random& random, std::int64_t n) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
}

/// An idle device: ten sharers, 100 cores.
inline device card(std::int64_t index, std::int64_t mib, const std::string& type = "NVIDIA-A100") {
  device made;
  made.id = "GPU-" + std::to_string(index);
  made.type = type;
  made.index = index;
  made.slots = 10;
  made.memory = mib * mebibyte;
  made.cores = 100;
  return made;
}

inline node cards(std::size_t count, std::int64_t mib, const std::string& type = "NVIDIA-A100") {
  node made;
  made.name = "n1";
  for (std::size_t i = 0; i < count; ++i) made.devices.push_back(card(static_cast<std::int64_t>(i), mib, type));
  return made;
}

inline void use(device& of, std::int64_t slots, std::int64_t mib, std::int64_t cores) {
  of.used_slots = slots;
  of.used_memory = mib * mebibyte;
  of.used_cores = cores;
}

inline request ask(std::int64_t count, std::int64_t mib, std::int64_t cores, const std::string& vendor = "NVIDIA") {
  request made;
  made.vendor = vendor;
  made.count = count;
  made.memory = mib * mebibyte;
  made.cores = cores;
  return made;
}

inline request ask_share(std::int64_t count, std::int64_t permille, std::int64_t cores) {
  request made = ask(count, 0, cores);
  made.memory_permille = permille;
  return made;
}

inline pod one(const request& asked) {
  pod made;
  made.space = "team";
  made.containers = {{asked}};
  return made;
}

/// Ids of the devices of one vendor, containers divided by "|".
inline std::string ids(const node_placement& placed, const std::string& vendor = "NVIDIA") {
  std::string text;
  const vendor_grants* of = find_grants(placed.grants, vendor);
  if (of == nullptr) return text;
  for (std::size_t c = 0; c < of->size(); ++c) {
    if (c > 0) text += "|";
    for (std::size_t i = 0; i < (*of)[c].size(); ++i) text += (i > 0 ? "," : "") + (*of)[c][i].id.substr(4);
  }
  return text;
}

}  // namespace kaisched::devices::test
