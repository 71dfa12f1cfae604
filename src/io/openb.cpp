#include "io/openb.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include <csv.h>
#include <fmt/format.h>

#include <kaisched/quantity.hpp>
#include <kaisched/schema.hpp>

namespace kaisched::io {

namespace {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t latest_time = std::numeric_limits<std::int64_t>::max() / second;
/// The trace knows no limit of pods per node.
constexpr std::int64_t pods_per_node = 1'000'000;

/// One file with a header line. Columns are found by name, others are ignored, empty lines are skipped. The first fault
/// is kept; after it there are no more lines.
template <unsigned Columns>
class csv_file {
 public:
  csv_file(named_text file, const std::array<const char*, Columns>& names)
      : name_(file.name), names_(names), reader_("", file.text.data(), file.text.data() + file.text.size()) {
    read_header(std::make_index_sequence<Columns>{});
  }

  void require(std::initializer_list<unsigned> wanted) {
    for (const unsigned column : wanted) {
      if (has(column)) continue;
      add_fault(fmt::format("{}:1: the header has no column \"{}\"; known: {}", name_, names_[column],
                            fmt::join(names_, ", ")));
    }
  }
  [[nodiscard]] bool has(unsigned column) const { return reader_.has_column(names_[column]); }

  /// Goes to the next line; false at the end and after a fault.
  bool next() {
    cells_.fill("");
    return !failed() && next(std::make_index_sequence<Columns>{});
  }
  [[nodiscard]] bool failed() const { return !fault_.empty(); }
  [[nodiscard]] const std::string& fault() const { return fault_; }

  [[nodiscard]] std::string_view text(unsigned column) const { return cells_[column]; }

  [[nodiscard]] std::int64_t integer(unsigned column, std::int64_t least, std::int64_t most) {
    const char* const begin = cells_[column];
    const char* const end = begin + std::strlen(begin);
    std::int64_t value = 0;
    const std::from_chars_result read = std::from_chars(begin, end, value);
    if (read.ec != std::errc{} || read.ptr != end || value < least || value > most) {
      add_fault(fmt::format("{}:{}: {}: expected an integer from {} to {}, found \"{}\"", name_,
                            reader_.get_file_line(), names_[column], least, most, begin));
      return least;
    }
    return value;
  }

 private:
  using reader = ::io::CSVReader<Columns, ::io::trim_chars<' ', '\t'>, ::io::double_quote_escape<',', '"'>,
                                 ::io::throw_on_overflow, ::io::empty_line_comment>;

  template <std::size_t... I>
  void read_header(std::index_sequence<I...>) {
    guarded([&] {
      reader_.read_header(::io::ignore_extra_column | ::io::ignore_missing_column, names_[I]...);
      return true;
    });
  }
  template <std::size_t... I>
  bool next(std::index_sequence<I...>) {
    return guarded([&] { return reader_.read_row(cells_[I]...); });
  }

  template <class F>
  bool guarded(F&& read) {
    try {
      return read();
    } catch (const ::io::error::header_missing&) {
      add_fault(fmt::format("{}: the file is empty; expected a header: {}", name_, fmt::join(names_, ",")));
    } catch (const ::io::error::duplicated_column_in_header& fault) {
      add_fault(fmt::format("{}:1: the column \"{}\" appears twice", name_, std::string_view(fault.column_name)));
    } catch (const ::io::error::too_few_columns&) {
      add_fault(fmt::format("{}:{}: fewer fields than the header", name_, reader_.get_file_line()));
    } catch (const ::io::error::too_many_columns&) {
      add_fault(fmt::format("{}:{}: more fields than the header", name_, reader_.get_file_line()));
    } catch (const ::io::error::base& fault) {
      add_fault(fmt::format("{}:{}: {}", name_, reader_.get_file_line(), fault.what()));
    }
    return false;
  }

  void add_fault(std::string fault) {
    if (!failed()) fault_ = std::move(fault);
  }

  std::string_view name_;
  std::array<const char*, Columns> names_;
  reader reader_;
  std::array<const char*, Columns> cells_{};
  std::string fault_;
};

table added(table_kind kind) {
  return table(static_cast<std::uint32_t>(kind), static_cast<std::uint32_t>(table_op::add));
}

template <std::size_t N>
void push_list(table::column& to, const std::array<std::string_view, N>& elements) {
  to.push_list(std::span<const std::string_view>(elements));
}

void push_amounts(table::column& to, std::int64_t cpu, std::int64_t memory, std::int64_t gpu, std::int64_t pods) {
  to.push(cpu);
  to.push(memory);
  to.push(gpu);
  to.push(pods);
}

table one_queue() {
  table queues = added(table_kind::queue);
  queues.add(col::queue_name, column_type::string).push(openb_queue);
  return queues;
}

result<table> read_nodes(named_text file) {
  enum column : unsigned { name, gpu_model, gpu_count, cpu, memory };
  csv_file<5> csv(file, {"name", "gpu_model", "gpu_count", "cpu_milli", "memory_mib"});
  csv.require({name, gpu_model, gpu_count, cpu, memory});

  table nodes = added(table_kind::node);
  table::column& names = nodes.add(col::node_name, column_type::string);
  table::column& capacities = nodes.add(col::node_capacity, column_type::i64, built_in_dimensions);
  table::column& labels = nodes.add(col::node_labels, column_type::string_list);
  while (csv.next()) {
    const std::int64_t gpus = csv.text(gpu_count).empty() ? 0 : csv.integer(gpu_count, 0, max_devices_per_node);
    names.push(csv.text(name));
    push_amounts(capacities, csv.integer(cpu, 0, max_amount), csv.integer(memory, 0, max_amount / mebibyte) * mebibyte,
                 gpus * whole_device, pods_per_node);
    if (gpus > 0 && !csv.text(gpu_model).empty()) {
      push_list(labels, std::array{openb_model_label, csv.text(gpu_model)});
    } else {
      labels.push_raw({});
    }
  }
  if (csv.failed()) return error{status::argument, csv.fault(), {}};
  return nodes;
}

/// `A|B` as a term of node affinity.
std::string model_term(std::string_view models) {
  std::string term = fmt::format("{} in ({})", openb_model_label, models);
  std::replace(term.begin(), term.end(), '|', ',');
  return term;
}

/// The columns of pod groups and pods that the list fills.
struct pod_tables {
  table groups = added(table_kind::pod_group);
  table pods = added(table_kind::pod);
  table::column& group_names = groups.add(col::pod_group_name, column_type::string);
  table::column& queues = groups.add(col::pod_group_queue, column_type::string);
  table::column& group_times = groups.add(col::pod_group_created, column_type::i64);
  table::column& names = pods.add(col::pod_name, column_type::string);
  table::column& group_refs = pods.add(col::pod_group_ref, column_type::string);
  table::column& requests = pods.add(col::pod_request, column_type::i64, built_in_dimensions);
  table::column& device_counts = pods.add(col::pod_device_count, column_type::u32);
  table::column& times = pods.add(col::pod_created, column_type::i64);
  table::column& affinities = pods.add(col::pod_node_affinity, column_type::string_list);
};

/// Reads the list of pods; returns the time of the last one.
result<std::int64_t> read_pods(named_text file, pod_tables& to) {
  enum column : unsigned { name, cpu, memory, num_gpu, gpu_milli, gpu_spec, creation_time };
  csv_file<7> csv(file, {"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec", "creation_time"});
  csv.require({name, cpu, memory, num_gpu, gpu_milli});
  const bool has_times = csv.has(creation_time);

  std::int64_t last = 0;
  for (std::int64_t row = 0; csv.next(); ++row) {
    const std::int64_t created = (has_times ? csv.integer(creation_time, 0, latest_time) : row) * second;
    last = std::max(last, created);
    const std::int64_t gpus = csv.integer(num_gpu, 0, max_devices_per_node);
    const std::int64_t share = gpus == 0 ? 0 : csv.integer(gpu_milli, 1, whole_device);
    const std::string_view pod = csv.text(name);

    to.group_names.push(pod);
    to.queues.push(openb_queue);
    to.group_times.push(created);
    to.names.push(pod);
    to.group_refs.push(pod);
    push_amounts(to.requests, csv.integer(cpu, 0, max_amount), csv.integer(memory, 0, max_amount / mebibyte) * mebibyte,
                 gpus * share, 1);
    to.device_counts.push(static_cast<std::uint32_t>(share < whole_device ? gpus : 0));
    to.times.push(created);
    if (csv.text(gpu_spec).empty()) {
      to.affinities.push_raw({});
    } else {
      const std::string term = model_term(csv.text(gpu_spec));
      push_list(to.affinities, std::array{std::string_view(term)});
    }
  }
  if (csv.failed()) return error{status::argument, csv.fault(), {}};
  return last;
}

}  // namespace

result<cluster_input> parse_openb(named_text nodes, named_text pods) {
  result<table> node_rows = read_nodes(nodes);
  if (!node_rows) return node_rows.take_failure();
  pod_tables rows;
  result<std::int64_t> last = read_pods(pods, rows);
  if (!last) return last.take_failure();

  cluster_input input;
  input.now = *last;
  input.tables.push_back(one_queue());
  input.tables.push_back(std::move(*node_rows));
  input.tables.push_back(std::move(rows.groups));
  input.tables.push_back(std::move(rows.pods));
  return input;
}

}  // namespace kaisched::io
