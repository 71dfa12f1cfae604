// Any bytes as deltas, well-formed or not: a refused one changes nothing, an accepted one leaves sums that equal a
// recount, and what comes out can be saved, loaded and built again.
#include <algorithm>
#include <cstring>
#include <deque>
#include <limits>
#include <vector>

#include <kaisched/quantity.hpp>

#include "model/account.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"
#include "source.hpp"

namespace {

using namespace kaisched;
using fuzz::source;

constexpr std::array<std::string_view, 8> names{"a", "b", "c", "d", "", "zone", "default", "a-1"};
constexpr std::array<std::string_view, 24> texts{"zone",
                                                 "a",
                                                 "a=b:NoSchedule",
                                                 "a:NoExecute",
                                                 "*",
                                                 "a=b",
                                                 "zone in (a,b),!c",
                                                 "zone: a=b",
                                                 "80",
                                                 "1.2.3.4:80/UDP",
                                                 "pods",
                                                 "gpu",
                                                 "x.com/y",
                                                 "rack",
                                                 "single-numa-node",
                                                 "pod",
                                                 "container",
                                                 "Guaranteed",
                                                 "d/p/0",
                                                 "node-0",
                                                 "b",
                                                 "c>1",
                                                 "x: y",
                                                 "restricted"};
constexpr std::array<std::int64_t, 20> integers{0,
                                                1,
                                                2,
                                                3,
                                                -1,
                                                4,
                                                8,
                                                63,
                                                64,
                                                100,
                                                300,
                                                500,
                                                1000,
                                                2000,
                                                8000,
                                                64000,
                                                unset,
                                                max_amount,
                                                std::numeric_limits<std::int64_t>::max(),
                                                std::numeric_limits<std::int64_t>::min()};
constexpr std::array<double, 8> reals{
    0, 1, 2.5, -1, 1e12, 1e13, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()};
constexpr std::array<column_type, 9> types{
    column_type::u8,          column_type::u32,      column_type::i64,
    column_type::u64,         column_type::f64,      column_type::string,
    column_type::string_list, column_type::i64_list, static_cast<column_type>(99)};

/// Tables whose columns own exactly the bytes that their offsets and widths speak of.
class delta {
 public:
  void add_table(source& from) {
    static constexpr std::array<std::uint32_t, 12> kinds{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 32, 77};
    table_view& view = views_.emplace_back();
    view.kind = from.pick(kinds);
    view.op = static_cast<std::uint32_t>(from.one_in(16) ? from.below(6) : 1 + from.below(3));
    view.rows = from.below(5);
    std::vector<column_view>& columns = columns_.emplace_back();
    if (const table_info* info = schema_of(view.kind); info != nullptr) {
      for (const column_info& column : info->columns) {
        const bool there = column.required ? !from.one_in(24) : from.one_in(3);
        if (there) columns.push_back(made(from, column, view.rows));
        if (there && from.one_in(64)) columns.push_back(columns.back());
      }
    }
    view.columns = columns.empty() ? nullptr : columns.data();
    view.column_count = static_cast<std::uint32_t>(columns.size());
    if (from.one_in(64)) view.struct_size = static_cast<std::uint32_t>(from.below(64));
  }

  [[nodiscard]] std::span<const table_view> views() const { return views_; }

 private:
  column_view made(source& from, const column_info& column, std::uint64_t rows) {
    column_view c;
    c.id = from.one_in(64) ? static_cast<std::uint32_t>(from.below(40)) : column.id;
    c.type = from.one_in(48) ? from.pick(types) : column.type;
    if (column.refers_to != entity_kind::none && from.one_in(24)) c.type = column_type::u64;
    c.width = column.shape == column_shape::quotas ? 3 : column.shape == column_shape::dimensions ? 4 : 1;
    if (from.one_in(32)) c.width = static_cast<std::uint32_t>(from.below(6));
    c.flags = from.one_in(64) ? column_optional : 0;
    if (is_ragged(c.type)) {
      fill_ragged(from, column, c, rows);
    } else {
      fill(from, c, rows * c.width);
    }
    if (from.one_in(128)) c.data = nullptr;
    return c;
  }

  void fill(source& from, column_view& c, std::uint64_t values) {
    std::vector<std::uint8_t>& bytes = bytes_.emplace_back();
    for (std::uint64_t i = 0; i < values; ++i) {
      switch (c.type) {
        case column_type::u8:
          put(bytes, static_cast<std::uint8_t>(from.one_in(16) ? from.byte() : from.below(9)));
          break;
        case column_type::u32:
          put(bytes, static_cast<std::uint32_t>(from.one_in(32) ? from.word() : integer(from)));
          break;
        case column_type::f64:
          put(bytes, from.pick(reals));
          break;
        default:
          put(bytes, integer(from));
      }
    }
    c.data = bytes.data();
  }

  static std::int64_t integer(source& from) { return from.one_in(64) ? from.word() : from.pick(integers); }

  void fill_ragged(source& from, const column_info& column, column_view& c, std::uint64_t rows) {
    std::vector<std::uint8_t>& bytes = bytes_.emplace_back();
    std::vector<std::uint32_t>& offsets = offsets_.emplace_back();
    std::uint32_t values = from.one_in(128) ? 1 : 0;
    bytes.resize(8);  // whatever that one value is
    if (values == 0) bytes.clear();
    offsets.push_back(values);
    for (std::uint64_t row = 0; row < rows; ++row) {
      const std::size_t elements = c.type == column_type::string ? 1 : from.below(5);
      for (std::size_t i = 0; i < elements; ++i) values += put_element(from, column, c.type, bytes);
      offsets.push_back(values);
    }
    if (from.one_in(96) && rows > 1) std::swap(offsets[1], offsets[rows]);  // they descend
    c.width = 0;
    c.data = bytes.data();
    c.offsets = from.one_in(128) ? nullptr : offsets.data();
  }

  /// Appends one element; returns how far the offset goes on.
  static std::uint32_t put_element(source& from, const column_info& column, column_type type,
                                   std::vector<std::uint8_t>& bytes) {
    if (type == column_type::i64_list) {
      put(bytes, from.one_in(4) ? integer(from) : static_cast<std::int64_t>(from.below(4)));
      return 1;
    }
    const bool is_name = column.refers_to != entity_kind::none || column.name == "name";
    std::string text(is_name ? from.pick(names) : from.pick(texts));
    if (from.one_in(32)) text = from.text();
    if (type == column_type::string_list) text += '\0';
    if (from.one_in(128)) text += from.one_in(2) ? '\0' : 'x';
    bytes.insert(bytes.end(), text.begin(), text.end());
    return static_cast<std::uint32_t>(text.size());
  }

  template <class T>
  static void put(std::vector<std::uint8_t>& bytes, T value) {
    const std::size_t at = bytes.size();
    bytes.resize(at + sizeof value);
    std::memcpy(bytes.data() + at, &value, sizeof value);
  }

  std::vector<table_view> views_;
  std::deque<std::vector<column_view>> columns_;
  std::deque<std::vector<std::uint8_t>> bytes_;
  std::deque<std::vector<std::uint32_t>> offsets_;
};

void check_sums(const snapshot& s) {
  model::cluster_state copy = model::state_of(s);
  model::recount(copy);
  fuzz::ensure(*copy.live.idle == *model::state_of(s).live.idle, "idle amounts equal a recount");
  fuzz::ensure(*copy.live.releasing == *model::state_of(s).live.releasing, "releasing amounts equal a recount");
  fuzz::ensure(*copy.live.device_free == *model::state_of(s).live.device_free, "devices equal a recount");
  fuzz::ensure(*copy.live.queue_allocated == *model::state_of(s).live.queue_allocated,
               "sums of queues equal a recount");
  fuzz::ensure(*copy.live.queue_request == *model::state_of(s).live.queue_request,
               "requests of queues equal a recount");
  fuzz::ensure(*copy.live.by_gpu == *model::state_of(s).live.by_gpu, "orders of nodes equal a recount");
}

/// A cluster that goes on from the version before says the same about the delta.
void check_resumed(const snapshot& before, std::span<const table_view> delta, const result<void>& applied,
                   const std::string& digest) {
  cluster again(before);
  fuzz::ensure(again.take_snapshot().digest() == before.digest(), "a cluster goes on where the version is");
  const result<void> done = again.apply(delta);
  fuzz::ensure(done.ok() == applied.ok(), "and takes the same deltas");
  if (!applied)
    fuzz::ensure(done.failure().message == applied.failure().message, "or refuses them for the same reason");
  const snapshot now = again.take_snapshot();
  fuzz::ensure(now.digest() == digest, "and gets to the same version");
  check_sums(now);
}

void check_rebuilt(const snapshot& s, const std::string& digest) {
  fuzz::ensure(fuzz::sure(snapshot::load(s.save())).digest() == digest, "saving keeps the digest");
  cluster again;
  for (const table_info& info : schema()) {
    if (!info.input) continue;
    const table rows = fuzz::sure(s.to_table(info.kind));
    if (rows.rows() > 0) fuzz::sure(again.apply(rows));
  }
  fuzz::ensure(again.take_snapshot().digest() == digest, "tables keep the digest");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  source from(data, size);
  cluster c;
  snapshot last = c.take_snapshot();
  std::string digest = last.digest();
  for (int step = 0; step < 16 && !from.empty(); ++step) {
    delta next;
    const std::size_t tables = 1 + from.below(3);
    for (std::size_t i = 0; i < tables; ++i) next.add_table(from);
    const result<void> applied = c.apply(next.views());
    const snapshot now = c.take_snapshot();
    const std::string digest_now = now.digest();
    check_resumed(last, next.views(), applied, digest_now);
    fuzz::ensure(last.digest() == digest, "a snapshot never changes");
    if (!applied) {
      fuzz::ensure(!applied.failure().message.empty(), "an error says why");
      fuzz::ensure(digest_now == digest, "a refused delta changes nothing");
    } else {
      check_sums(now);
      check_rebuilt(now, digest_now);
    }
    last = now;
    digest = digest_now;
  }
  return 0;
}
