#pragma once
/// @file
/// A cluster whose names say nothing: for reports of faults, which are read by others.

#include <map>
#include <string>

#include <kaisched/result.hpp>
#include <kaisched/schema.hpp>
#include <kaisched/snapshot.hpp>

namespace kaisched::io {

struct anonymous_cluster {
  snapshot state;
  std::map<std::string, std::string> names;  ///< what stands for what
};

/// Gives every name of an entity, a namespace, a user, a container or a device, every label key of nobody's public
/// vocabulary, and every label value that is no number another name. Equal names stay equal and names that sort before
/// others still do, so that sessions decide the same. Amounts, times, dimensions and what devices say of themselves
/// (models, types, attributes) stay; texts about obstacles and units of resources are replaced. Rows that the cluster
/// has left out are not in the result. Errors: those of reading the tables back.
[[nodiscard]] result<anonymous_cluster> anonymise(const snapshot& from);

}  // namespace kaisched::io
