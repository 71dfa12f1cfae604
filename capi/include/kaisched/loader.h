#ifndef KAISCHED_LOADER_H
#define KAISCHED_LOADER_H
/// @file
/// Parts of a policy from shared objects. A library of its own, `libkaisched_loader`, so that only hosts that want it
/// load code at run time. Rules of the first page of kaisched.h hold here as well.
///
/// A shared object with parts shows one function, named KAISCHED_PLUGIN_ENTRY, of the type kaisched_plugin_entry. It
/// needs kaisched.h and no library.

#include <kaisched/kaisched.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Name of the function that a shared object with parts shows.
#define KAISCHED_PLUGIN_ENTRY "kaisched_plugin_part"

/// Gives part number `index`, counted from 0, of a shared object, or NULL behind the last one. What it points to lives
/// as long as the object is loaded.
/// @param abi KAISCHED_ABI_VERSION of the host.
typedef const kaisched_part* (*kaisched_plugin_entry)(uint32_t abi, size_t index);

/// Loads a shared object and adds one of its parts to those that the option `parts` of an engine can name. The object
/// is given back when no engine and no session needs the part any more.
/// @param path as dlopen takes it.
/// @param name of the part; NULL for the first one.
/// @param options, count as of kaisched_engine_add_part.
/// Errors: KAISCHED_E_NOT_FOUND if the object cannot be loaded, or its function or the part is not there;
/// KAISCHED_E_NO_MEMORY; those of kaisched_engine_add_part.
KAISCHED_API kaisched_status kaisched_load_part(kaisched_engine* engine, const char* path, const char* name,
                                                const kaisched_kv* options, size_t count,
                                                kaisched_error* err) KAISCHED_NOEXCEPT;

#ifdef __cplusplus
}
#endif
#endif
