// Columns as matrices of Eigen: the same values in the same memory.
#include <kaisched/eigen.hpp>
#include <kaisched/kaisched.hpp>

#include "rows.hpp"
#include "support.hpp"

namespace of_test_eigen {

using namespace kaisched;
using kind = table_kind;
using test::add;
using test::must;

namespace {

session two_queues() {
  cluster c;
  must(c.apply(
      add(kind::node, {"name", "capacity"}).add({"n1", std::vector<std::int64_t>{64'000, 1 << 30, 8000, 110}})));
  must(c.apply(add(kind::queue, {"name", "quota", "over_quota_weight"})
                   .add({"a", std::vector<std::int64_t>{1000, 2000, 3000}, std::vector<double>{1, 2, 3}})
                   .add({"b", std::vector<std::int64_t>{-1, -1, 4000}, std::vector<double>{4, 5, 6}})));
  return must(engine().open(c.take_snapshot(), 0));
}

}  // namespace

TEST_CASE("shares are the columns of the table, in their memory") {
  const session over = two_queues();
  const table shares = must(over.to_table(kind::queue_share));
  const table_view rows = shares.view();
  for (const std::uint32_t id :
       {col::share_quota, col::share_limit, col::share_fair_share, col::share_request, col::share_allocated}) {
    CAPTURE(id);
    const column_view& column = *rows.find(id);
    const auto matrix = share_matrix(rows, id);
    REQUIRE(matrix.rows() == 2);
    REQUIRE(matrix.cols() == quota_dimensions);
    CHECK(static_cast<const void*>(matrix.data()) == column.data);
    for (Eigen::Index q = 0; q < matrix.rows(); ++q) {
      for (Eigen::Index r = 0; r < matrix.cols(); ++r) {
        CHECK(matrix(q, r) == column.values<std::int64_t>(rows.rows)[static_cast<std::size_t>(q * matrix.cols() + r)]);
      }
    }
  }
  const auto quota = share_matrix(rows, col::share_quota);
  CHECK(quota(0, dim_gpu) == 3000);
  CHECK(quota(1, 0) == unlimited);
  CHECK(quota.col(dim_gpu).sum() == 7000);
}

TEST_CASE("a column of doubles, a column of one value per row, amounts of nodes") {
  const session over = two_queues();
  const table queues = must(over.base().to_table(kind::queue));
  const auto weights = matrix_of<double>(queues.view(), col::queue_over_quota_weight);
  REQUIRE(weights.rows() == 2);
  CHECK(weights(1, 2) == 6);
  CHECK(static_cast<const void*>(weights.data()) == queues.view().find(col::queue_over_quota_weight)->data);
  const table shares = must(over.to_table(kind::queue_share));
  const auto pending = matrix_of<std::int64_t>(shares.view(), col::share_pending_pods);
  CHECK(pending.rows() == 2);
  CHECK(pending.cols() == 1);
  const session_view view = over.view();
  const auto idle = matrix_of(view.node_idle(), view.dimension_count());
  CHECK(idle.data() == view.node_idle().data());
  CHECK(idle.rows() == 1);
  CHECK(idle(0, dim_gpu) == 8000);
}

TEST_CASE("what is no matrix has no rows") {
  const session over = two_queues();
  const table shares = must(over.to_table(kind::queue_share));
  CHECK(share_matrix(shares.view(), 999).size() == 0);                               // no such column
  CHECK(share_matrix(shares.view(), col::share_queue).size() == 0);                  // u64
  CHECK(matrix_of<double>(shares.view(), col::share_quota).size() == 0);             // i64
  CHECK(matrix_of<std::uint8_t>(shares.view(), col::share_queue_name).size() == 0);  // text
  CHECK(share_matrix(must(two_queues().to_table(kind::decision)).view(), col::decision_device_share).rows() == 0);
  CHECK(matrix_of(std::span<const std::int64_t>{}, 0).size() == 0);
}

}  // namespace of_test_eigen
