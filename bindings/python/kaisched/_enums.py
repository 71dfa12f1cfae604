"""Numbers that tables carry."""

from enum import IntEnum


class DecisionKind(IntEnum):
    """Column ``kind`` of decisions."""

    BIND = 1
    PIPELINE = 2
    EVICT = 3
    MOVE = 4
    UNSCHEDULABLE = 5
    MIGRATE = 6
    REPARTITION = 7


class PodStatus(IntEnum):
    """Column ``status`` of pods and placements."""

    PENDING = 0
    GATED = 1
    ALLOCATED = 2
    PIPELINED = 3
    BINDING = 4
    BOUND = 5
    RUNNING = 6
    RELEASING = 7
    STUCK_IN_RELEASING = 8
    SUCCEEDED = 9
    FAILED = 10
    UNKNOWN = 11
