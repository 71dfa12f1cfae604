// Any bytes as bodies of requests: what is asked stays within its limits, errors say why, and changes that are refused
// change nothing.
#include <string>
#include <vector>

#include <kaisched/cluster.hpp>

#include "cli/serve/bodies.hpp"
#include "io/cluster_json.hpp"
#include "io/delta_reader.hpp"
#include "source.hpp"

namespace {

using namespace kaisched;
using namespace kaisched::cli::serve;

constexpr question_limits limits{4, 100, 8};

constexpr std::string_view start = R"({"schema": "kaisched-cluster/1", "queue": [{"name": "q"}],
 "node": [{"name": "n", "capacity": {"cpu": 8000, "gpu": 2000, "pods": 10}}],
 "pod_group": [{"name": "a", "queue": "q"}], "pod": [{"name": "a-0", "group": "a", "request": {"gpu": 1000}}]})";

template <class T>
bool is_read(const result<T>& made) {
  fuzz::ensure(made.ok() || !made.failure().message.empty(), "an error says why");
  return made.ok();
}

void check_questions(std::string_view text, const snapshot& over) {
  const result<what_if_body> asked = read_what_if(text, over.dimension_names(), limits);
  if (!is_read(asked)) return;
  fuzz::ensure(!asked->questions.empty() && asked->questions.size() <= limits.questions, "so many questions");
  for (const cli::what_if_question& one : asked->questions) {
    fuzz::ensure(one.pods >= 1 && one.pods <= 100 && one.gang >= 0 && one.gang <= one.pods, "so many pods");
    fuzz::ensure(one.gpus >= 0 && one.gpus <= cli::what_if_gpus.most, "so many GPUs");
    fuzz::ensure(one.groups.size() <= limits.questions, "so many groups");
    fuzz::ensure(!one.queue.empty() || !one.groups.empty() || !one.added.empty(), "something is asked");
  }
}

void check_nodes(std::string_view text, const snapshot& over) {
  const result<scale_body> asked = read_scale(text, over, limits);
  if (!is_read(asked)) return;
  const scale_question& one = asked->question;
  fuzz::ensure(one.up || one.down, "something is asked");
  fuzz::ensure(one.verifications >= 1 && one.verifications <= limits.verifications, "so many verifications");
  fuzz::ensure(one.queues.size() <= limits.questions && one.groups.size() <= limits.questions, "so many names");
}

void check_deltas(std::string_view text, const snapshot& over) {
  const result<io::json_document> document = io::json_document::parse(text, "body");
  if (!is_read(document)) return;
  const result<io::delta_input> read = io::read_deltas(document->root(), over.dimension_names(), "body");
  if (!is_read(read)) return;
  fuzz::ensure(read->tables.size() == read->places.size(), "every table has its places");
  for (std::size_t i = 0; i < read->tables.size(); ++i)
    fuzz::ensure(read->tables[i].rows() == read->places[i].size(), "every row has its place");
  cluster next(over);
  const result<void> applied = next.apply(std::span<const table>(read->tables));
  if (applied) return;
  fuzz::ensure(!read->placed(applied.failure()).message.empty(), "a refusal says why");
  fuzz::ensure(next.take_snapshot().digest() == over.digest(), "and nothing has changed");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const snapshot over = [] {
    cluster made = fuzz::sure(io::build_cluster(fuzz::sure(io::parse_cluster_json(start, "start"))));
    return made.take_snapshot();
  }();
  const std::string_view text = fuzz::as_text(data, size);
  check_questions(text, over);
  if (const result<explain_body> asked = read_explain(text, limits); is_read(asked))
    fuzz::ensure(!asked->names.empty() && asked->names.size() <= limits.questions, "so many names");
  check_nodes(text, over);
  check_deltas(text, over);
  return 0;
}
