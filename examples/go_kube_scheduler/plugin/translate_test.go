package plugin

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"kaisched.example/go/kaisched"
)

var deleteNow = metav1.DeleteOptions{}

// What the plug-in tells kaisched about nodes and pods is what kaisched reads of the same objects itself.
func TestTranslationIsThatOfTheLibrary(t *testing.T) {
	nodes, pods := peculiarObjects()

	var text []byte
	put := func(object runtime.Object, kind string) {
		object.GetObjectKind().SetGroupVersionKind(v1.SchemeGroupVersion.WithKind(kind))
		one, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		text = append(append(text, one...), '\n')
	}
	m, err := newMirror("kaisched", &Arguments{DefaultQueue: "default-queue", Queues: []Queue{{Name: "default-queue"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer m.cluster.Close()
	for _, node := range nodes {
		m.setNode(node)
		put(node, "Node")
	}
	for _, pod := range pods {
		m.setPod(pod)
		put(pod, "Pod")
	}
	if changed, err := m.flush(time.Now()); err != nil || !changed {
		t.Fatal(changed, err)
	}
	objects, err := kaisched.ReadObjects(text, kaisched.Option{Name: "scheduler", Value: "kaisched"})
	if err != nil {
		t.Fatal(err)
	}
	defer objects.Close()
	if faults, err := objects.Faults(); err != nil || len(faults) > 0 {
		t.Fatal(faults, err)
	}
	reference, err := kaisched.NewCluster()
	if err != nil {
		t.Fatal(err)
	}
	defer reference.Close()
	if err := objects.Apply(reference); err != nil {
		t.Fatal(err)
	}

	tableOf := func(cluster *kaisched.Cluster, kind kaisched.Kind) *kaisched.Result {
		snapshot, err := cluster.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		defer snapshot.Close()
		table, err := snapshot.Table(kind)
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	if left := tableOf(m.cluster, kaisched.Quarantine); left.Rows > 0 {
		t.Fatalf("left out: %v %v", left.Texts(kaisched.QuarantineName), left.Texts(kaisched.QuarantineText))
	}
	compare := func(kind kaisched.Kind, columns map[string]kaisched.Column) {
		t.Helper()
		got, want := tableOf(m.cluster, kind), tableOf(reference, kind)
		for name, id := range columns {
			for _, one := range [][2]any{{got.Texts(id), want.Texts(id)}, {got.Ints(id), want.Ints(id)},
				{got.TextLists(id), want.TextLists(id)}, {got.IntLists(id), want.IntLists(id)}} {
				if !reflect.DeepEqual(one[0], one[1]) {
					t.Errorf("%s: %q, kaisched reads %q", name, one[0], one[1])
				}
			}
		}
	}
	compare(kaisched.Nodes, map[string]kaisched.Column{"name": kaisched.NodeName, "capacity": kaisched.NodeCapacity, "ready": kaisched.NodeReady,
		"unschedulable": kaisched.NodeUnschedulable, "taints": kaisched.NodeTaints, "gpu_memory": kaisched.NodeGPUMemory, "labels": kaisched.NodeLabels})
	compare(kaisched.Pods, map[string]kaisched.Column{"name": kaisched.PodName, "request": kaisched.PodRequest, "device_count": kaisched.PodDeviceCount,
		"status": kaisched.PodStatus, "node": kaisched.PodNode, "created": kaisched.PodCreated, "node_selector": kaisched.PodNodeSelector,
		"node_affinity": kaisched.PodNodeAffinity, "tolerations": kaisched.PodTolerations, "affinity": kaisched.PodAffinity,
		"anti_affinity": kaisched.PodAntiAffinity, "host_ports": kaisched.PodHostPorts, "labels": kaisched.PodLabels,
		"gpu_memory": kaisched.PodGPUMemory, "nominated_node": kaisched.PodNominatedNode})
	compare(kaisched.PodGroups, map[string]kaisched.Column{"name": kaisched.PodGroupName, "queue": kaisched.PodGroupQueue,
		"created": kaisched.PodGroupCreated, "namespace": kaisched.PodGroupNamespace, "preemptible": kaisched.PodGroupPreemptible})
}

// peculiarObjects use what the translation knows, a bit of everything.
func peculiarObjects() (nodes []*v1.Node, pods []*v1.Pod) {
	created := metav1.NewTime(time.Unix(1_700_000_000, 0))
	for i := range 6 {
		one := node(fmt.Sprint("n", i), 8)
		one.Labels["zone"], one.Labels["cores"] = string(rune('a'+i%2)), fmt.Sprint(16*i)
		nodes = append(nodes, one)
	}
	nodes[1].Spec.Unschedulable = true
	nodes[2].Spec.Taints = []v1.Taint{{Key: "gpu", Value: "yes", Effect: v1.TaintEffectNoSchedule}, {Key: "old", Effect: v1.TaintEffectPreferNoSchedule}}
	nodes[3].Status.Conditions = []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionUnknown}}
	nodes[4].Status.Conditions = []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}, {Type: v1.NodeDiskPressure, Status: v1.ConditionTrue}}
	nodes[5].Labels["nvidia.com/gpu.memory"] = "81920"
	nodes[5].Status.Allocatable["example.com/wafer"] = resource.MustParse("4")
	nodes[5].Status.Allocatable["cpu"] = resource.MustParse("63500m")

	add := func(name string, change func(*v1.Pod)) {
		pod := podOf(name, 1)
		pod.CreationTimestamp = created
		change(pod)
		pods = append(pods, pod)
	}
	gpuless := func(pod *v1.Pod) { delete(pod.Spec.Containers[0].Resources.Requests, "nvidia.com/gpu") }
	add("running", onNode("n0"))
	add("bound", func(pod *v1.Pod) { pod.Spec.NodeName = "n0" })
	add("leaving", func(pod *v1.Pod) {
		onNode("n1")(pod)
		now := metav1.Now()
		pod.DeletionTimestamp, pod.Finalizers = &now, []string{"example.com/wait"}
	})
	add("daemon", func(pod *v1.Pod) { pod.Spec.SchedulerName = "default-scheduler"; onNode("n2")(pod) })
	add("foreign", func(pod *v1.Pod) { pod.Spec.SchedulerName = "default-scheduler" })
	add("finished", func(pod *v1.Pod) { onNode("n0")(pod); pod.Status.Phase = v1.PodSucceeded })
	add("gated", func(pod *v1.Pod) { pod.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "example.com/gate"}} })
	add("promised", func(pod *v1.Pod) { pod.Status.NominatedNodeName = "n0" })
	add("fraction", func(pod *v1.Pod) {
		gpuless(pod)
		pod.Annotations = map[string]string{fractionAnnotation: "0.35", fractionsAnnotation: "2"}
	})
	add("memory", func(pod *v1.Pod) { gpuless(pod); pod.Annotations = map[string]string{gpuMemoryAnnotation: "4096"} })
	add("wafers", func(pod *v1.Pod) {
		pod.Spec.Containers[0].Resources.Requests["example.com/wafer"] = resource.MustParse("2")
	})
	add("init", func(pod *v1.Pod) {
		always := v1.ContainerRestartPolicyAlways
		pod.Spec.InitContainers = []v1.Container{
			{Name: "sidecar", RestartPolicy: &always, Resources: v1.ResourceRequirements{Requests: v1.ResourceList{"cpu": resource.MustParse("250m")}},
				Ports: []v1.ContainerPort{{HostPort: 81}}},
			{Name: "first", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{"cpu": resource.MustParse("3")}}}}
		pod.Spec.Overhead = v1.ResourceList{"memory": resource.MustParse("16Mi")}
	})
	add("ports", func(pod *v1.Pod) {
		pod.Spec.Containers[0].Ports = []v1.ContainerPort{{HostPort: 80}, {HostPort: 53, Protocol: v1.ProtocolUDP, HostIP: "10.0.0.1"}, {ContainerPort: 9}}
	})
	add("selective", func(pod *v1.Pod) {
		pod.Spec.NodeSelector = map[string]string{"zone": "a", "kubernetes.io/hostname": "n2"}
		pod.Spec.Tolerations = []v1.Toleration{{Key: "gpu", Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoSchedule}, {Key: "old", Value: "x"}, {Operator: v1.TolerationOpExists}}
		requirement := func(key string, operator v1.NodeSelectorOperator, values ...string) v1.NodeSelectorRequirement {
			return v1.NodeSelectorRequirement{Key: key, Operator: operator, Values: values}
		}
		pod.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{
			{MatchExpressions: []v1.NodeSelectorRequirement{requirement("zone", "In", "a", "b"), requirement("spot", "DoesNotExist"), requirement("cores", "Gt", "8")}},
			{MatchExpressions: []v1.NodeSelectorRequirement{requirement("zone", "NotIn", "c"), requirement("zone", "Exists"), requirement("cores", "Lt", "99")},
				MatchFields: []v1.NodeSelectorRequirement{requirement("metadata.name", "In", "n2")}},
		}}}}
	})
	add("near", func(pod *v1.Pod) {
		pod.Labels = map[string]string{"app": "web", "tier": "front"}
		pod.Spec.Affinity = &v1.Affinity{
			PodAffinity: &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{TopologyKey: "zone",
				LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web", "tier": "front"}}}}},
			PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{TopologyKey: "kubernetes.io/hostname",
				LabelSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"back", "cache"}}}}}}},
		}
	})
	add("urgent", func(pod *v1.Pod) { metav1.SetMetaDataLabel(&pod.ObjectMeta, preemptibilityLabel, "non-preemptible") })
	add("member", inGang("team", 1))
	return
}
