/// Recordings in both forms: what is packed is what is plain, whatever is cut off or damaged.
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "base/sha256.hpp"
#include "io/gzip_stream.hpp"
#include "io/recording.hpp"
#include "support.hpp"

namespace of_test_recording {

using namespace kaisched;
using test::builder;
using test::must;

namespace {

constexpr std::string_view first_line = "kaisched-recording/1\n";

io::byte_sink into(std::string& to) {
  return [&to](std::string_view more) -> result<void> {
    to += more;
    return {};
  };
}

std::string packed(std::string_view bytes) {
  std::string made;
  io::gzip_writer writes(into(made));
  must(writes.add(bytes));
  must(writes.finish());
  return made;
}

std::string unpacked(std::string_view bytes) {
  std::string made;
  io::gzip_reader reads(bytes);
  must(reads.fill(made, std::string::npos));
  return made;
}

/// A recording of some sessions, in which one pod after the other starts, and how long it is after each.
struct recorded {
  std::string bytes;
  std::vector<std::size_t> ends;
};

recorded record(io::recording_form form) {
  recorded made;
  io::recorder writes(into(made.bytes), form);
  builder b;
  b << builder::node{"n", 4} << builder::queue{"q"};
  cluster c;
  for (const table& one : b.tables()) must(c.apply(one));
  engine with;
  for (int i = 0; i < 6; ++i) {
    builder more;
    more.gang("job-" + std::to_string(i), "q", 1, 1000);
    for (const table& one : more.tables()) {
      if (one.rows() > 0) must(c.apply(one));
    }
    must(writes.add(with, must(with.run(c.take_snapshot(), i)), i));
    made.ends.push_back(made.bytes.size());
  }
  must(writes.finish());
  return made;
}

/// Digests of the sessions that can be read, and how that ends.
struct read_back {
  std::vector<std::string> digests;
  std::vector<std::string> states;
  bool truncated = false;
  std::string fault;
};

read_back read(std::string_view bytes) {
  read_back made;
  result<io::recording> from = io::recording::open(bytes);
  if (!from) {
    made.fault = from.failure().message;
    return made;
  }
  for (;;) {
    const result<bool> more = from->next();
    if (!more) made.fault = more.failure().message;
    if (!more) CHECK(from->next().failure().message == made.fault);  // what comes behind it is not read
    if (!more || !*more) break;
    made.digests.push_back(from->session().digest);
    made.states.push_back(from->state().digest());
  }
  made.truncated = from->truncated();
  return made;
}

/// A record, whose checksum is right.
std::string record_of(char tag, std::string_view content, std::uint64_t told_size) {
  std::string made(1, tag);
  for (int i = 0; i < 8; ++i) made.push_back(static_cast<char>(told_size >> (8 * i) & 0xff));
  base::sha256 hash;
  hash.update(content);
  const auto sum = hash.finish();
  made.append(reinterpret_cast<const char*>(sum.data()), 8);
  return made.append(content);
}

}  // namespace

TEST_CASE("a packed recording has the bytes of a plain one, and says the same") {
  const recorded plain = record(io::recording_form::plain);
  const recorded gzip = record(io::recording_form::gzip);
  CHECK(io::is_gzip(gzip.bytes));
  CHECK(unpacked(gzip.bytes) == plain.bytes);
  CHECK(gzip.bytes.size() < plain.bytes.size());
  CHECK(record(io::recording_form::gzip).bytes == gzip.bytes);
  const read_back one = read(plain.bytes);
  const read_back other = read(gzip.bytes);
  CHECK(one.digests.size() == 6);
  CHECK(other.digests == one.digests);
  CHECK(other.states == one.states);
  CHECK_FALSE(one.truncated);
  CHECK_FALSE(other.truncated);
}

TEST_CASE("a packed recording that was cut off is read up to the last session that is whole") {
  const recorded gzip = record(io::recording_form::gzip);
  const read_back whole = read(gzip.bytes);
  for (std::size_t cut = 0; cut < gzip.bytes.size(); ++cut) {
    const read_back part = read(std::string_view(gzip.bytes).substr(0, cut));
    if (part.digests.empty() && !part.fault.empty()) {
      CHECK(part.fault == "the bytes do not start with 'kaisched-recording/1'");
      CHECK(cut < gzip.ends.front());
      continue;
    }
    CHECK(part.fault.empty());
    CHECK(part.truncated);
    const auto written = std::count_if(gzip.ends.begin(), gzip.ends.end(), [&](std::size_t end) { return end <= cut; });
    CHECK(std::ssize(part.digests) >= written);  // whatever was written before the host was killed is there
    REQUIRE(part.digests.size() <= whole.digests.size());
    CHECK(std::equal(part.digests.begin(), part.digests.end(), whole.digests.begin()));
  }
}

TEST_CASE("what is damaged in a packed recording has an error, or is noticed at its end") {
  const recorded gzip = record(io::recording_form::gzip);
  const read_back whole = read(gzip.bytes);
  int noticed = 0;
  for (std::size_t at = 0; at < gzip.bytes.size(); ++at) {
    std::string bytes = gzip.bytes;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    const read_back part = read(bytes);
    CHECK(std::equal(part.digests.begin(), part.digests.end(), whole.digests.begin(),
                     whole.digests.begin() + std::ssize(part.digests)));
    noticed += !part.fault.empty() || part.truncated ? 1 : 0;
    if (part.digests.size() < 6) CHECK((!part.fault.empty() || part.truncated));
  }
  // In the head a time, a level and a system mean nothing, nor do bits that fill up a byte after each session, or
  // lengths of codes that nothing uses: what is read is the same then.
  CHECK(noticed >= std::ssize(gzip.bytes) * 49 / 50);
  const read_back tail = read(gzip.bytes.substr(0, gzip.bytes.size() - 1) + '\x7f');
  CHECK(tail.digests == whole.digests);  // what comes before the damage is read
  CHECK(tail.fault.find("its checksum is another one") != std::string::npos);
  CHECK(read(gzip.bytes + "more").fault.find("other bytes follow") != std::string::npos);
}

TEST_CASE("any gzip is read: with a name, an extra field, a comment, in several streams") {
  const recorded plain = record(io::recording_form::plain);
  const read_back whole = read(plain.bytes);
  const std::string body = packed(plain.bytes).substr(10);
  const std::string head("\x1f\x8b\x08\x1f\0\0\0\0\0\x03\x02\0xyname\0comment\0\x12\x34", 29);
  CHECK(read(head + body).digests == whole.digests);
  for (std::size_t cut = 2; cut < head.size(); ++cut) CHECK_FALSE(read(head.substr(0, cut)).fault.empty());
  std::string of_another_form = head + body;
  of_another_form[2] = '\x07';
  CHECK(read(of_another_form).fault.find("a form that is not known") != std::string::npos);
  of_another_form = head + body;
  of_another_form[3] = '\x20';
  CHECK(read(of_another_form).fault.find("a form that is not known") != std::string::npos);
  const std::string half = plain.bytes.substr(0, plain.bytes.size() / 2);
  const read_back both = read(packed(half) + packed(plain.bytes.substr(half.size())));
  CHECK(both.digests == whole.digests);
  CHECK_FALSE(both.truncated);
  CHECK(read(packed("something else")).fault == "the bytes do not start with 'kaisched-recording/1'");
}

TEST_CASE("few bytes that stand for many are refused") {
  const std::string large = record_of('S', std::string(100'000, '\0'), io::largest_packed_record + 1);
  CHECK(read(packed(std::string(first_line) + large)).fault.find("packed recordings have records of at most") !=
        std::string::npos);
  const std::string endless = record_of('S', "", ~std::uint64_t{0});
  CHECK(read(packed(std::string(first_line) + endless)).fault.find("18446744073709551615 bytes") != std::string::npos);
  CHECK(read(std::string(first_line) + endless).truncated);

  // Each session has the decisions of the one before a hundred times.
  const auto number = [](std::uint64_t value) {
    std::string made;
    for (int i = 0; i < 8; ++i) made.push_back(static_cast<char>(value >> (8 * i) & 0xff));
    return made;
  };
  std::string bytes(first_line);
  const std::string text(100, 'x');
  std::string content = number(0) + number(0) + "L" + number(text.size()) + text;
  std::uint64_t count = 1;
  for (int i = 0; i < 6; ++i) {
    bytes += record_of('S', content, content.size());
    content = number(0) + number(0);
    for (int k = 0; k < 100; ++k) content += "K" + number(0) + number(count);
    count *= 100;
  }
  const read_back made = read(bytes);
  CHECK(made.digests.size() == 4);
  CHECK(made.fault.find("is damaged: its decisions") != std::string::npos);
}

TEST_CASE("a recording that is finished takes no more, and one that cannot be written stays so") {
  builder b;
  b << builder::node{"n", 4} << builder::queue{"q"};
  cluster c;
  for (const table& one : b.tables()) must(c.apply(one));
  engine with;
  const session s = must(with.run(c.take_snapshot(), 0));
  for (const io::recording_form form : {io::recording_form::plain, io::recording_form::gzip}) {
    std::string bytes;
    io::recorder writes(into(bytes), form);
    must(writes.add(with, s, 0));
    must(writes.finish());
    const std::string before = bytes;
    must(writes.finish());
    CHECK(bytes == before);
    CHECK(writes.add(with, s, 1).failure().code == status::state);
    CHECK(read(bytes).digests.size() == 1);

    std::size_t left = 200;
    io::recorder fails(
        [&](std::string_view more) -> result<void> {
          if (more.size() > left) return error{status::argument, "the disk is full", {}};
          left -= more.size();
          return {};
        },
        form);
    result<void> done;
    for (int i = 0; i < 9 && done; ++i) done = fails.add(with, s, i);
    CHECK(done.failure().message == "the disk is full");
    left = 1'000'000;
    CHECK(fails.add(with, s, 9).failure().message == "the disk is full");
    CHECK(fails.finish().failure().message == "the disk is full");
  }
  std::string nothing;
  io::recorder empty(into(nothing), io::recording_form::gzip);
  must(empty.finish());
  CHECK(unpacked(nothing) == first_line);
  CHECK_FALSE(read(nothing).truncated);
}

}  // namespace of_test_recording
