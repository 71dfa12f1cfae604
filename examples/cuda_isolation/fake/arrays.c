/* Arrays: what texture hardware reads. They take whole granules; a card tells what one needs only of those that have no
 * memory yet. */
#include <stdlib.h>

#include "../shim/array_layout.h"
#include "fake.h"

struct CUarray_st {
  CUDA_ARRAY3D_DESCRIPTOR description;
  CUdevice device;
  uint64_t size;
  bool level; /* of a mipmapped array, which owns its memory */
};
struct CUmipmappedArray_st {
  CUDA_ARRAY3D_DESCRIPTOR description;
  CUdevice device;
  uint64_t size;
  unsigned levels;
};
#define ALIGNMENT ((uint64_t)65536)

static unsigned element(CUarray_format format) {
  if (format == 0x01 || format == 0x08) return 1;
  if (format == 0x02 || format == 0x09 || format == 0x10) return 2;
  return format == 0x03 || format == 0x0a || format == 0x20 ? 4 : 0;
}

static bool sane(const CUDA_ARRAY3D_DESCRIPTOR* description) {
  unsigned channels = description->NumChannels;
  return description->Width > 0 && element(description->Format) != 0 &&
         (channels == 1 || channels == 2 || channels == 4) && description->Width < 1u << 20 &&
         description->Height < 1u << 20 && description->Depth < 1u << 14;
}

static uint64_t padded(const CUDA_ARRAY3D_DESCRIPTOR* description, unsigned levels) {
  uint64_t bytes = array_bytes(description, element(description->Format) * description->NumChannels, levels);
  return (bytes + FAKE_GRANULE - 1) / FAKE_GRANULE * FAKE_GRANULE;
}

static uint64_t taken(const CUDA_ARRAY3D_DESCRIPTOR* description, unsigned levels) {
  return array_is_unbacked(description) ? 0 : padded(description, levels);
}

FAKE_EXPORT CUresult cuArray3DCreate_v2(CUarray* out, const CUDA_ARRAY3D_DESCRIPTOR* description) {
  ENTER_CONTEXT(cuArray3DCreate_v2);
  if (out == NULL || description == NULL || !sane(description)) return CUDA_ERROR_INVALID_VALUE;
  uint64_t size = taken(description, 1);
  if (!fake_charge(fake_physical(context->device), size)) return CUDA_ERROR_OUT_OF_MEMORY;
  *out = calloc(1, sizeof **out);
  if (*out == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  **out = (struct CUarray_st){*description, context->device, size, false};
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuArrayCreate_v2(CUarray* out, const CUDA_ARRAY_DESCRIPTOR* description) {
  ENTER(cuArrayCreate_v2);
  if (description == NULL) return CUDA_ERROR_INVALID_VALUE;
  CUDA_ARRAY3D_DESCRIPTOR whole = {description->Width,  description->Height,      0,
                                   description->Format, description->NumChannels, 0};
  return cuArray3DCreate_v2(out, &whole);
}

FAKE_EXPORT CUresult cuArrayDestroy(CUarray array) {
  ENTER(cuArrayDestroy);
  if (array == NULL || array->level) return CUDA_ERROR_INVALID_HANDLE;
  fake_discharge(fake_physical(array->device), array->size);
  free(array);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* out, CUarray array, CUdevice device) {
  ENTER(cuArrayGetMemoryRequirements);
  if (out == NULL || array == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (fake_physical(device) < 0) return CUDA_ERROR_INVALID_DEVICE;
  if (!array_is_unbacked(&array->description)) return CUDA_ERROR_INVALID_VALUE;
  *out = (CUDA_ARRAY_MEMORY_REQUIREMENTS){padded(&array->description, 1), ALIGNMENT, {0}};
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuMipmappedArrayCreate(CUmipmappedArray* out, const CUDA_ARRAY3D_DESCRIPTOR* description,
                                            unsigned int levels) {
  ENTER_CONTEXT(cuMipmappedArrayCreate);
  if (out == NULL || description == NULL || levels == 0 || levels > 20 || !sane(description))
    return CUDA_ERROR_INVALID_VALUE;
  uint64_t size = taken(description, levels);
  if (!fake_charge(fake_physical(context->device), size)) return CUDA_ERROR_OUT_OF_MEMORY;
  *out = calloc(1, sizeof **out);
  if (*out == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  **out = (struct CUmipmappedArray_st){*description, context->device, size, levels};
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuMipmappedArrayDestroy(CUmipmappedArray array) {
  ENTER(cuMipmappedArrayDestroy);
  if (array == NULL) return CUDA_ERROR_INVALID_HANDLE;
  fake_discharge(fake_physical(array->device), array->size);
  free(array);
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* out, CUmipmappedArray array,
                                                           CUdevice device) {
  ENTER(cuMipmappedArrayGetMemoryRequirements);
  if (out == NULL || array == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (fake_physical(device) < 0) return CUDA_ERROR_INVALID_DEVICE;
  if (!array_is_unbacked(&array->description)) return CUDA_ERROR_INVALID_VALUE;
  *out = (CUDA_ARRAY_MEMORY_REQUIREMENTS){padded(&array->description, array->levels), ALIGNMENT, {0}};
  return CUDA_SUCCESS;
}
