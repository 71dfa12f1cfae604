// Clusters without names.
#include <doctest/doctest.h>

#include <kaisched/schema.hpp>

#include "io/anonymise.hpp"

namespace of_test_io_anonymise {

using namespace kaisched;

TEST_CASE("of every text of an input table it is known what it is") {
  for (const table_info& of : schema()) {
    for (const column_info& column : of.columns) {
      const bool is_text = column.type == column_type::string || column.type == column_type::string_list;
      CAPTURE(of.name);
      CAPTURE(column.name);
      CHECK(io::knows_texts_of(of, column) == (of.input && is_text));
    }
  }
}

}  // namespace of_test_io_anonymise
