# The interpreter that CMake found is new enough for all of the tree; nothing but its standard library is used.
set(program "${python}" -I "${source}/examples/embed_python_ctypes/main.py")
