/* What arrays take on a card. Texture memory is block-linear: rows of 64-byte columns, eight of them to a group
 * ("GOB"), groups stacked in blocks of up to 16 over height and depth (the public description of the layout is that of
 * Linux, drm_fourcc.h, NVIDIA block linear). Blocks are whole, so an array of 160 rows takes 256. The rule for depth,
 * and that nothing is asked for sparse and deferred arrays, was read off an H200 with driver 580
 * (tests/cuda/shim/layout.c has the measured sizes). */
#ifndef KAISCHED_SHIM_ARRAY_LAYOUT_H
#define KAISCHED_SHIM_ARRAY_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_abi.h"

/* Flags of descriptions. */
#define ARRAY_LAYERED 0x01u
#define ARRAY_CUBEMAP 0x04u
#define ARRAY_SPARSE 0x40u
#define ARRAY_DEFERRED 0x80u

/* Memory of these is made by handle and mapped later. */
static inline bool array_is_unbacked(const CUDA_ARRAY3D_DESCRIPTOR* description) {
  return (description->Flags & (ARRAY_SPARSE | ARRAY_DEFERRED)) != 0;
}

static inline uint64_t array_blocks(uint64_t wanted, uint64_t block) {
  return wanted > UINT64_MAX - block ? UINT64_MAX : (wanted + block - 1) / block * block;
}

/* Smallest power of two that holds `wanted`, at most `most`. */
static inline uint64_t array_block(uint64_t wanted, uint64_t most) {
  uint64_t block = 1;
  while (block < wanted && block < most) block *= 2;
  return block;
}

/* Bytes of `levels` levels (1 for what is no mipmap) whose elements have `element` bytes; UINT64_MAX if too many. */
static inline uint64_t array_bytes(const CUDA_ARRAY3D_DESCRIPTOR* description, uint64_t element, unsigned levels) {
  bool layered = (description->Flags & (ARRAY_LAYERED | ARRAY_CUBEMAP)) != 0;
  uint64_t sum = 0, layers = layered && description->Depth > 0 ? description->Depth : 1;
  for (unsigned level = 0; level < levels && level < 32; level++) {
    uint64_t width = description->Width >> level, height = description->Height >> level,
             depth = layered ? 1 : description->Depth >> level, bytes = 0;
    width = width > 0 ? width : 1;
    height = height > 0 ? height : 1;
    depth = depth > 0 ? depth : 1;
    uint64_t deep = array_block(depth, 16), high = 8 * array_block((height + 7) / 8, 16 / deep);
    if (__builtin_mul_overflow(width, element, &bytes)) return UINT64_MAX;
    bytes = array_blocks(bytes, 64);
    if (__builtin_mul_overflow(bytes, array_blocks(height, high), &bytes) ||
        __builtin_mul_overflow(bytes, array_blocks(depth, deep), &bytes) ||
        __builtin_mul_overflow(bytes, layers, &bytes) || __builtin_add_overflow(sum, bytes, &sum)) {
      return UINT64_MAX;
    }
  }
  return sum;
}

#endif
