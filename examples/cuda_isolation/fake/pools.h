#ifndef KAISCHED_FAKE_POOLS_H
#define KAISCHED_FAKE_POOLS_H

#include "fake.h"

void fake_pools_synchronized(CUdevice device); /* pools give back what is above their threshold */

#endif
