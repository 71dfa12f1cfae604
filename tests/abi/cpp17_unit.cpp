// Second of two units that include the header in C++17.
#include <kaisched/abi.hpp>

std::string digest_of(const kaisched::abi::snapshot& snapshot);
std::string digest_of(const kaisched::abi::snapshot& snapshot) { return snapshot.digest(); }
