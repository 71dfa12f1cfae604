package kaisched

/*
#include <kaisched/kaisched.h>
*/
import "C"

// Kind is a kind of table.
type Kind uint32

const (
	Resources   Kind = C.KAISCHED_TABLE_RESOURCE
	Queues      Kind = C.KAISCHED_TABLE_QUEUE
	Nodes       Kind = C.KAISCHED_TABLE_NODE
	Devices     Kind = C.KAISCHED_TABLE_DEVICE
	PodGroups   Kind = C.KAISCHED_TABLE_POD_GROUP
	SubGroups   Kind = C.KAISCHED_TABLE_SUB_GROUP
	Pods        Kind = C.KAISCHED_TABLE_POD
	Decisions   Kind = C.KAISCHED_TABLE_DECISION
	Reasons     Kind = C.KAISCHED_TABLE_REASON
	QueueShares Kind = C.KAISCHED_TABLE_QUEUE_SHARE
	Placements  Kind = C.KAISCHED_TABLE_PLACEMENT
	Statistics  Kind = C.KAISCHED_TABLE_STATISTIC
	Quarantine  Kind = C.KAISCHED_TABLE_QUARANTINE
	Attempts    Kind = C.KAISCHED_TABLE_ATTEMPT
)

// Column is a column of a kind of table. Columns that are not named here are numbers of kaisched.h.
type Column uint32

const (
	ResourceName Column = C.KAISCHED_RESOURCE_COL_NAME

	QueueName            Column = C.KAISCHED_QUEUE_COL_NAME
	QueueParent          Column = C.KAISCHED_QUEUE_COL_PARENT
	QueuePriority        Column = C.KAISCHED_QUEUE_COL_PRIORITY
	QueueCreated         Column = C.KAISCHED_QUEUE_COL_CREATED
	QueueQuota           Column = C.KAISCHED_QUEUE_COL_QUOTA
	QueueLimit           Column = C.KAISCHED_QUEUE_COL_LIMIT
	QueueOverQuotaWeight Column = C.KAISCHED_QUEUE_COL_OVER_QUOTA_WEIGHT

	NodeName          Column = C.KAISCHED_NODE_COL_NAME
	NodeCapacity      Column = C.KAISCHED_NODE_COL_CAPACITY
	NodeReady         Column = C.KAISCHED_NODE_COL_READY
	NodeUnschedulable Column = C.KAISCHED_NODE_COL_UNSCHEDULABLE
	NodeLabels        Column = C.KAISCHED_NODE_COL_LABELS
	NodeTaints        Column = C.KAISCHED_NODE_COL_TAINTS
	NodeGPUMemory     Column = C.KAISCHED_NODE_COL_GPU_MEMORY

	PodGroupName        Column = C.KAISCHED_POD_GROUP_COL_NAME
	PodGroupQueue       Column = C.KAISCHED_POD_GROUP_COL_QUEUE
	PodGroupPriority    Column = C.KAISCHED_POD_GROUP_COL_PRIORITY
	PodGroupPreemptible Column = C.KAISCHED_POD_GROUP_COL_PREEMPTIBLE
	PodGroupCreated     Column = C.KAISCHED_POD_GROUP_COL_CREATED
	PodGroupMinMember   Column = C.KAISCHED_POD_GROUP_COL_MIN_MEMBER
	PodGroupNamespace   Column = C.KAISCHED_POD_GROUP_COL_NAMESPACE

	PodName          Column = C.KAISCHED_POD_COL_NAME
	PodGroup         Column = C.KAISCHED_POD_COL_GROUP
	PodRequest       Column = C.KAISCHED_POD_COL_REQUEST
	PodDeviceCount   Column = C.KAISCHED_POD_COL_DEVICE_COUNT
	PodStatus        Column = C.KAISCHED_POD_COL_STATUS
	PodNode          Column = C.KAISCHED_POD_COL_NODE
	PodDevices       Column = C.KAISCHED_POD_COL_DEVICES
	PodCreated       Column = C.KAISCHED_POD_COL_CREATED
	PodNodeSelector  Column = C.KAISCHED_POD_COL_NODE_SELECTOR
	PodNodeAffinity  Column = C.KAISCHED_POD_COL_NODE_AFFINITY
	PodTolerations   Column = C.KAISCHED_POD_COL_TOLERATIONS
	PodAffinity      Column = C.KAISCHED_POD_COL_AFFINITY
	PodAntiAffinity  Column = C.KAISCHED_POD_COL_ANTI_AFFINITY
	PodHostPorts     Column = C.KAISCHED_POD_COL_HOST_PORTS
	PodLabels        Column = C.KAISCHED_POD_COL_LABELS
	PodObstacle      Column = C.KAISCHED_POD_COL_OBSTACLE
	PodNominatedNode Column = C.KAISCHED_POD_COL_NOMINATED_NODE
	PodGPUMemory     Column = C.KAISCHED_POD_COL_GPU_MEMORY

	DecisionKindColumn  Column = C.KAISCHED_DECISION_COL_KIND
	DecisionGroup       Column = C.KAISCHED_DECISION_COL_GROUP
	DecisionDevices     Column = C.KAISCHED_DECISION_COL_DEVICES
	DecisionDeviceShare Column = C.KAISCHED_DECISION_COL_DEVICE_SHARE
	DecisionAction      Column = C.KAISCHED_DECISION_COL_ACTION
	DecisionCommit      Column = C.KAISCHED_DECISION_COL_COMMIT
	DecisionPodName     Column = C.KAISCHED_DECISION_COL_POD_NAME
	DecisionNodeName    Column = C.KAISCHED_DECISION_COL_NODE_NAME
	DecisionGroupName   Column = C.KAISCHED_DECISION_COL_GROUP_NAME

	ReasonGroupName   Column = C.KAISCHED_REASON_COL_GROUP_NAME
	ReasonConstraint  Column = C.KAISCHED_REASON_COL_CONSTRAINT
	ReasonScope       Column = C.KAISCHED_REASON_COL_SCOPE
	ReasonDimension   Column = C.KAISCHED_REASON_COL_DIMENSION
	ReasonNeed        Column = C.KAISCHED_REASON_COL_NEED
	ReasonHave        Column = C.KAISCHED_REASON_COL_HAVE
	ReasonNodes       Column = C.KAISCHED_REASON_COL_NODES
	ReasonNearestNode Column = C.KAISCHED_REASON_COL_NEAREST_NODE
	ReasonText        Column = C.KAISCHED_REASON_COL_TEXT

	QuarantineKind    Column = C.KAISCHED_QUARANTINE_COL_KIND
	QuarantineName    Column = C.KAISCHED_QUARANTINE_COL_NAME
	QuarantineText    Column = C.KAISCHED_QUARANTINE_COL_TEXT
	QuarantinePresent Column = C.KAISCHED_QUARANTINE_COL_PRESENT

	QueueShareQueueName   Column = C.KAISCHED_QUEUE_SHARE_COL_QUEUE_NAME
	QueueShareParentName  Column = C.KAISCHED_QUEUE_SHARE_COL_PARENT_NAME
	QueueShareQuota       Column = C.KAISCHED_QUEUE_SHARE_COL_QUOTA
	QueueShareFairShare   Column = C.KAISCHED_QUEUE_SHARE_COL_FAIR_SHARE
	QueueShareAllocated   Column = C.KAISCHED_QUEUE_SHARE_COL_ALLOCATED
	QueueSharePendingPods Column = C.KAISCHED_QUEUE_SHARE_COL_PENDING_PODS
)

// EntityKind is what an identifier names.
type EntityKind uint32

const (
	ResourceEntity EntityKind = C.KAISCHED_KIND_RESOURCE
	QueueEntity    EntityKind = C.KAISCHED_KIND_QUEUE
	NodeEntity     EntityKind = C.KAISCHED_KIND_NODE
	PodGroupEntity EntityKind = C.KAISCHED_KIND_POD_GROUP
	PodEntity      EntityKind = C.KAISCHED_KIND_POD
)

// DecisionKind is a kind of decision.
type DecisionKind uint8

const (
	Bind          DecisionKind = C.KAISCHED_DECISION_BIND
	Pipeline      DecisionKind = C.KAISCHED_DECISION_PIPELINE
	Evict         DecisionKind = C.KAISCHED_DECISION_EVICT
	Move          DecisionKind = C.KAISCHED_DECISION_MOVE
	Unschedulable DecisionKind = C.KAISCHED_DECISION_UNSCHEDULABLE
	Migrate       DecisionKind = C.KAISCHED_DECISION_MIGRATE
	Repartition   DecisionKind = C.KAISCHED_DECISION_REPARTITION
)

// Statuses of pods, for the column PodStatus.
const (
	Pending   int64 = C.KAISCHED_POD_STATUS_PENDING
	Gated     int64 = C.KAISCHED_POD_STATUS_GATED
	Binding   int64 = C.KAISCHED_POD_STATUS_BINDING
	Bound     int64 = C.KAISCHED_POD_STATUS_BOUND
	Running   int64 = C.KAISCHED_POD_STATUS_RUNNING
	Releasing int64 = C.KAISCHED_POD_STATUS_RELEASING
	Succeeded int64 = C.KAISCHED_POD_STATUS_SUCCEEDED
	Failed    int64 = C.KAISCHED_POD_STATUS_FAILED
)

// Resource dimensions that every cluster has, as indexes of amounts.
const (
	CPU              = C.KAISCHED_DIM_CPU    // milli-cores
	Memory           = C.KAISCHED_DIM_MEMORY // bytes
	GPU              = C.KAISCHED_DIM_GPU    // milli-GPU: WholeDevice is one
	PodSlots         = C.KAISCHED_DIM_PODS
	BuiltInCount     = C.KAISCHED_BUILT_IN_DIMENSIONS
	WholeDevice      = int64(C.KAISCHED_WHOLE_DEVICE)
	Unlimited        = int64(C.KAISCHED_UNLIMITED)
	MaxAmount        = int64(C.KAISCHED_MAX_AMOUNT)
	MaxDimensions    = C.KAISCHED_MAX_DIMENSIONS
	DevicesOfOneNode = C.KAISCHED_MAX_DEVICES_PER_NODE
)
