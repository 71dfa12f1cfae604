#pragma once
/// @file
/// The heap of the process, with a call that can be made to fail. Replaces malloc and its relatives (glibc), so the
/// library that is tested has to be a shared one.

namespace failing_heap {

enum class failing { once, from_then_on };

/// The n-th allocation of this thread from now on fails, and with `from_then_on` all after it.
void arm(long n, failing how);
/// Allocations succeed again. Whether one has failed.
bool disarm();
/// Blocks that have not been given back.
long live_blocks();

}  // namespace failing_heap
