#!/usr/bin/env python3
"""Writes the C++ example of a page as a translation unit: extract_cpp.py PAGE OUTPUT."""
import re
import sys

page, output = sys.argv[1:]
blocks = re.findall(r"```cpp\n(.*?)```", open(page, encoding="utf-8").read(), re.S)
if not blocks:
    sys.exit(f"{page} has no C++ example")
includes, bodies = [], []
for block in blocks:
    lines = block.splitlines()
    includes += [line for line in lines if line.startswith("#include")]
    bodies.append("\n".join(line for line in lines if not line.startswith("#include")))
with open(output, "w", encoding="utf-8") as file:
    file.write("\n".join(includes) + "\n#include <iostream>\n#include <span>\n")
    for number, body in enumerate(bodies):
        file.write(f"void example_{number}(std::span<const kaisched::table_view> tables, std::int64_t now_ns);\n")
        file.write(f"void example_{number}(std::span<const kaisched::table_view> tables, std::int64_t now_ns) {{\n{body}}}\n")
