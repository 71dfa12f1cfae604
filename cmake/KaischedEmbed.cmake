# Texts that the library carries with it, as sources in the build folder.

# kaisched_embed_vendors(<list of sources>): every file of data/vendors becomes a part of the library.
function(kaisched_embed_vendors sources)
  file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/data/vendors/*.json")
  list(SORT files)
  set(entries "")
  foreach(file IN LISTS files)
    set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    get_filename_component(name "${file}" NAME)
    file(READ "${file}" text)
    string(APPEND entries "      {\"data/vendors/${name}\", R\"text(${text})text\"},\n")
  endforeach()
  set(VENDOR_FILES "${entries}")
  set(made "${PROJECT_BINARY_DIR}/generated/vendor_files.cpp")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/vendor_files.cpp.in" "${made}" @ONLY)
  set(${sources} ${${sources}} "${made}" PARENT_SCOPE)
endfunction()
