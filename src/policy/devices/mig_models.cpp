#include "policy/devices/mig_models.hpp"

#include <array>
#include <charconv>
#include <cstdlib>

#include "policy/devices/words.hpp"

namespace kaisched::devices {

namespace {

/// One profile of a table; `starts`: bit i is set if an instance may start at slice i.
struct profile_row {
  std::string_view name;
  std::int64_t slices;
  std::int64_t mib;
  std::int64_t cores;
  std::int64_t size;
  std::uint32_t starts;
};
struct model_row {
  std::array<std::string_view, 3> models;
  std::int64_t mib;
  std::int64_t slices;
  std::array<profile_row, 6> profiles;
};

// What data/vendors/mig.json says; a test compares the two. The core reads no files.
constexpr std::array tables{
    model_row{
        {{"A30"}},
        24576,
        4,
        {{{"1g.6gb", 1, 6144, 25, 1, 0xf}, {"2g.12gb", 2, 12288, 50, 2, 0x5}, {"4g.24gb", 4, 24576, 100, 4, 0x1}}}},
    model_row{{{"A100"}},
              40960,
              8,
              {{{"1g.5gb", 1, 5120, 14, 1, 0x7f},
                {"1g.10gb", 1, 10240, 14, 2, 0x55},
                {"2g.10gb", 2, 10240, 28, 2, 0x15},
                {"3g.20gb", 3, 20480, 42, 4, 0x11},
                {"4g.20gb", 4, 20480, 57, 4, 0x1},
                {"7g.40gb", 7, 40960, 100, 8, 0x1}}}},
    model_row{{{"A100"}},
              81920,
              8,
              {{{"1g.10gb", 1, 10240, 14, 1, 0x7f},
                {"1g.20gb", 1, 20480, 14, 2, 0x55},
                {"2g.20gb", 2, 20480, 28, 2, 0x15},
                {"3g.40gb", 3, 40960, 42, 4, 0x11},
                {"4g.40gb", 4, 40960, 57, 4, 0x1},
                {"7g.80gb", 7, 81920, 100, 8, 0x1}}}},
    model_row{{{"H100"}},
              81920,
              8,
              {{{"1g.10gb", 1, 10240, 14, 1, 0x7f},
                {"1g.20gb", 1, 20480, 14, 2, 0x55},
                {"2g.20gb", 2, 20480, 28, 2, 0x15},
                {"3g.40gb", 3, 40960, 42, 4, 0x11},
                {"4g.40gb", 4, 40960, 57, 4, 0x1},
                {"7g.80gb", 7, 81920, 100, 8, 0x1}}}},
    model_row{{{"H100"}},
              96256,
              8,
              {{{"1g.12gb", 1, 12032, 14, 1, 0x7f},
                {"1g.24gb", 1, 24064, 14, 2, 0x55},
                {"2g.24gb", 2, 24064, 28, 2, 0x15},
                {"3g.47gb", 3, 48128, 42, 4, 0x11},
                {"4g.47gb", 4, 48128, 57, 4, 0x1},
                {"7g.94gb", 7, 96256, 100, 8, 0x1}}}},
    model_row{{{"GH200", "H20", "H100"}},
              98304,
              8,
              {{{"1g.12gb", 1, 12288, 14, 1, 0x7f},
                {"1g.24gb", 1, 24576, 14, 2, 0x55},
                {"2g.24gb", 2, 24576, 28, 2, 0x15},
                {"3g.48gb", 3, 49152, 42, 4, 0x11},
                {"4g.48gb", 4, 49152, 57, 4, 0x1},
                {"7g.96gb", 7, 98304, 100, 8, 0x1}}}},
    model_row{{{"H200"}},
              144384,
              8,
              {{{"1g.18gb", 1, 18048, 14, 1, 0x7f},
                {"1g.35gb", 1, 36096, 14, 2, 0x55},
                {"2g.35gb", 2, 36096, 28, 2, 0x15},
                {"3g.71gb", 3, 72192, 42, 4, 0x11},
                {"4g.71gb", 4, 72192, 57, 4, 0x1},
                {"7g.141gb", 7, 144384, 100, 8, 0x1}}}},
    model_row{{{"GB200"}},
              190464,
              8,
              {{{"1g.23gb", 1, 23808, 14, 1, 0x7f},
                {"1g.47gb", 1, 47616, 14, 2, 0x55},
                {"2g.47gb", 2, 47616, 28, 2, 0x15},
                {"3g.93gb", 3, 95232, 42, 4, 0x11},
                {"4g.93gb", 4, 95232, 57, 4, 0x1},
                {"7g.186gb", 7, 190464, 100, 8, 0x1}}}},
    model_row{{{"B200"}},
              184320,
              8,
              {{{"1g.23gb", 1, 23040, 14, 1, 0x7f},
                {"1g.45gb", 1, 46080, 14, 2, 0x55},
                {"2g.45gb", 2, 46080, 28, 2, 0x15},
                {"3g.90gb", 3, 92160, 42, 4, 0x11},
                {"4g.90gb", 4, 92160, 57, 4, 0x1},
                {"7g.180gb", 7, 184320, 100, 8, 0x1}}}},
    model_row{{{"B300"}},
              275456,
              8,
              {{{"1g.34gb", 1, 34432, 14, 1, 0x7f},
                {"1g.67gb", 1, 68864, 14, 2, 0x55},
                {"2g.67gb", 2, 68864, 28, 2, 0x15},
                {"3g.135gb", 3, 137728, 42, 4, 0x11},
                {"4g.135gb", 4, 137728, 57, 4, 0x1},
                {"7g.269gb", 7, 275456, 100, 8, 0x1}}}},
    model_row{
        {{"RTX PRO 6000"}},
        98304,
        4,
        {{{"1g.24gb", 1, 24576, 25, 1, 0xf}, {"2g.48gb", 2, 49152, 50, 2, 0x5}, {"4g.96gb", 4, 98304, 100, 4, 0x1}}}},
};

divided_model made_of(const model_row& row) {
  divided_model made;
  for (const std::string_view name : row.models) {
    if (!name.empty()) made.models.emplace_back(name);
  }
  made.memory = row.mib * mebibyte;
  made.slices = row.slices;
  for (const profile_row& one : row.profiles) {
    if (one.name.empty()) continue;
    slice_profile profile;
    profile.name = one.name;
    profile.memory = one.mib * mebibyte;
    profile.cores = one.cores;
    profile.slices = one.slices;
    for (std::uint32_t start = 0; one.starts >> start != 0; ++start) {
      if ((one.starts >> start & 1U) != 0) profile.placements.push_back({start, one.size});
    }
    made.profiles.push_back(std::move(profile));
  }
  return made;
}

std::vector<divided_model> make_models() {
  std::vector<divided_model> made;
  for (const model_row& row : tables) made.push_back(made_of(row));
  return made;
}

bool is_named(const divided_model& one, std::string_view model) {
  for (const std::string& part : one.models) {
    if (contains_any_case(model, part)) return true;
  }
  return false;
}

/// The number before "GB" in a name such as NVIDIA-A100-SXM4-80GB, in bytes; 0 if there is none. What is sold as so
/// many gigabytes has about so many gibibytes.
std::int64_t memory_in_name(std::string_view model) {
  for (std::size_t i = 0; i < model.size(); ++i) {
    std::int64_t number = 0;
    const auto [end, failure] = std::from_chars(model.data() + i, model.data() + model.size(), number);
    if (failure != std::errc{} || number <= 0 || number > 10000) continue;
    const std::string_view rest = model.substr(static_cast<std::size_t>(end - model.data()));
    if (rest.size() >= 2 && contains_any_case(rest.substr(0, 2), "gb")) return number * 1024 * mebibyte;
    i = static_cast<std::size_t>(end - model.data()) - 1;
  }
  return 0;
}

}  // namespace

std::span<const divided_model> divided_models() {
  static const std::vector<divided_model> made = make_models();
  return made;
}

const divided_model* divided_model_of(std::string_view model, std::int64_t memory) {
  if (model.empty()) return nullptr;
  if (memory <= 0) memory = memory_in_name(model);
  if (memory > 0) return find_divided_model(divided_models(), model, memory);
  const divided_model* found = nullptr;
  for (const divided_model& one : divided_models()) {
    if (!is_named(one, model)) continue;
    if (found != nullptr) return nullptr;  // of several sizes, and nobody says which
    found = &one;
  }
  return found;
}

}  // namespace kaisched::devices
