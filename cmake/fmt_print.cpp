// The functions of fmt that write to streams, for programs: see fmt.cpp.
#include <cstdio>

#define FMT_HEADER_ONLY
#include <fmt/format.h>

FMT_BEGIN_NAMESPACE
[[gnu::used]] void (*const printed[])() = {
    reinterpret_cast<void (*)()>(static_cast<void (*)(string_view, format_args)>(&vprint)),
    reinterpret_cast<void (*)()>(static_cast<void (*)(std::FILE*, string_view, format_args)>(&vprint)),
};
FMT_END_NAMESPACE
