"""What no scheduler can do better than: bounds of packing, time and fairness, and how far from them a policy is.

docs/bounds.md says what each bound means. Input is read by `inputs`; quantities are integers in the units of the files
(milli-CPU, MiB, milli-GPU) and nanoseconds. `packing` and `exact` need the solver HiGHS (pip install highspy).
"""
