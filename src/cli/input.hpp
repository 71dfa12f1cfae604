#pragma once
/// @file
/// Clusters from files, named in one way by all commands.

#include <cstdint>
#include <string>
#include <string_view>

#include <kaisched/cluster.hpp>
#include <kaisched/result.hpp>
#include <kaisched/snapshot.hpp>

#include "cli/command.hpp"
#include "cli/loaded_cluster.hpp"
#include "cli/progress.hpp"
#include "io/cluster_input.hpp"
#include "io/kubernetes/settings.hpp"

namespace kaisched::cli {

/// A cluster file, or the two files of an openb trace.
struct input_arguments {
  std::string file;     ///< by position
  std::string cluster;  ///< by --cluster
  std::string openb_nodes;
  std::string openb_pods;
  std::string queue_rules;  ///< a file, for objects of Kubernetes
  std::string on_invalid;   ///< empty: what the file says, else the default
};
/// The options; the position is the command's own, because some take more words. `on_invalid` is what counts where
/// neither the arguments nor the file say what becomes of bad rows.
void add_input_options(command& to, input_arguments& told, std::string_view on_invalid = "reject");
/// FILE and the options.
void add_input_arguments(command& to, input_arguments& told);
/// What is wrong with the combination, and nothing about the files themselves.
[[nodiscard]] result<void> check_input(const input_arguments& told);
/// The name of the input in reports and messages.
[[nodiscard]] std::string input_name(const input_arguments& told);

/// A file that can be read within the time of a completion.
[[nodiscard]] bool is_small_file(const std::string& path);

/// An error about what the input holds, with its name in front.
[[nodiscard]] error about_input(const input_arguments& told, error why);
/// Steps of `load_cluster` in a progress bar.
inline constexpr std::size_t load_steps = 2;
[[nodiscard]] result<loaded_cluster> load_cluster(const input_arguments& told, progress& shown);

/// The tables of whichever input is meant.
[[nodiscard]] result<io::cluster_input> read_tables(const input_arguments& told);
/// How objects of Kubernetes are read.
[[nodiscard]] result<io::kubernetes::settings> object_settings(const input_arguments& told);
/// The tables of another file, read as this input would be.
[[nodiscard]] result<io::cluster_input> read_tables(const input_arguments& told, const std::string& file);
}  // namespace kaisched::cli
