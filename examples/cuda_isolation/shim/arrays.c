/* Arrays. What one takes follows from its description; drivers that tell it once the array is there are believed. */
#include "array_layout.h"
#include "guard.h"

/* Bytes of one channel: at most 4; formats of compressed blocks and of video take less than that. */
static uint64_t channel(CUarray_format format) {
  switch (format) {
    case 0x01:
    case 0x08:
      return 1;
    case 0x02:
    case 0x09:
    case 0x10:
      return 2;
    default:
      return 4;
  }
}

static uint64_t expected(const CUDA_ARRAY3D_DESCRIPTOR* description, unsigned levels) {
  if (array_is_unbacked(description)) return 0;
  uint64_t channels = description->NumChannels > 0 ? description->NumChannels : 1;
  return guard_round(array_bytes(description, channel(description->Format) * channels, levels), GUARD_GRANULE);
}

static void note(enum guard_kind kind, uint64_t handle, uint64_t needs, CUdevice device, struct guard_claim* claim) {
  if (claim->card < 0) return;
  uint64_t bytes = needs == 0 || claim->bytes == 0 ? claim->bytes : guard_round(needs, GUARD_GRANULE);
  struct guard_record record = {.bytes = bytes, .card = claim->card, .device = device};
  guard_put(kind, handle, &record);
  guard_keep(claim, bytes);
}

static CUresult created(CUresult result, CUarray* out, CUdevice device, struct guard_claim* claim) {
  if (result != CUDA_SUCCESS) {
    guard_drop(claim);
    return result;
  }
  CUDA_ARRAY_MEMORY_REQUIREMENTS needs = {.size = 0};
  if (guard_real.cuArrayGetMemoryRequirements != NULL) guard_real.cuArrayGetMemoryRequirements(&needs, *out, device);
  note(GUARD_ARRAY, (uint64_t)(uintptr_t)*out, needs.size, device, claim);
  return result;
}

/* Each with descriptions of today and of CUDA 2, whose extents have 32 bits. */
#define CREATE(name, type, ...)                                                                               \
  GUARD_EXPORT CUresult name(CUarray* out, const type* description) {                                         \
    CUdevice device = 0;                                                                                      \
    if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;                                              \
    if (!guard_on() || out == NULL || description == NULL || !guard_device(&device)) {                        \
      return guard_real.name(out, description);                                                               \
    }                                                                                                         \
    CUDA_ARRAY3D_DESCRIPTOR whole = {.Width = description->Width,                                             \
                                     .Height = description->Height,                                           \
                                     .Format = description->Format,                                           \
                                     .NumChannels = description->NumChannels,                                 \
                                     __VA_ARGS__};                                                            \
    struct guard_claim claim;                                                                                 \
    CUresult result = guard_claim(&claim, device, expected(&whole, 1));                                       \
    return result != CUDA_SUCCESS ? result : created(guard_real.name(out, description), out, device, &claim); \
  }
CREATE(cuArrayCreate_v2, CUDA_ARRAY_DESCRIPTOR, .Depth = 0)
CREATE(cuArrayCreate, CUDA_ARRAY_DESCRIPTOR_v1, .Depth = 0)
CREATE(cuArray3DCreate_v2, CUDA_ARRAY3D_DESCRIPTOR, .Depth = description->Depth, .Flags = description->Flags)
CREATE(cuArray3DCreate, CUDA_ARRAY3D_DESCRIPTOR_v1, .Depth = description->Depth, .Flags = description->Flags)

GUARD_EXPORT CUresult cuMipmappedArrayCreate(CUmipmappedArray* out, const CUDA_ARRAY3D_DESCRIPTOR* description,
                                             unsigned int levels) {
  CUdevice device = 0;
  if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!guard_on() || out == NULL || description == NULL || !guard_device(&device)) {
    return guard_real.cuMipmappedArrayCreate(out, description, levels);
  }
  struct guard_claim claim;
  CUresult result = guard_claim(&claim, device, expected(description, levels));
  if (result != CUDA_SUCCESS) return result;
  result = guard_real.cuMipmappedArrayCreate(out, description, levels);
  if (result != CUDA_SUCCESS) {
    guard_drop(&claim);
    return result;
  }
  CUDA_ARRAY_MEMORY_REQUIREMENTS needs = {.size = 0};
  if (guard_real.cuMipmappedArrayGetMemoryRequirements != NULL) {
    guard_real.cuMipmappedArrayGetMemoryRequirements(&needs, *out, device);
  }
  note(GUARD_MIPMAP, (uint64_t)(uintptr_t)*out, needs.size, device, &claim);
  return result;
}

static bool before(enum guard_kind kind, uint64_t handle, struct guard_record* record) {
  return guard_on() && guard_take(kind, handle, record);
}

static CUresult after(enum guard_kind kind, uint64_t handle, const struct guard_record* record, CUresult result) {
  if (result == CUDA_SUCCESS) {
    guard_release(record->card, record->bytes);
  } else {
    guard_put(kind, handle, record);
  }
  return result;
}

GUARD_EXPORT CUresult cuArrayDestroy(CUarray array) {
  if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;
  struct guard_record record;
  bool known = before(GUARD_ARRAY, (uint64_t)(uintptr_t)array, &record);
  CUresult result = guard_real.cuArrayDestroy(array);
  return known ? after(GUARD_ARRAY, (uint64_t)(uintptr_t)array, &record, result) : result;
}

GUARD_EXPORT CUresult cuMipmappedArrayDestroy(CUmipmappedArray array) {
  if (!guard_load_driver()) return CUDA_ERROR_NOT_INITIALIZED;
  struct guard_record record;
  bool known = before(GUARD_MIPMAP, (uint64_t)(uintptr_t)array, &record);
  CUresult result = guard_real.cuMipmappedArrayDestroy(array);
  return known ? after(GUARD_MIPMAP, (uint64_t)(uintptr_t)array, &record, result) : result;
}
