#!/usr/bin/env python3
"""Trains a small network with PyTorch and prints what came of it, without times or addresses: the same text with a guard as without.

  train.py [GIB]   with a number it ends by asking for that many GiB at once and says whether they were refused
"""
import sys

import torch

torch.manual_seed(7)
torch.use_deterministic_algorithms(True)
model = torch.nn.Sequential(torch.nn.Linear(512, 2048), torch.nn.GELU(), torch.nn.Linear(2048, 512)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
data = torch.randn(1024, 512, generator=torch.Generator().manual_seed(1)).cuda()
side = torch.cuda.Stream()
for step in range(50):
    loss = torch.nn.functional.mse_loss(model(data), data.roll(1, 1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.cuda.stream(side):  # memory of another stream, pinned memory and a copy beside the rest
        copy = data.to("cpu", non_blocking=True)
print(f"loss {loss.item():.6f} copy {copy.sum().item():.3f}")

graph = torch.cuda.CUDAGraph()
static = torch.zeros_like(data)
with torch.no_grad():
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        result = model(static)
    static.copy_(data)
    graph.replay()
    print(f"graph {result.sum().item():.4f}")
if len(sys.argv) > 1:
    try:
        torch.empty(int(sys.argv[1]) << 30, dtype=torch.uint8, device="cuda")
        print("granted")
    except torch.cuda.OutOfMemoryError:
        print("refused")
