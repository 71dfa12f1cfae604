/// Recordings in both forms: what is packed is what is plain, whatever is cut off or damaged.
#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "base/sha256.hpp"
#include "io/files.hpp"
#include "io/gzip_stream.hpp"
#include "io/recording.hpp"
#include "support.hpp"

namespace of_test_recording {

using namespace kaisched;
using test::builder;
using test::must;

namespace {

constexpr std::string_view first_line = "kaisched-recording/2\n";
constexpr std::string_view not_one =
    "the bytes do not start with 'kaisched-recording/2': they are no recording, or damaged";

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

recorded record(io::recording_form form, int sessions = 6) {
  recorded made;
  io::recorder writes(into(made.bytes), form);
  builder b;
  b << builder::node{"n", 4} << builder::queue{"q"};
  cluster c;
  for (const table& one : b.tables()) must(c.apply(one));
  engine with;
  for (int i = 0; i < sessions; ++i) {
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

/// A recording record by record, whose checksums are right.
class hand_made {
 public:
  hand_made() : bytes_(first_line), chain_(check_of(first_line)) {}
  hand_made& add(char tag, std::string_view content, std::uint64_t told_size) {
    std::string head(1, tag);
    for (int i = 0; i < 8; ++i) head.push_back(static_cast<char>(told_size >> (8 * i) & 0xff));
    head += check_of(content);
    chain_ = check_of(chain_ + head);
    bytes_.append(head).append(chain_).append(content);
    return *this;
  }
  hand_made& add(char tag, std::string_view content) { return add(tag, content, content.size()); }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  static std::string check_of(std::string_view bytes) {
    base::sha256 hash;
    hash.update(bytes);
    const auto sum = hash.finish();
    return {reinterpret_cast<const char*>(sum.data()), 8};
  }
  std::string bytes_;
  std::string chain_;
};

/// Where the records of a recording begin, and its end.
std::vector<std::size_t> record_places(std::string_view bytes) {
  std::vector<std::size_t> places{first_line.size()};
  while (places.back() < bytes.size()) {
    std::uint64_t size = 0;
    std::memcpy(&size, bytes.data() + places.back() + 1, sizeof size);
    places.push_back(places.back() + 25 + static_cast<std::size_t>(size));
  }
  return places;
}

std::string flipped(std::string bytes, std::size_t bit) {
  bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
  return bytes;
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
      CHECK(part.fault == not_one);
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

TEST_CASE("a bit of a plain recording that is flipped is an error") {
  const auto check = [](const std::string& bytes, const read_back& whole, std::size_t bit) {
    const read_back part = read(flipped(bytes, bit));
    const bool is_told = part.fault.find("damaged") != std::string::npos && !part.truncated;
    const bool is_prefix = part.digests.size() < whole.digests.size() &&
                           std::equal(part.digests.begin(), part.digests.end(), whole.digests.begin());
    if (!is_told || !is_prefix) FAIL_CHECK("bit " << bit << ": " << part.fault);
  };
  const std::string number(8, '\0');
  const std::string small = hand_made()
                                .add('O', std::string("\3\0\0\0\0\0\0\0kai", 11))
                                .add('C', "")
                                .add('S', number + number)
                                .add('S', number + number + "L" + std::string("\1\0\0\0\0\0\0\0x", 9))
                                .bytes();
  const read_back of_small = read(small);
  REQUIRE(of_small.digests.size() == 2);
  for (std::size_t bit = 0; bit < small.size() * 8; ++bit) check(small, of_small, bit);

  const recorded plain = record(io::recording_form::plain, 2);
  const read_back whole = read(plain.bytes);
  const std::vector<std::size_t> at = record_places(plain.bytes);
  for (std::size_t bit = 0; bit < plain.bytes.size() * 8;) {
    check(plain.bytes, whole, bit);
    const bool is_inside_cluster = bit > (at[1] + 25) * 8 && bit + 61 < at[2] * 8;
    bit += is_inside_cluster ? std::size_t{61} : std::size_t{1};  // it is long, and one checksum holds for all of it
  }
}

TEST_CASE("a bit of a packed recording that is flipped is an error, or means nothing") {
  const recorded gzip = record(io::recording_form::gzip, 2);
  const read_back whole = read(gzip.bytes);
  std::size_t without_meaning = 0;
  for (std::size_t bit = 0; bit < gzip.bytes.size() * 8; ++bit) {
    const read_back part = read(flipped(gzip.bytes, bit));
    CHECK_FALSE(part.truncated);
    CHECK(std::equal(part.digests.begin(), part.digests.end(), whole.digests.begin(),
                     whole.digests.begin() + std::ssize(part.digests)));
    if (!part.fault.empty()) {
      CHECK(part.fault.find("damaged") != std::string::npos);
      continue;
    }
    ++without_meaning;
    CHECK(part.digests == whole.digests);
    CHECK(part.states == whole.states);
  }
  // In the head a time, a level and a system mean nothing, nor do bits that fill up a byte after each session, or
  // lengths of codes that nothing uses.
  CHECK(without_meaning < 150);
}

TEST_CASE("what is damaged in a packed recording is told with its place") {
  const recorded gzip = record(io::recording_form::gzip);
  const read_back whole = read(gzip.bytes);
  const read_back tail = read(gzip.bytes.substr(0, gzip.bytes.size() - 1) + '\x7f');
  CHECK(tail.digests == whole.digests);  // what comes before the damage is read
  CHECK(tail.fault.find("after session 6: the gzip stream is damaged") != std::string::npos);
  CHECK(tail.fault.find("its checksum is another one") != std::string::npos);
  CHECK(read(gzip.bytes + "more").fault.find("other bytes follow") != std::string::npos);
}

TEST_CASE("damage to a recording is told with its session, and no record can go, come twice or move") {
  const recorded plain = record(io::recording_form::plain);
  const read_back whole = read(plain.bytes);
  const std::vector<std::size_t> at = record_places(plain.bytes);  // O, W, S, then C and S five times
  REQUIRE(at.size() == 14);
  const read_back content = read(flipped(plain.bytes, at[5] * 8 - 1));
  CHECK(content.digests.size() == 1);
  CHECK(content.fault == "after session 1: the record that ends at byte " + std::to_string(at[5]) +
                             " is damaged: its checksum is another one");
  // A length that is too large is no recording that was cut off.
  const read_back length = read(flipped(plain.bytes, (at[4] + 4) * 8));
  CHECK(length.fault == "after session 1: the record that begins at byte " + std::to_string(at[4]) +
                            " is damaged: the checksum of its head is another one");
  CHECK_FALSE(length.truncated);
  CHECK(
      read(flipped(plain.bytes, at[0] * 8 + 80)).fault.starts_with("before the first session: the record that begins"));

  const auto part = [&](std::size_t from, std::size_t to) { return plain.bytes.substr(at[from], at[to] - at[from]); };
  const std::string begin = plain.bytes.substr(0, at[5]);
  for (const std::string& other : {begin + part(7, 13), begin + part(3, 13), begin + part(7, 9) + part(5, 7)}) {
    const read_back seen = read(other);
    CHECK(seen.digests.size() == 2);
    CHECK(seen.fault.find("the checksum of its head is another one") != std::string::npos);
  }
  // Two bits make the 2 of the first line a 1, and no recording of version 0.1.
  std::string older = plain.bytes;
  older[first_line.size() - 2] = '1';
  CHECK(read(older).fault.find("damaged: its checksum is another one") != std::string::npos);
}

TEST_CASE("recordings of version 0.1 are read") {
  for (const char* name : {"sessions.kr", "sessions.kr.gz"}) {
    const std::string bytes = must(io::read_file(std::string(KAISCHED_SOURCE_DIR "/tests/unit/version_0.1/") + name));
    result<io::recording> from = io::recording::open(bytes);
    REQUIRE(from.ok());
    std::vector<std::int64_t> times;
    while (must(from->next())) times.push_back(from->session().now / test::second);
    CHECK(times.size() == 5);
    CHECK_FALSE(from->truncated());
    CHECK(from->state().count(entity_kind::node) == 2);
    const read_back cut = read(std::string_view(bytes).substr(0, bytes.size() - 20));
    CHECK(cut.digests.size() >= 3);
    CHECK(cut.truncated);
    if (io::is_gzip(bytes)) continue;
    CHECK(read(flipped(bytes, bytes.size() * 8 - 1)).fault.find("its checksum is another one") != std::string::npos);
  }
}

TEST_CASE("options and actions of a recording have their present names") {
  const auto text = [](std::string_view of) {
    std::string made;
    for (int i = 0; i < 8; ++i) made.push_back(static_cast<char>(of.size() >> (8 * i) & 0xff));
    return made.append(of);
  };
  std::string options = text("kai-0.17");
  for (const std::string_view one :
       {"actions", "overlimit,tiers", "tiers", "gang,binpack", "tiers.actions", "allocate", "mode", "compat"})
    options += text(one);
  const std::string session(8, '\0');
  const std::string bytes = hand_made().add('O', options).add('S', session + text("a digest")).bytes();
  result<io::recording> from = io::recording::open(bytes);
  REQUIRE(from.ok());
  REQUIRE(must(from->next()));
  const std::vector<std::pair<std::string, std::string>> expected{{"actions", "overlimit,volcano"},
                                                                  {"volcano.tiers", "gang,binpack"},
                                                                  {"volcano.actions", "allocate"},
                                                                  {"mode", "compat"}};
  CHECK(from->session().options == expected);
  CHECK(from->session().digest == "a digest");
  engine with;
  must(io::configure(with, from->session()));
  CHECK(with.options().warnings.empty());
  CHECK(with.options().actions == std::vector<std::string>{"overlimit", "volcano"});
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
  CHECK(read(packed("something else")).fault == not_one);
}

TEST_CASE("few bytes that stand for many are refused") {
  const std::string large = hand_made().add('S', std::string(100'000, '\0'), io::largest_packed_record + 1).bytes();
  CHECK(read(packed(large)).fault.find("packed recordings have records of at most") != std::string::npos);
  const std::string endless = hand_made().add('S', "", ~std::uint64_t{0}).bytes();
  CHECK(read(packed(endless)).fault.find("18446744073709551615 bytes") != std::string::npos);
  CHECK(read(endless).truncated);

  // Each session has the decisions of the one before a hundred times.
  const auto number = [](std::uint64_t value) {
    std::string made;
    for (int i = 0; i < 8; ++i) made.push_back(static_cast<char>(value >> (8 * i) & 0xff));
    return made;
  };
  hand_made all;
  const std::string text(100, 'x');
  std::string content = number(0) + number(0) + "L" + number(text.size()) + text;
  std::uint64_t count = 1;
  for (int i = 0; i < 6; ++i) {
    all.add('S', content);
    content = number(0) + number(0);
    for (int k = 0; k < 100; ++k) content += "K" + number(0) + number(count);
    count *= 100;
  }
  const read_back made = read(all.bytes());
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
