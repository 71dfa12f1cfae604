// Runs a fuzz target over its corpus and over mutations of it, the same on every machine. Where libFuzzer is linked,
// its main is used instead.
//   PROGRAM CORPUS-FOLDER MUTATIONS [SEED]
#include <algorithm>
#include <array>
#include <charconv>
#include <cinttypes>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "source.hpp"

// There only where a sanitizer is linked.
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

namespace {

using bytes = std::string;

constexpr std::uint64_t usual_seed = 20'240'229;

std::uint64_t number_of(std::string_view text, std::uint64_t otherwise) {
  std::uint64_t made = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), made);
  return made;
}

std::vector<bytes> read_corpus(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<bytes> corpus;
  for (const std::filesystem::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return corpus;
}

class mutator {
 public:
  mutator(const std::vector<bytes>& corpus, std::uint64_t seed) : corpus_(corpus), engine_(seed) {}

  bytes next() {
    bytes made = corpus_[below(corpus_.size())];
    const std::size_t changes = 1 + below(4);
    for (std::size_t i = 0; i < changes; ++i) change(made);
    if (made.size() > longest) made.resize(longest);
    return made;
  }

 private:
  static constexpr std::size_t longest = 1U << 16U;

  /// std::uniform_int_distribution differs between libraries; the engine does not.
  std::size_t below(std::size_t count) { return count == 0 ? 0 : static_cast<std::size_t>(engine_() % count); }

  void change(bytes& made) {
    static constexpr std::string_view marks = "{}[]\"':,-#&*!|>%@`\\\n\r\t 019.eE+~=()/\xFF\x7F";
    const std::size_t at = below(made.size() + 1);
    const std::size_t length = 1 + below(16);
    switch (below(9)) {
      case 0:  // another byte
        if (at < made.size()) made[at] = static_cast<char>(below(256));
        break;
      case 1:  // a byte of the syntax
        made.insert(at, 1, marks[below(marks.size())]);
        break;
      case 2:
        made.erase(at, length);
        break;
      case 3:  // a part twice
        made.insert(at, made.substr(below(made.size() + 1), length));
        break;
      case 4: {  // a part of another input
        const bytes& other = corpus_[below(corpus_.size())];
        made.insert(at, other.substr(below(other.size() + 1), length * 4));
        break;
      }
      case 5:  // one bit
        if (at < made.size()) made[at] = static_cast<char>(static_cast<unsigned char>(made[at]) ^ (1U << below(8)));
        break;
      case 6:
        change_number(made, at);
        break;
      case 7:
        change_integer(made, at);
        break;
      default:
        made.resize(at);
    }
  }

  /// The next number of a text becomes one at an edge.
  void change_number(bytes& made, std::size_t from) {
    static constexpr std::string_view digits = "0123456789";
    static constexpr std::array<std::string_view, 12> edges{"0",
                                                            "-1",
                                                            "1",
                                                            "2147483647",
                                                            "2147483648",
                                                            "4294967296",
                                                            "4503599627370496",
                                                            "4503599627370497",
                                                            "9223372036854775807",
                                                            "-9223372036854775808",
                                                            "18446744073709551615",
                                                            "1e300"};
    const std::size_t first = made.find_first_of(digits, from);
    if (first == bytes::npos) return;
    const std::size_t last = std::min(made.find_first_not_of(digits, first), made.size());
    made.replace(first, last - first, edges[below(edges.size())]);
  }

  /// An integer of 1 to 8 bytes, little-endian as formats have lengths, becomes one at an edge, or larger or smaller.
  void change_integer(bytes& made, std::size_t at) {
    static constexpr std::array<std::uint64_t, 8> edges{
        0, 1, 0x7F, 0x7FFFFFFF, 0x80000000, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000, 0xFFFFFFFFFFFFFFFF};
    const std::size_t size = std::size_t{1} << below(4);
    if (made.size() < size) return;
    const std::size_t first = std::min(at, made.size() - size);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i)
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(made[first + i])) << (8 * i);
    const std::size_t way = below(edges.size() + 2);
    value = way < edges.size() ? edges[way] : way == edges.size() ? value + 1 + below(8) : value - 1 - below(8);
    for (std::size_t i = 0; i < size; ++i) made[first + i] = static_cast<char>((value >> (8 * i)) & 0xFFU);
  }

  const std::vector<bytes>& corpus_;
  std::mt19937_64 engine_;
};

// The input that a finding is about, for whoever ends the program.
const bytes* present = nullptr;
std::string kept;

/// Leaves the present input behind as a file. Called when all is lost, so nothing here allocates.
void keep_input() {
  if (present == nullptr) return;
  const int file = ::open(kept.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0) return;
  const bool written = ::write(file, present->data(), present->size()) == static_cast<ssize_t>(present->size());
  ::close(file);
  if (written) std::fprintf(stderr, "the input is kept as %s\n", kept.c_str());
}

void keep_input_on(int signal) {
  keep_input();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void run(const bytes& input) {
  present = &input;
  const std::vector<std::uint8_t> exact(input.begin(), input.end());  // so that reading past the end is seen
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
  present = nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    std::fprintf(stderr, "usage: %s CORPUS-FOLDER MUTATIONS [SEED]\n", argv[0]);
    return 2;
  }
  const std::uint64_t mutations = number_of(argv[2], 0);
  const std::uint64_t seed = argc == 4 ? number_of(argv[3], usual_seed) : usual_seed;
  const std::vector<bytes> corpus = read_corpus(argv[1]);
  if (corpus.empty()) {
    std::fprintf(stderr, "%s: no inputs\n", argv[1]);
    return 1;
  }

  kept = std::string(argv[0]) + ".input";
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(keep_input);
    std::signal(SIGABRT, keep_input_on);
  } else {
    for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, keep_input_on);
  }
  run({});
  for (const bytes& input : corpus) run(input);
  mutator mutate(corpus, seed);
  for (std::uint64_t i = 0; i < mutations; ++i) run(mutate.next());
  std::printf("%zu inputs, %" PRIu64 " mutations of them: nothing found\n", corpus.size(), mutations);
  return 0;
}
