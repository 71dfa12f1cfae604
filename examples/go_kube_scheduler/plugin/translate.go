package plugin

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"kaisched.example/go/kaisched"
)

// What pods say to the scheduler. Those without kaisched.io are KAI's own.
const (
	queueLabel          = "kai.scheduler/queue"
	preemptibilityLabel = "kai.scheduler/preemptibility"
	groupAnnotation     = "pod-group-name"
	fractionAnnotation  = "gpu-fraction"
	fractionsAnnotation = "gpu-fraction-num-devices"
	gpuMemoryAnnotation = "gpu-memory"
	minMemberAnnotation = "kaisched.io/min-member"
)

// What the scheduler says to those who start pods.
const (
	devicesAnnotation = "kaisched.io/devices"
	shareAnnotation   = "kaisched.io/device-share"
)

const (
	nodeNameLabel = "metadata.name" // on every node here, so that affinity can ask for names
	noMatch       = "none,!none"    // a selector that nothing matches

	// KAI's scale: train is 50, and groups below 100 are preemptible.
	defaultPriority  = 50
	preemptibleBelow = 100

	mebibyte = int64(1) << 20
)

type nodeRow struct {
	name          string
	capacity      []int64
	ready         bool
	unschedulable bool
	labels        []string
	taints        []string
	gpuMemory     int64
}

type groupRow struct {
	name, queue, namespace string
	priority, created      int64
	minMember              int64
	preemptible            bool
}

// podRow is what a pod asks for, and where it is.
type podRow struct {
	name, group     string
	request         []int64
	deviceCount     int64
	gpuMemory       int64
	created         int64
	nodeSelector    []string
	nodeAffinity    []string
	tolerations     []string
	affinity        []string
	antiAffinity    []string
	hostPorts       []string
	labels          []string
	obstacle        string
	status          int64
	node, nominated string
	devices         []int64
}

// dimensions number resources in the order in which they are first seen.
type dimensions struct {
	index map[v1.ResourceName]int
	added []string // not yet told to the cluster
}

func newDimensions() *dimensions {
	return &dimensions{index: map[v1.ResourceName]int{
		v1.ResourceCPU: kaisched.CPU, v1.ResourceMemory: kaisched.Memory, v1.ResourcePods: kaisched.PodSlots,
		"nvidia.com/gpu": kaisched.GPU, "amd.com/gpu": kaisched.GPU}}
}

// amounts gives ok = false if there are more kinds of resources than the library has dimensions.
func (d *dimensions) amounts(list v1.ResourceList) (amounts []int64, ok bool) {
	names := make([]v1.ResourceName, 0, len(list))
	for name := range list {
		names = append(names, name)
	}
	slices.Sort(names) // new ones are numbered in this order
	amounts = make([]int64, kaisched.BuiltInCount)
	for _, name := range names {
		quantity := list[name]
		at, known := d.index[name]
		if !known {
			if len(d.index) > kaisched.MaxDimensions { // nvidia.com/gpu and amd.com/gpu are one
				return nil, false
			}
			at = len(d.index) - 1
			d.index[name] = at
			d.added = append(d.added, string(name))
		}
		for len(amounts) <= at {
			amounts = append(amounts, 0)
		}
		amounts[at] += scaled(at, quantity)
	}
	return amounts, true
}

func scaled(dimension int, quantity resource.Quantity) int64 {
	switch dimension {
	case kaisched.CPU, kaisched.GPU:
		return quantity.MilliValue()
	}
	return quantity.Value()
}

func (d *dimensions) node(node *v1.Node) (nodeRow, bool) {
	capacity, ok := d.amounts(node.Status.Allocatable)
	row := nodeRow{name: node.Name, capacity: capacity, ready: true, unschedulable: node.Spec.Unschedulable}
	for _, condition := range node.Status.Conditions {
		switch condition.Type {
		case v1.NodeReady:
			row.ready = row.ready && condition.Status == v1.ConditionTrue
		case v1.NodeMemoryPressure, v1.NodeDiskPressure, v1.NodePIDPressure, v1.NodeNetworkUnavailable:
			row.ready = row.ready && condition.Status == v1.ConditionFalse
		}
	}
	row.labels = append(pairs(node.Labels), nodeNameLabel, node.Name)
	for _, taint := range node.Spec.Taints {
		row.taints = append(row.taints, fmt.Sprintf("%s=%s:%s", taint.Key, taint.Value, taint.Effect))
	}
	if memory, err := strconv.ParseInt(node.Labels["nvidia.com/gpu.memory"], 10, 32); err == nil && memory > 0 {
		row.gpuMemory = memory * mebibyte
	}
	return row, ok
}

// groupName is the group that a pod belongs to; a pod that names none is one of its own.
func groupName(pod *v1.Pod) string {
	if name := pod.Annotations[groupAnnotation]; name != "" {
		return pod.Namespace + "/" + name
	}
	return pod.Namespace + "/pg-" + pod.Name + "-" + string(pod.UID)
}

// groupOf makes the row of a group of what its pods say; where they contradict each other the most counts.
func groupOf(name string, pods []*v1.Pod, defaultQueue string) groupRow {
	row := groupRow{name: name, queue: defaultQueue, namespace: pods[0].Namespace, minMember: 1, priority: defaultPriority}
	said := ""
	for i, pod := range pods {
		if queue := pod.Labels[queueLabel]; queue != "" && (row.queue == defaultQueue || queue < row.queue) {
			row.queue = queue
		}
		if least, err := strconv.ParseInt(pod.Annotations[minMemberAnnotation], 10, 32); err == nil {
			row.minMember = max(row.minMember, least)
		}
		if priority := pod.Spec.Priority; priority != nil && *priority != 0 {
			row.priority = max(row.priority, int64(*priority))
		}
		if created := pod.CreationTimestamp.UnixNano(); i == 0 || created < row.created {
			row.created = created
		}
		said = max(said, pod.Labels[preemptibilityLabel])
	}
	row.created = max(row.created, 0)
	row.preemptible = said == "preemptible" || said != "non-preemptible" && row.priority < preemptibleBelow
	return row
}

// pod translates what a pod asks for; group, status and place are not its business.
func (d *dimensions) pod(pod *v1.Pod) podRow {
	request, ok := d.amounts(resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{}))
	row := podRow{name: keyOf(pod), request: request, created: max(pod.CreationTimestamp.UnixNano(), 0), labels: pairs(pod.Labels),
		nodeSelector: pairs(pod.Spec.NodeSelector), hostPorts: hostPorts(pod)}
	if !ok {
		row.request, row.obstacle = []int64{0}, "more kinds of resources than the scheduler has dimensions"
	}
	row.readParts(pod)
	for _, toleration := range pod.Spec.Tolerations {
		if text, ok := tolerationText(toleration); ok {
			row.tolerations = append(row.tolerations, text)
		}
	}
	if affinity := pod.Spec.Affinity; affinity != nil {
		if node := affinity.NodeAffinity; node != nil && node.RequiredDuringSchedulingIgnoredDuringExecution != nil {
			row.nodeAffinity = nodeTerms(node.RequiredDuringSchedulingIgnoredDuringExecution)
		}
		if near := affinity.PodAffinity; near != nil {
			row.affinity = row.podTerms(pod, near.RequiredDuringSchedulingIgnoredDuringExecution)
		}
		if far := affinity.PodAntiAffinity; far != nil {
			row.antiAffinity = row.podTerms(pod, far.RequiredDuringSchedulingIgnoredDuringExecution)
		}
	}
	if len(pod.Spec.ResourceClaims) > 0 {
		row.obstacle = "resource claims are not told to kaisched"
	}
	return row
}

// readParts reads the annotations that ask for parts of GPUs. Those that cannot be read count as missing, as in KAI.
func (row *podRow) readParts(pod *v1.Pod) {
	devices, err := strconv.ParseInt(pod.Annotations[fractionsAnnotation], 10, 16)
	if err != nil || devices < 1 {
		devices = 1
	}
	if fraction, err := strconv.ParseFloat(pod.Annotations[fractionAnnotation], 64); err == nil && fraction > 0 && fraction < 1 {
		row.deviceCount = devices
		row.request[kaisched.GPU] = devices * int64(fraction*float64(kaisched.WholeDevice)+0.5)
	} else if memory, err := strconv.ParseInt(pod.Annotations[gpuMemoryAnnotation], 10, 32); err == nil && memory > 0 {
		row.deviceCount, row.gpuMemory, row.request[kaisched.GPU] = devices, memory*mebibyte, 0
	}
}

func (row *podRow) podTerms(pod *v1.Pod, terms []v1.PodAffinityTerm) (texts []string) {
	for _, term := range terms {
		if term.NamespaceSelector != nil || slices.ContainsFunc(term.Namespaces, func(name string) bool { return name != pod.Namespace }) {
			row.obstacle = "affinity to pods of other namespaces is not told to kaisched"
		}
		texts = append(texts, term.TopologyKey+": "+selectorText(term.LabelSelector))
	}
	return
}

func tolerationText(toleration v1.Toleration) (string, bool) {
	text := toleration.Key
	if text == "" {
		text = "*"
	}
	switch toleration.Operator {
	case v1.TolerationOpExists:
	case v1.TolerationOpEqual, "":
		text += "=" + toleration.Value
	default:
		return "", false // comparisons with numbers are about taints that no table has
	}
	if toleration.Effect != "" {
		text += ":" + string(toleration.Effect)
	}
	return text, true
}

func nodeTerms(selector *v1.NodeSelector) (texts []string) {
	for _, term := range selector.NodeSelectorTerms {
		var parts []string
		for _, one := range slices.Concat(term.MatchExpressions, term.MatchFields) {
			parts = append(parts, expressionText(one.Key, string(one.Operator), one.Values))
		}
		if len(parts) == 0 { // matches no node; an empty selector would match them all
			parts = []string{noMatch}
		}
		texts = append(texts, strings.Join(parts, ","))
	}
	if len(texts) == 0 {
		texts = []string{noMatch}
	}
	return
}

func selectorText(selector *metav1.LabelSelector) string {
	if selector == nil {
		return noMatch
	}
	var parts []string
	labels := pairs(selector.MatchLabels)
	for i := 0; i < len(labels); i += 2 {
		parts = append(parts, labels[i]+"="+labels[i+1])
	}
	for _, one := range selector.MatchExpressions {
		parts = append(parts, expressionText(one.Key, string(one.Operator), one.Values))
	}
	return strings.Join(parts, ",")
}

func expressionText(key, operator string, values []string) string {
	switch operator {
	case "In":
		return key + " in (" + strings.Join(values, ",") + ")"
	case "NotIn":
		return key + " notin (" + strings.Join(values, ",") + ")"
	case "Exists":
		return key
	case "DoesNotExist":
		return "!" + key
	case "Gt":
		return key + ">" + strings.Join(values, ",")
	case "Lt":
		return key + "<" + strings.Join(values, ",")
	}
	return noMatch
}

// without keeps a pod away from nodes, in addition to what it says itself.
func without(terms, nodes []string) []string {
	if len(nodes) == 0 {
		return terms
	}
	text := expressionText(nodeNameLabel, "NotIn", nodes)
	if len(terms) == 0 {
		return []string{text}
	}
	texts := make([]string, len(terms))
	for i, term := range terms {
		texts[i] = term + "," + text
	}
	return texts
}

func hostPorts(pod *v1.Pod) (texts []string) {
	add := func(container v1.Container) {
		for _, port := range container.Ports {
			if port.HostPort == 0 {
				continue
			}
			text := strconv.Itoa(int(port.HostPort)) + "/" + string(cmp.Or(port.Protocol, v1.ProtocolTCP))
			if port.HostIP != "" {
				text = port.HostIP + ":" + text
			}
			if !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
	}
	for _, container := range pod.Spec.InitContainers {
		if container.RestartPolicy != nil && *container.RestartPolicy == v1.ContainerRestartPolicyAlways {
			add(container)
		}
	}
	for _, container := range pod.Spec.Containers {
		add(container)
	}
	return
}

func devicesOf(pod *v1.Pod) (devices []int64) {
	for text := range strings.SplitSeq(pod.Annotations[devicesAnnotation], ",") {
		index, err := strconv.ParseInt(text, 10, 16)
		if err != nil {
			return nil
		}
		devices = append(devices, index)
	}
	return
}

func devicesText(devices []int64) string {
	texts := make([]string, len(devices))
	for i, index := range devices {
		texts[i] = strconv.FormatInt(index, 10)
	}
	return strings.Join(texts, ",")
}

func pairs(from map[string]string) []string {
	keys := make([]string, 0, len(from))
	for key := range from {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	list := make([]string, 0, 2*len(keys))
	for _, key := range keys {
		list = append(list, key, from[key])
	}
	return list
}

func keyOf(pod *v1.Pod) string { return pod.Namespace + "/" + pod.Name }
