#include "io/cluster_input.hpp"

#include <span>

namespace kaisched::io {

result<cluster> build_cluster(const cluster_input& input) {
  std::vector<table_view> views;
  views.reserve(input.tables.size());
  for (const table& t : input.tables) {
    if (t.rows() > 0) views.push_back(t.view());
  }
  cluster built;
  if (auto applied = built.apply(std::span<const table_view>(views)); !applied) return applied.take_failure();
  return built;
}

}  // namespace kaisched::io
