/* The entry points for programs whose default stream is one per thread: NULL is that stream. */
#include "fake.h"

static CUstream own(CUstream stream) { return stream == NULL ? CU_STREAM_PER_THREAD : stream; }

#define PER_THREAD(name, parameters, ...) \
  FAKE_EXPORT CUresult name parameters { return __VA_ARGS__; }

PER_THREAD(cuMemAllocAsync_ptsz, (CUdeviceptr * out, size_t size, CUstream stream),
           cuMemAllocAsync(out, size, own(stream)))
PER_THREAD(cuMemAllocFromPoolAsync_ptsz, (CUdeviceptr * out, size_t size, CUmemoryPool pool, CUstream stream),
           cuMemAllocFromPoolAsync(out, size, pool, own(stream)))
PER_THREAD(cuMemFreeAsync_ptsz, (CUdeviceptr address, CUstream stream), cuMemFreeAsync(address, own(stream)))
PER_THREAD(cuLaunchKernel_ptsz,
           (CUfunction f, unsigned int x, unsigned int y, unsigned int z, unsigned int bx, unsigned int by,
            unsigned int bz, unsigned int shared, CUstream stream, void** parameters, void** extra),
           cuLaunchKernel(f, x, y, z, bx, by, bz, shared, own(stream), parameters, extra))
PER_THREAD(cuLaunchCooperativeKernel_ptsz,
           (CUfunction f, unsigned int x, unsigned int y, unsigned int z, unsigned int bx, unsigned int by,
            unsigned int bz, unsigned int shared, CUstream stream, void** parameters),
           cuLaunchCooperativeKernel(f, x, y, z, bx, by, bz, shared, own(stream), parameters))
PER_THREAD(cuGraphLaunch_ptsz, (CUgraphExec exec, CUstream stream), cuGraphLaunch(exec, own(stream)))
PER_THREAD(cuGraphUpload_ptsz, (CUgraphExec exec, CUstream stream), cuGraphUpload(exec, own(stream)))
PER_THREAD(cuGraphInstantiateWithParams_ptsz,
           (CUgraphExec * out, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS* parameters),
           cuGraphInstantiateWithParams(out, graph, parameters))
PER_THREAD(cuStreamSynchronize_ptsz, (CUstream stream), cuStreamSynchronize(own(stream)))
PER_THREAD(cuStreamQuery_ptsz, (CUstream stream), cuStreamQuery(own(stream)))
PER_THREAD(cuStreamIsCapturing_ptsz, (CUstream stream, CUstreamCaptureStatus* out),
           cuStreamIsCapturing(own(stream), out))
PER_THREAD(cuStreamWaitEvent_ptsz, (CUstream stream, CUevent event, unsigned int flags),
           cuStreamWaitEvent(own(stream), event, flags))
PER_THREAD(cuStreamBeginCapture_v2_ptsz, (CUstream stream, CUstreamCaptureMode mode),
           cuStreamBeginCapture_v2(own(stream), mode))
PER_THREAD(cuStreamEndCapture_ptsz, (CUstream stream, CUgraph* out), cuStreamEndCapture(own(stream), out))
PER_THREAD(cuEventRecord_ptsz, (CUevent event, CUstream stream), cuEventRecord(event, own(stream)))
PER_THREAD(cuMemcpyHtoD_v2_ptds, (CUdeviceptr to, const void* from, size_t size), cuMemcpyHtoD_v2(to, from, size))
PER_THREAD(cuMemcpyDtoH_v2_ptds, (void* to, CUdeviceptr from, size_t size), cuMemcpyDtoH_v2(to, from, size))
PER_THREAD(cuMemsetD8_v2_ptds, (CUdeviceptr to, unsigned char value, size_t count), cuMemsetD8_v2(to, value, count))

FAKE_EXPORT CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig* config, CUfunction f, void** parameters,
                                           void** extra) {
  if (config == NULL) return CUDA_ERROR_INVALID_VALUE;
  CUlaunchConfig copy = *config;
  copy.hStream = own(copy.hStream);
  return cuLaunchKernelEx(&copy, f, parameters, extra);
}
