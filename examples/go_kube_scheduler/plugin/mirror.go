package plugin

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"kaisched.example/go/kaisched"
)

// mirror keeps a cluster of kaisched in step with what the informers say and what the scheduler has promised. Events
// only mark what they touch; flush sends rows that differ from those sent before, as one delta. So a heartbeat of a node
// costs a comparison, and a session starts from what has changed. Not for concurrent use.
type mirror struct {
	cluster      *kaisched.Cluster
	dimensions   *dimensions
	scheduler    string // pods of this scheduler are decided, all others only use their nodes
	queues       map[string]bool
	defaultQueue string

	nodes   map[string]*v1.Node
	pods    map[string]*podState
	members map[string]map[string]*podState // of groups

	dirtyNodes, dirtyPods, dirtyGroups map[string]bool
	sentNodes                          map[string]nodeRow
	sentGroups                         map[string]groupRow
	sentPods                           map[string]podRow
	quarantine                         map[string]leftOut // by kind and name
	failed                             error              // what was sent is not known any more
}

// leftOut is why kaisched has left out a row; what was there before, or what stands in for it, may be present.
type leftOut struct {
	text    string
	present bool
}

// podState is a pod as the API server knows it, and what the scheduler knows beyond.
type podState struct {
	pod   *v1.Pod
	group string   // empty: not ours
	asks  podRow   // what it asks for
	told  *promise // a place that it has been promised and does not have yet
	// The scheduler has asked for the pod's deletion.
	evicted    bool
	staysUntil time.Time // the API server would not
	// Nodes that other plug-ins refuse, until when.
	refused  map[string]time.Time
	refusals int
	// No place is looked for until then, for a reason that kaisched does not know.
	heldUntil time.Time
	heldFor   string
}

func newMirror(scheduler string, arguments *Arguments) (*mirror, error) {
	cluster, err := kaisched.NewCluster()
	if err != nil {
		return nil, err
	}
	m := &mirror{cluster: cluster, dimensions: newDimensions(), scheduler: scheduler, defaultQueue: arguments.DefaultQueue,
		queues: map[string]bool{}, nodes: map[string]*v1.Node{}, pods: map[string]*podState{}, members: map[string]map[string]*podState{},
		dirtyNodes: map[string]bool{}, dirtyPods: map[string]bool{}, dirtyGroups: map[string]bool{}, sentNodes: map[string]nodeRow{},
		sentGroups: map[string]groupRow{}, sentPods: map[string]podRow{}, quarantine: map[string]leftOut{}}
	queues, err := arguments.queueTable()
	if err == nil {
		err = cluster.Apply(queues)
	}
	if err == nil {
		// What lives holds objects that nobody can schedule; they must not stop the others.
		err = cluster.SetOption(kaisched.Option{Name: "on_invalid", Value: "quarantine"})
	}
	if err != nil {
		cluster.Close()
		return nil, err
	}
	for _, queue := range arguments.Queues {
		m.queues[queue.Name] = true
	}
	return m, nil
}

func (m *mirror) setNode(node *v1.Node) {
	if m.nodes[node.Name] == nil {
		m.touchPodsOn(node.Name)
	}
	m.nodes[node.Name] = node
	m.dirtyNodes[node.Name] = true
}

func (m *mirror) removeNode(name string) {
	delete(m.nodes, name)
	m.dirtyNodes[name] = true
	m.touchPodsOn(name)
}

// touchPodsOn: pods whose node is not known have no row.
func (m *mirror) touchPodsOn(node string) {
	for key, state := range m.pods {
		if state.pod.Spec.NodeName == node || state.told != nil && state.told.node == node {
			m.dirtyPods[key] = true
		}
	}
}

// setPod gives the state of the pod, and that of an older pod of the same name if it has been replaced.
func (m *mirror) setPod(pod *v1.Pod) (state, replaced *podState) {
	key := keyOf(pod)
	state = m.pods[key]
	if state != nil && state.pod.UID != pod.UID {
		replaced = state
		m.removePod(key)
		state = nil
	}
	group := ""
	if pod.Spec.SchedulerName == m.scheduler {
		group = groupName(pod)
	}
	if state == nil {
		state = &podState{}
		m.pods[key] = state
	} else if state.group != group {
		m.leaveGroup(key, state)
	}
	state.pod, state.asks, state.group = pod, m.dimensions.pod(pod), group
	if group != "" {
		if m.members[group] == nil {
			m.members[group] = map[string]*podState{}
		}
		m.members[group][key] = state
		m.dirtyGroups[group] = true
	}
	m.dirtyPods[key] = true
	return
}

func (m *mirror) removePod(key string) *podState {
	state := m.pods[key]
	if state != nil {
		m.leaveGroup(key, state)
		delete(m.pods, key)
		m.dirtyPods[key] = true
	}
	return state
}

func (m *mirror) leaveGroup(key string, state *podState) {
	if state.group == "" {
		return
	}
	delete(m.members[state.group], key)
	if len(m.members[state.group]) == 0 {
		delete(m.members, state.group)
	}
	m.dirtyGroups[state.group] = true
}

func (m *mirror) groupRow(name string) (groupRow, bool) {
	var pods []*v1.Pod
	for _, key := range slices.Sorted(maps.Keys(m.members[name])) {
		if state := m.members[name][key]; !isFinished(state.pod) {
			pods = append(pods, state.pod)
		}
	}
	if len(pods) == 0 {
		return groupRow{}, false
	}
	row := groupOf(name, pods, m.defaultQueue)
	return row, m.queues[row.queue]
}

func isFinished(pod *v1.Pod) bool {
	return pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed
}

// podRow gives ok = false for pods that hold nothing and wait for nothing here.
func (m *mirror) podRow(state *podState, now time.Time) (row podRow, ok bool) {
	pod := state.pod
	if isFinished(pod) {
		return row, false
	}
	row = state.asks
	row.nodeAffinity = without(row.nodeAffinity, state.refusedAt(now))
	if _, known := m.sentGroups[state.group]; known {
		row.group = state.group
	}
	switch {
	case pod.Spec.NodeName != "":
		row.node, row.devices, row.status = pod.Spec.NodeName, devicesOf(pod), kaisched.Bound
		if pod.DeletionTimestamp != nil || state.evicted {
			row.status = kaisched.Releasing
		} else if pod.Status.Phase == v1.PodRunning {
			row.status = kaisched.Running
		}
	case state.told != nil:
		row.node, row.devices, row.status = state.told.node, state.told.devices, kaisched.Binding
		if state.evicted {
			row.status = kaisched.Releasing
		}
	case pod.DeletionTimestamp != nil || row.group == "":
		return row, false
	case len(pod.Spec.SchedulingGates) > 0 || now.Before(state.heldUntil):
		row.status = kaisched.Gated
	default:
		row.status = kaisched.Pending
		if _, known := m.nodes[pod.Status.NominatedNodeName]; known {
			row.nominated = pod.Status.NominatedNodeName
		}
	}
	if row.node != "" && m.nodes[row.node] == nil {
		return row, false
	}
	return row, true
}

func (s *podState) refusedAt(now time.Time) (nodes []string) {
	for node, until := range s.refused {
		if now.Before(until) {
			nodes = append(nodes, node)
		}
	}
	slices.Sort(nodes)
	return
}

// delta collects rows by what happens to them.
type delta[Row any] struct {
	forget              []Row // entries of the quarantine, which go before the row is added again
	add, change, remove []Row
}

// collect compares dirty rows with those sent. What kaisched has left out is removed and added again: it keeps nothing
// of such a row, so that there is nothing to change.
func collect[Row any](m *mirror, kind string, dirty map[string]bool, sent map[string]Row, row func(string) (Row, bool)) (d delta[Row]) {
	for _, name := range slices.Sorted(maps.Keys(dirty)) {
		before, was := sent[name]
		after, is := row(name)
		left, bad := m.quarantine[kind+" "+name]
		bad = bad && (kind == "pod" || !left.present)
		switch {
		case is && !was:
			d.add = append(d.add, after)
		case is && bad:
			d.forget, d.add = append(d.forget, before), append(d.add, after)
		case is && !reflect.DeepEqual(before, after):
			d.change = append(d.change, after)
		case !is && was:
			d.remove = append(d.remove, before)
		}
		if is {
			sent[name] = after
		} else {
			delete(sent, name)
		}
	}
	clear(dirty)
	return
}

// flush brings the cluster up to date and tells whether anything has changed.
func (m *mirror) flush(now time.Time) (bool, error) {
	if m.failed != nil {
		return false, m.failed
	}
	if len(m.dirtyNodes)+len(m.dirtyGroups)+len(m.dirtyPods) == 0 {
		return false, nil
	}
	for what := range m.quarantine { // what depends on a row that was left out must be sent again with it
		kind, name, _ := strings.Cut(what, " ")
		switch kind {
		case "node":
			m.dirtyNodes[name] = true
		case "pod_group":
			m.dirtyGroups[name] = true
		case "pod":
			m.dirtyPods[name] = true
		}
	}
	nodes := collect(m, "node", m.dirtyNodes, m.sentNodes, func(name string) (nodeRow, bool) {
		if node := m.nodes[name]; node != nil {
			return m.dimensions.node(node)
		}
		return nodeRow{}, false
	})
	groups := collect(m, "pod_group", m.dirtyGroups, m.sentGroups, m.groupRow)
	for _, row := range slices.Concat(groups.add, groups.remove) {
		for key := range m.members[row.name] {
			m.dirtyPods[key] = true
		}
	}
	pods := collect(m, "pod", m.dirtyPods, m.sentPods, func(key string) (podRow, bool) {
		if state := m.pods[key]; state != nil {
			return m.podRow(state, now)
		}
		return podRow{}, false
	})
	added := m.dimensions.added
	var tables []kaisched.Table
	put := func(rows int, table kaisched.Table) {
		if rows > 0 {
			tables = append(tables, table)
		}
	}
	// What is used comes before its users and goes after them.
	put(len(added), kaisched.Add(kaisched.Resources, kaisched.Texts(kaisched.ResourceName, added)))
	gone := slices.Concat(pods.forget, pods.remove)
	put(len(gone), kaisched.Remove(kaisched.Pods, podName(gone)))
	put(len(groups.forget), kaisched.Remove(kaisched.PodGroups, groupNames(groups.forget)))
	put(len(nodes.forget), kaisched.Remove(kaisched.Nodes, nodeNames(nodes.forget)))
	put(len(nodes.add), kaisched.Add(kaisched.Nodes, nodeColumns(nodes.add)...))
	put(len(nodes.change), kaisched.Change(kaisched.Nodes, nodeColumns(nodes.change)...))
	put(len(groups.add), kaisched.Add(kaisched.PodGroups, groupColumns(groups.add)...))
	put(len(groups.change), kaisched.Change(kaisched.PodGroups, groupColumns(groups.change)...))
	put(len(pods.add), kaisched.Add(kaisched.Pods, podColumns(pods.add)...))
	put(len(pods.change), kaisched.Change(kaisched.Pods, podColumns(pods.change)...))
	put(len(groups.remove), kaisched.Remove(kaisched.PodGroups, groupNames(groups.remove)))
	put(len(nodes.remove), kaisched.Remove(kaisched.Nodes, nodeNames(nodes.remove)))
	if len(tables) == 0 {
		return false, nil
	}
	if err := m.cluster.Apply(tables...); err != nil {
		m.failed = fmt.Errorf("telling kaisched what has changed: %w", err) // no row does that, see on_invalid
		return false, m.failed
	}
	m.dimensions.added = nil
	return true, nil
}

// readQuarantine notes what the cluster has left out.
func (m *mirror) readQuarantine(snapshot *kaisched.Snapshot) error {
	table, err := snapshot.Table(kaisched.Quarantine)
	if err != nil {
		return err
	}
	names, texts, present := table.Texts(kaisched.QuarantineName), table.Texts(kaisched.QuarantineText), table.Ints(kaisched.QuarantinePresent)
	clear(m.quarantine)
	for i, kind := range table.Texts(kaisched.QuarantineKind) {
		m.quarantine[kind+" "+names[i]] = leftOut{texts[i], present[i] == 1}
	}
	return nil
}

func column[Row, Value any](rows []Row, of func(Row) Value) []Value {
	values := make([]Value, len(rows))
	for i, row := range rows {
		values[i] = of(row)
	}
	return values
}

func nodeNames(rows []nodeRow) kaisched.Values {
	return kaisched.Texts(kaisched.NodeName, column(rows, func(r nodeRow) string { return r.name }))
}

func groupNames(rows []groupRow) kaisched.Values {
	return kaisched.Texts(kaisched.PodGroupName, column(rows, func(r groupRow) string { return r.name }))
}

func nodeColumns(rows []nodeRow) []kaisched.Values {
	return []kaisched.Values{
		nodeNames(rows),
		kaisched.Amounts(kaisched.NodeCapacity, column(rows, func(r nodeRow) []int64 { return r.capacity })),
		kaisched.Flags(kaisched.NodeReady, column(rows, func(r nodeRow) bool { return r.ready })),
		kaisched.Flags(kaisched.NodeUnschedulable, column(rows, func(r nodeRow) bool { return r.unschedulable })),
		kaisched.TextLists(kaisched.NodeLabels, column(rows, func(r nodeRow) []string { return r.labels })),
		kaisched.TextLists(kaisched.NodeTaints, column(rows, func(r nodeRow) []string { return r.taints })),
		kaisched.Ints(kaisched.NodeGPUMemory, column(rows, func(r nodeRow) int64 { return r.gpuMemory })),
	}
}

func groupColumns(rows []groupRow) []kaisched.Values {
	return []kaisched.Values{
		groupNames(rows),
		kaisched.Texts(kaisched.PodGroupQueue, column(rows, func(r groupRow) string { return r.queue })),
		kaisched.Texts(kaisched.PodGroupNamespace, column(rows, func(r groupRow) string { return r.namespace })),
		kaisched.Ints(kaisched.PodGroupPriority, column(rows, func(r groupRow) int64 { return r.priority })),
		kaisched.Ints(kaisched.PodGroupCreated, column(rows, func(r groupRow) int64 { return r.created })),
		kaisched.Ints(kaisched.PodGroupMinMember, column(rows, func(r groupRow) int64 { return r.minMember })),
		kaisched.Flags(kaisched.PodGroupPreemptible, column(rows, func(r groupRow) bool { return r.preemptible })),
	}
}

func podName(rows []podRow) kaisched.Values {
	return kaisched.Texts(kaisched.PodName, column(rows, func(r podRow) string { return r.name }))
}

func podColumns(rows []podRow) []kaisched.Values {
	return []kaisched.Values{
		podName(rows),
		kaisched.Texts(kaisched.PodGroup, column(rows, func(r podRow) string { return r.group })),
		kaisched.Amounts(kaisched.PodRequest, column(rows, func(r podRow) []int64 { return r.request })),
		kaisched.Ints(kaisched.PodDeviceCount, column(rows, func(r podRow) int64 { return r.deviceCount })),
		kaisched.Ints(kaisched.PodGPUMemory, column(rows, func(r podRow) int64 { return r.gpuMemory })),
		kaisched.Ints(kaisched.PodCreated, column(rows, func(r podRow) int64 { return r.created })),
		kaisched.TextLists(kaisched.PodNodeSelector, column(rows, func(r podRow) []string { return r.nodeSelector })),
		kaisched.TextLists(kaisched.PodNodeAffinity, column(rows, func(r podRow) []string { return r.nodeAffinity })),
		kaisched.TextLists(kaisched.PodTolerations, column(rows, func(r podRow) []string { return r.tolerations })),
		kaisched.TextLists(kaisched.PodAffinity, column(rows, func(r podRow) []string { return r.affinity })),
		kaisched.TextLists(kaisched.PodAntiAffinity, column(rows, func(r podRow) []string { return r.antiAffinity })),
		kaisched.TextLists(kaisched.PodHostPorts, column(rows, func(r podRow) []string { return r.hostPorts })),
		kaisched.TextLists(kaisched.PodLabels, column(rows, func(r podRow) []string { return r.labels })),
		kaisched.Texts(kaisched.PodObstacle, column(rows, func(r podRow) string { return r.obstacle })),
		kaisched.Ints(kaisched.PodStatus, column(rows, func(r podRow) int64 { return r.status })),
		kaisched.Texts(kaisched.PodNode, column(rows, func(r podRow) string { return r.node })),
		kaisched.Texts(kaisched.PodNominatedNode, column(rows, func(r podRow) string { return r.nominated })),
		kaisched.IntLists(kaisched.PodDevices, column(rows, func(r podRow) []int64 { return r.devices })),
	}
}
