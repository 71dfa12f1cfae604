#include "container_setup.hpp"

#include <algorithm>
#include <fstream>
#include <string_view>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "api_server/object_fields.hpp"
#include "grant_source.hpp"

namespace device_plugin {

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// As the admission webhook has them, which may have put the same there before.
constexpr const char* library_place = "/usr/lib/kaisched";
constexpr const char* guard_library = "/usr/lib/kaisched/libkaisched_guard_dlsym.so";
constexpr const char* shared_place = "/run/kaisched/shared";
constexpr const char* ledger_place = "/run/kaisched/ledger";
/// Of a ledger, with what belongs to it.
constexpr std::size_t longest_tenant = 79;
constexpr std::size_t uid_size = 36;

/// Empty if the container does not set it, or takes it from elsewhere.
std::string variable_in(const json& container, std::string_view name) {
  for (const json& one : shim::list_at(container, "/env")) {
    if (shim::text_at(one, "/name") == name) return shim::text_at(one, "/value");
  }
  return {};
}

bool mounts(const json& container, std::string_view path) {
  return std::ranges::any_of(shim::list_at(container, "/volumeMounts"),
                             [&](const json& one) { return shim::text_at(one, "/mountPath") == path; });
}

void add_mount(const json& container, const fs::path& host, const char* path, bool read_only,
               v1beta1::ContainerAllocateResponse& to) {
  if (mounts(container, path)) return;
  v1beta1::Mount& made = *to.add_mounts();
  made.set_host_path(host.string());
  made.set_container_path(path);
  made.set_read_only(read_only);
}

const card& card_of_grant(const shim::hami::device_grant& one, const std::vector<card>& cards) {
  const auto found = std::find_if(cards.begin(), cards.end(), [&](const card& known) { return known.uuid == one.id; });
  if (found == cards.end())
    throw refused(grpc::StatusCode::NOT_FOUND, fmt::format("there is no card '{}' here", one.id));
  if (!found->healthy) throw refused(grpc::StatusCode::UNAVAILABLE, fmt::format("card '{}' is not healthy", one.id));
  return *found;
}

bool is_part(const shim::hami::device_grant& one, const card& of) {
  const auto whole = static_cast<std::int64_t>(of.memory_bytes >> 20U);
  constexpr std::int64_t all_cores = 100;
  return (one.memory_mib > 0 && (whole == 0 || one.memory_mib < whole)) || (one.cores > 0 && one.cores < all_cores);
}

bool wants_no_limits(const granted_container& what) {
  return variable_in(what.specification(), "CUDA_DISABLE_CONTROL") == "true" ||
         shim::annotations_of(what.pod).value("kaisched.io/isolation", "") == "false";
}

/// HAMi's names. The number is the place of the card among those of the container.
void set_limits(const granted_container& what, v1beta1::ContainerAllocateResponse& to) {
  auto& variables = *to.mutable_envs();
  for (std::size_t i = 0; i < what.devices.size(); ++i) {
    const shim::hami::device_grant& one = what.devices[i];
    variables[fmt::format("CUDA_DEVICE_MEMORY_LIMIT_{}", i)] = fmt::format("{}m", one.memory_mib);
    variables[fmt::format("CUDA_DEVICE_SM_LIMIT_{}", i)] = std::to_string(one.cores);
  }
  variables["CUDA_DEVICE_SM_LIMIT"] = std::to_string(what.devices.front().cores);
}

void make_folder(const fs::path& folder, fs::perms rights) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (!failed) fs::permissions(folder, rights, failed);
  if (failed) throw refused(grpc::StatusCode::INTERNAL, fmt::format("{}: {}", folder.string(), failed.message()));
}

/// HAMi's 0 goes first, as with the variable CUDA_TASK_PRIORITY.
std::int32_t priority_of(const json& container) {
  for (const char* part : {"/resources/limits", "/resources/requests"}) {
    const json amounts = shim::section(container, part);
    if (!amounts.contains("nvidia.com/priority")) continue;
    const json& found = amounts["nvidia.com/priority"];
    return found == "0" || found == 0 ? 1 : 0;
  }
  return 0;
}

/// For the agent, which makes a ledger of it.
void write_grant(const granted_container& what, const std::string& node, const std::vector<card>& cards,
                 const fs::path& folder) {
  const std::string tenant = what.folder();
  if (tenant.size() > longest_tenant) {
    throw refused(grpc::StatusCode::INVALID_ARGUMENT,
                  fmt::format("'{}': the name of the container is too long for a ledger, {} letters at most", tenant,
                              longest_tenant - uid_size - 1));
  }
  json devices = json::array();
  constexpr std::int64_t permille = 10;
  for (const shim::hami::device_grant& one : what.devices) {
    const card& of = card_of_grant(one, cards);
    const std::int64_t cores = one.cores == 0 ? 100 : std::min<std::int64_t>(one.cores, 100);
    devices.push_back({{"uuid", one.id},
                       {"index", &of - cards.data()},
                       {"total_bytes", of.memory_bytes},
                       {"memory_bytes", one.memory_mib == 0 ? json(nullptr) : json(one.memory_mib << 20U)},
                       {"core_permille", cores * permille},
                       {"priority", priority_of(what.specification())}});
  }
  const fs::path file = folder / (tenant + ".json");
  const fs::path made = folder / (tenant + ".json.new");
  {
    std::ofstream out(made, std::ios::binary | std::ios::trunc);
    out << json{{"schema", "kaisched-grant/1"},
                {"tenant", tenant},
                {"node", node},
                {"mode", "strict"},
                {"devices", std::move(devices)}}
               .dump(2)
        << '\n';
    if (!out.flush()) throw refused(grpc::StatusCode::INTERNAL, made.string() + ": cannot be written");
  }
  std::error_code failed;
  fs::rename(made, file, failed);
  if (failed) throw refused(grpc::StatusCode::INTERNAL, fmt::format("{}: {}", file.string(), failed.message()));
}

/// The agent puts the folder there as a whole. Before that nobody may mount it: what was mounted would stay empty.
void wait_for_ledger(const fs::path& folder, std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds between_looks{20};
  const auto until = std::chrono::steady_clock::now() + patience;
  std::error_code failed;
  while (!fs::exists(folder / "limits", failed)) {
    if (std::chrono::steady_clock::now() > until)
      throw refused(grpc::StatusCode::UNAVAILABLE,
                    fmt::format("{}: the agent has made no ledger there for {}ms", folder.string(), patience.count()));
    std::this_thread::sleep_for(between_looks);
  }
}

void guard_container(const granted_container& what, const std::string& node, const std::vector<card>& cards,
                     const setup_options& by, v1beta1::ContainerAllocateResponse& to) {
  const json& container = what.specification();
  auto& variables = *to.mutable_envs();
  if (!by.guard.empty()) {
    add_mount(container, by.guard, library_place, true, to);
    variables["LD_PRELOAD"] = guard_library;  // what the container sets itself comes after that
  }
  if (!by.grants.empty()) {
    write_grant(what, node, cards, by.grants);
    wait_for_ledger(by.ledgers / what.folder(), by.patience);
    add_mount(container, by.ledgers / what.folder(), ledger_place, false, to);
    variables["KAISCHED_LEDGER"] = ledger_place;
  } else if (!by.caches.empty()) {
    make_folder(by.caches / what.folder(), fs::perms::all);
    add_mount(container, by.caches / what.folder(), shared_place, false, to);
    variables["CUDA_DEVICE_MEMORY_SHARED_CACHE"] = fmt::format("{}/limits", shared_place);
  }
}

/// 8, 4, 4, 4 and 12 hexadecimal digits: others' files are called otherwise.
bool is_uid(std::string_view text) {
  if (text.size() != uid_size) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    const char one = text[i];
    const bool digit = (one >= '0' && one <= '9') || (one >= 'a' && one <= 'f');
    if (dash ? one != '-' : !digit) return false;
  }
  return true;
}

}  // namespace

const json& granted_container::specification() const {
  const json& first = shim::list_at(pod, "/spec/initContainers");
  if (place < first.size()) return first[place];
  const json& others = shim::list_at(pod, "/spec/containers");
  if (place - first.size() < others.size()) return others[place - first.size()];
  throw refused(grpc::StatusCode::FAILED_PRECONDITION,
                fmt::format("pod {}: devices for container {}, which it does not have", shim::name_of(pod), place));
}

std::string granted_container::folder() const {
  return fmt::format("{}_{}", shim::text_at(pod, "/metadata/uid"), shim::text_at(specification(), "/name"));
}

std::vector<std::string> set_up(const granted_container& what, const std::string& node, const std::vector<card>& cards,
                                const setup_options& by, v1beta1::ContainerAllocateResponse& to) {
  (void)what.specification();  // there is such a container
  std::vector<std::string> uuids;
  bool limited = false;
  for (const shim::hami::device_grant& one : what.devices) {
    limited = is_part(one, card_of_grant(one, cards)) || limited;
    uuids.push_back(one.id);
  }
  set_limits(what, to);
  if (limited && !wants_no_limits(what)) guard_container(what, node, cards, by, to);
  return uuids;
}

std::vector<fs::path> leftovers(const setup_options& by) {
  std::vector<fs::path> found;
  for (const fs::path& folder : {by.caches, by.grants}) {
    if (folder.empty()) continue;
    std::error_code failed;
    for (fs::directory_iterator one(folder, failed), end; !failed && one != end; one.increment(failed)) {
      const std::string name = one->path().filename().string();
      if (name.size() > uid_size && name[uid_size] == '_' && is_uid(std::string_view(name).substr(0, uid_size)))
        found.push_back(one->path());
    }
  }
  return found;
}

void remove_leftovers(const std::vector<fs::path>& found, const std::set<std::string>& uids) {
  for (const fs::path& one : found) {
    std::error_code ignored;  // the next look tries again
    if (!uids.contains(one.filename().string().substr(0, uid_size))) fs::remove_all(one, ignored);
  }
}

}  // namespace device_plugin
