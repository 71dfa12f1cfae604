#pragma once
/// @file
/// What C++ snippets without `main` find: the cluster of the README's Python example as tables.

#include <cstdint>
#include <iostream>
#include <vector>

#include <kaisched/kaisched.hpp>

/// Two nodes with eight GPUs, one queue, one gang of two pods with eight GPUs each.
std::vector<kaisched::table> small_cluster();
std::vector<kaisched::table_view> views(const std::vector<kaisched::table>& owned);
