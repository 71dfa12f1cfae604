/* What arrays take, against what an H200 with driver 580.159.04 took: eight or four of each were made, and the change
 * of the free memory, a multiple of 2 MiB, divided by their number. */
#include <stdio.h>

#include "array_layout.h"

#define MIB (UINT64_C(1) << 20)

static const struct {
  unsigned width, height, depth, element, flags, levels, count;
  double mib; /* of one */
} measured[] = {
    {16384, 8, 0, 4, 0, 1, 4, 0.5},     {16384, 100, 0, 4, 0, 1, 4, 8},      {16384, 128, 0, 4, 0, 1, 4, 8},
    {16384, 129, 0, 4, 0, 1, 4, 16},    {16384, 160, 0, 4, 0, 1, 4, 16},     {16384, 300, 0, 4, 0, 1, 4, 24},
    {16384, 1120, 0, 4, 0, 1, 4, 72},   {100, 1000, 0, 4, 0, 1, 8, 0.5},     {5000, 1000, 0, 4, 0, 1, 8, 20},
    {5000, 3000, 0, 1, 0, 1, 4, 16},    {5000, 3000, 0, 4, 0, 1, 4, 60},     {5000, 3000, 0, 2, 0, 1, 4, 30},
    {5000, 3000, 0, 8, 0, 1, 4, 118},   {5000, 3000, 0, 16, 0, 1, 4, 236},   {131072, 0, 0, 4, 0, 1, 32, 4},
    {100000, 0, 0, 16, 0, 1, 32, 14},   {300, 300, 1, 4, 0, 1, 4, 0.5},      {300, 300, 2, 4, 0, 1, 4, 1},
    {300, 300, 3, 4, 0, 1, 4, 2},       {300, 300, 5, 4, 0, 1, 4, 4},        {300, 300, 16, 4, 0, 1, 4, 6},
    {300, 300, 17, 4, 0, 1, 4, 12},     {300, 300, 33, 4, 0, 1, 4, 18},      {300, 300, 64, 4, 0, 1, 4, 24},
    {300, 300, 33, 4, 1, 1, 4, 16},     {256, 256, 6, 16, 4, 1, 4, 6},       {512, 512, 7, 16, 1, 1, 4, 28},
    {1000, 1000, 64, 16, 0, 1, 2, 978}, {1000, 1000, 65, 16, 0, 1, 2, 1222}, {513, 513, 513, 4, 0, 1, 2, 554},
    {300, 300, 17, 4, 0, 2, 4, 14},     {2000, 1500, 0, 16, 0, 1, 4, 48},    {2000, 1500, 0, 16, 0, 2, 4, 60},
    {2000, 1500, 0, 16, 0, 5, 4, 64},   {2000, 1500, 0, 16, 0, 9, 4, 64},
};

int main(void) {
  int wrong = 0;
  for (unsigned i = 0; i < sizeof measured / sizeof measured[0]; i++) {
    CUDA_ARRAY3D_DESCRIPTOR one = {.Width = measured[i].width,
                                   .Height = measured[i].height,
                                   .Depth = measured[i].depth,
                                   .Flags = measured[i].flags};
    double bytes = (double)array_bytes(&one, measured[i].element, measured[i].levels) / (double)MIB;
    /* Small ones share granules: their number tells what one takes only to a granule over it. */
    double spread = measured[i].mib < 2 ? 2.0 / measured[i].count : 2;
    if (bytes > measured[i].mib || bytes <= measured[i].mib - spread) {
      printf("%ux%ux%u, %u levels: %.3f MiB, measured %.3f\n", measured[i].width, measured[i].height, measured[i].depth,
             measured[i].levels, bytes, measured[i].mib);
      wrong++;
    }
  }
  CUDA_ARRAY3D_DESCRIPTOR vast = {.Width = UINT64_MAX / 2, .Height = 1 << 20, .Depth = 1 << 20};
  if (array_bytes(&vast, 16, 1) != UINT64_MAX) wrong++;
  printf("%d of %zu differ\n", wrong, sizeof measured / sizeof measured[0]);
  return wrong != 0;
}
