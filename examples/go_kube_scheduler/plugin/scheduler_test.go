package plugin

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/profile"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

// lab is a whole kube-scheduler over an API server that is only pretended: it binds pods, and pods that are bound run.
type lab struct {
	*testing.T
	ctx    context.Context
	client *fake.Clientset
	plugin *Plugin
}

// profileOf reads the configuration that the example comes with.
func profileOf(t *testing.T, change func(*config.KubeSchedulerProfile)) config.KubeSchedulerProfile {
	t.Helper()
	text, err := os.ReadFile("../scheduler-config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	object, _, err := scheme.Codecs.UniversalDecoder().Decode(text, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	one := object.(*config.KubeSchedulerConfiguration).Profiles[0]
	if change != nil {
		change(&one)
	}
	return one
}

func withArguments(json string) func(*config.KubeSchedulerProfile) {
	return func(one *config.KubeSchedulerProfile) {
		for i := range one.PluginConfig {
			if one.PluginConfig[i].Name == Name {
				one.PluginConfig[i].Args = &runtime.Unknown{Raw: []byte(json), ContentType: runtime.ContentTypeJSON}
			}
		}
	}
}

func newLab(t *testing.T, change func(*config.KubeSchedulerProfile), others frameworkruntime.Registry, objects ...runtime.Object) *lab {
	t.Helper()
	logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.Verbosity(1)))
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logger))
	t.Cleanup(cancel)
	l := &lab{T: t, ctx: ctx, client: fake.NewClientset(objects...)}
	l.client.PrependReactor("create", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		create := action.(clienttesting.CreateAction)
		if create.GetSubresource() != "binding" {
			return false, nil, nil
		}
		binding := create.GetObject().(*v1.Binding)
		gvr := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
		object, err := l.client.Tracker().Get(gvr, binding.Namespace, binding.Name)
		if err != nil {
			return true, nil, err
		}
		pod := object.(*v1.Pod).DeepCopy()
		if pod.Spec.NodeName != "" {
			return true, nil, fmt.Errorf("pod %s is bound already", pod.Name)
		}
		pod.Spec.NodeName, pod.Status.Phase = binding.Target.Name, v1.PodRunning
		for key, value := range binding.Annotations {
			metav1.SetMetaDataAnnotation(&pod.ObjectMeta, key, value)
		}
		return true, binding, l.client.Tracker().Update(gvr, pod, pod.Namespace)
	})
	registry := frameworkruntime.Registry{Name: func(ctx context.Context, arguments runtime.Object, handle frameworkHandle) (frameworkPlugin, error) {
		made, err := New(ctx, arguments, handle)
		if err == nil {
			l.plugin = made.(*Plugin)
		}
		return made, err
	}}
	for name, factory := range others {
		registry[name] = factory
	}
	factory := informers.NewSharedInformerFactory(l.client, 0)
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: l.client.EventsV1()})
	broadcaster.StartRecordingToSink(ctx.Done())
	made, err := scheduler.New(ctx, l.client, factory, nil, profile.NewRecorderFactory(broadcaster),
		scheduler.WithProfiles(profileOf(t, change)), scheduler.WithFrameworkOutOfTreeRegistry(registry),
		scheduler.WithPodInitialBackoffSeconds(1), scheduler.WithPodMaxBackoffSeconds(1))
	if err != nil {
		t.Fatal(err)
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	if err := made.WaitForHandlersSync(ctx); err != nil {
		t.Fatal(err)
	}
	go made.Run(ctx)
	return l
}

func node(name string, gpus int) *v1.Node {
	return st.MakeNode().Name(name).Label("kubernetes.io/hostname", name).
		Capacity(map[v1.ResourceName]string{"cpu": "64", "memory": "512Gi", "pods": "110", "nvidia.com/gpu": fmt.Sprint(gpus)}).Obj()
}

type podOption func(*v1.Pod)

func inQueue(name string) podOption {
	return func(pod *v1.Pod) { metav1.SetMetaDataLabel(&pod.ObjectMeta, queueLabel, name) }
}

func inGang(name string, least int) podOption {
	return func(pod *v1.Pod) {
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, groupAnnotation, name)
		metav1.SetMetaDataAnnotation(&pod.ObjectMeta, minMemberAnnotation, fmt.Sprint(least))
	}
}

func onNode(name string) podOption {
	return func(pod *v1.Pod) { pod.Spec.NodeName, pod.Status.Phase = name, v1.PodRunning }
}

func withPriority(priority int32) podOption {
	return func(pod *v1.Pod) { pod.Spec.Priority = &priority }
}

func podOf(name string, gpus int, options ...podOption) *v1.Pod {
	pod := st.MakePod().Namespace("default").Name(name).UID(name).SchedulerName("kaisched").
		Req(map[v1.ResourceName]string{"cpu": "1", "nvidia.com/gpu": fmt.Sprint(gpus)}).Obj()
	for _, option := range options {
		option(pod)
	}
	return pod
}

func (l *lab) create(pods ...*v1.Pod) {
	l.Helper()
	for _, pod := range pods {
		if _, err := l.client.CoreV1().Pods(pod.Namespace).Create(l.ctx, pod, metav1.CreateOptions{}); err != nil {
			l.Fatal(err)
		}
	}
}

func (l *lab) addNode(name string, gpus int) {
	l.Helper()
	if _, err := l.client.CoreV1().Nodes().Create(l.ctx, node(name, gpus), metav1.CreateOptions{}); err != nil {
		l.Fatal(err)
	}
}

func (l *lab) delete(name string) {
	l.Helper()
	if err := l.client.CoreV1().Pods("default").Delete(l.ctx, name, metav1.DeleteOptions{}); err != nil {
		l.Fatal(err)
	}
}

// places are the nodes of all pods, in the form "a:n0 b:-", by name.
func (l *lab) places() string {
	list, err := l.client.CoreV1().Pods("default").List(l.ctx, metav1.ListOptions{})
	if err != nil {
		l.Fatal(err)
	}
	var texts []string
	for _, pod := range list.Items {
		node := pod.Spec.NodeName
		if node == "" {
			node = "-"
		}
		texts = append(texts, pod.Name+":"+node)
	}
	slices.Sort(texts)
	return strings.Join(texts, " ")
}

func (l *lab) expect(what string, is func() bool) {
	l.Helper()
	for end := time.Now().Add(20 * time.Second); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			l.Fatalf("%s: not so, but %s", what, l.places())
		}
	}
}

func (l *lab) expectPlaces(want string) {
	l.Helper()
	l.expect(want, func() bool { return l.places() == want })
}

// expectStays looks for a while whether something happens that should not.
func (l *lab) expectStays(want string) {
	l.Helper()
	for end := time.Now().Add(500 * time.Millisecond); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if got := l.places(); got != want {
			l.Fatalf("%s: not so, but %s", want, got)
		}
	}
}

func (l *lab) message(pod string) string {
	got, err := l.client.CoreV1().Pods("default").Get(l.ctx, pod, metav1.GetOptions{})
	if err != nil {
		return ""
	}
	for _, condition := range got.Status.Conditions {
		if condition.Type == v1.PodScheduled {
			return condition.Message
		}
	}
	return ""
}

func (l *lab) expectMessage(pod, part string) {
	l.Helper()
	for end := time.Now().Add(20 * time.Second); !strings.Contains(l.message(pod), part); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			l.Fatalf("%s should say %q and says %q", pod, part, l.message(pod))
		}
	}
}

// A gang of two waits until both have places, whoever comes last: the second pod, or the second node.
func TestGangWaits(t *testing.T) {
	l := newLab(t, nil, nil, node("n0", 8))
	l.create(podOf("a0", 8, inGang("a", 2)))
	l.expectMessage("a0", "gang")
	l.create(podOf("a1", 8, inGang("a", 2)))
	l.expectMessage("a0", "every pod fits somewhere, but not all that must start together")
	l.expectStays("a0:- a1:-")
	l.addNode("n1", 8)
	l.expect("both start", func() bool { return l.places() == "a0:n0 a1:n1" || l.places() == "a0:n1 a1:n0" })
}

// A gang that does not fit holds nothing: a pod that fits starts, though it came later.
func TestGangThatDoesNotFit(t *testing.T) {
	l := newLab(t, nil, nil, node("n0", 8), node("n1", 4))
	l.create(podOf("a0", 8, inGang("a", 2)), podOf("a1", 8, inGang("a", 2)))
	l.expectMessage("a0", "every pod fits somewhere, but not all that must start together")
	l.create(podOf("b", 8))
	l.expectPlaces("a0:- a1:- b:n0")
	l.create(podOf("c", 16, inQueue("team-a")))
	l.expectMessage("c", "needs 16 GPU, the largest node has 8 GPU")
	l.create(podOf("d", 1, inQueue("nobody")))
	l.expectMessage("d", "queue 'nobody' does not exist")
	l.expectStays("a0:- a1:- b:n0 c:- d:-")
}

// The annotations of a pod that is bound say which devices it has, and parts of one device are shared.
func TestDevices(t *testing.T) {
	l := newLab(t, nil, nil, node("n0", 2))
	half := func(pod *v1.Pod) { metav1.SetMetaDataAnnotation(&pod.ObjectMeta, fractionAnnotation, "0.5") }
	l.create(podOf("whole", 1))
	l.expectPlaces("whole:n0")
	l.create(podOf("x", 0, half), podOf("y", 0, half))
	l.expectPlaces("whole:n0 x:n0 y:n0")
	l.create(podOf("z", 0, half))
	l.expectMessage("z", "gpu")
	for pod, want := range map[string]string{"whole": "0 1000", "x": "1 500", "y": "1 500"} {
		got, err := l.client.CoreV1().Pods("default").Get(l.ctx, pod, metav1.GetOptions{})
		if err != nil || got.Annotations[devicesAnnotation]+" "+got.Annotations[shareAnnotation] != want {
			t.Errorf("%s has %v, want %s: %v", pod, got.Annotations, want, err)
		}
	}
}

// A queue gets back what it is entitled to: the victim is deleted, the pod is nominated and starts when it is gone.
func TestReclaim(t *testing.T) {
	l := newLab(t, nil, nil, node("n0", 8), node("n1", 8),
		podOf("b0", 8, inQueue("team-b"), onNode("n0")), podOf("b1", 8, inQueue("team-b"), onNode("n1")))
	var evicted atomic.Int32
	l.client.PrependReactor("delete", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		evicted.Add(1)
		return false, nil, nil
	})
	l.create(podOf("a0", 8, inQueue("team-a")))
	l.expect("a0 starts, one of team-b leaves", func() bool { return l.places() == "a0:n0 b1:n1" || l.places() == "a0:n1 b0:n0" })
	l.create(podOf("a1", 8, inQueue("team-a")))
	l.expectMessage("a1", "gpu") // team-a has its share now
	time.Sleep(300 * time.Millisecond)
	if evicted.Load() != 1 {
		t.Errorf("%d pods were evicted for one", evicted.Load())
	}
}

// Within a queue a group of higher priority takes the place of one of lower priority; nobody leaves who need not.
func TestPreempt(t *testing.T) {
	l := newLab(t, nil, nil, node("n0", 8), podOf("low", 8, onNode("n0"), withPriority(40)))
	l.create(podOf("same", 8, withPriority(40)))
	l.expectMessage("same", "gpu")
	l.expectStays("low:n0 same:-")
	l.create(podOf("high", 8, withPriority(90)))
	l.expectPlaces("high:n0 same:-")
}

// Pods of a gang hold their places until all have been reserved; if one is refused, all are given back.
func TestGangOfWhichOneIsRefused(t *testing.T) {
	refuser := &refuser{pod: "a1"}
	refuser.on.Store(true)
	l := newLab(t, func(one *config.KubeSchedulerProfile) {
		one.Plugins.Reserve.Enabled = append(one.Plugins.Reserve.Enabled, config.Plugin{Name: refuser.Name()})
	}, frameworkruntime.Registry{refuser.Name(): refuser.make}, node("n0", 8), node("n1", 8))
	l.create(podOf("a0", 8, inGang("a", 2)), podOf("a1", 8, inGang("a", 2)))
	l.expect("a1 is refused", func() bool { return refuser.count.Load() > 0 })
	l.create(podOf("b", 8))
	l.expect("the place of a0 is free again", func() bool { return strings.Contains(l.places(), "b:n") })
	l.expect("a0 does not start alone", func() bool { return strings.HasPrefix(l.places(), "a0:- a1:-") })
	refuser.on.Store(false)
	l.delete("b")
	l.expect("both start", func() bool { return l.places() == "a0:n0 a1:n1" || l.places() == "a0:n1 a1:n0" })
}

// A node that another plug-in refuses is left out, and the pod gets another one.
func TestNodeThatIsRefused(t *testing.T) {
	refuser := &refuser{pod: "a", node: "n0"}
	refuser.on.Store(true)
	l := newLab(t, func(one *config.KubeSchedulerProfile) {
		one.Plugins.Filter.Enabled = append(one.Plugins.Filter.Enabled, config.Plugin{Name: refuser.Name()})
	}, frameworkruntime.Registry{refuser.Name(): refuser.make}, node("n0", 8), node("n1", 8))
	l.create(podOf("a", 8)) // n0 is the first of equal nodes
	l.expectPlaces("a:n1")
	if refuser.count.Load() == 0 {
		t.Error("n0 was never asked for")
	}
}

// A gang of which a pod is deleted while the others wait gives their places back.
func TestMemberThatGoes(t *testing.T) {
	gate := &refuser{pod: "a1"}
	gate.on.Store(true)
	l := newLab(t, func(one *config.KubeSchedulerProfile) {
		one.Plugins.PreEnqueue.Enabled = append(one.Plugins.PreEnqueue.Enabled, config.Plugin{Name: gate.Name()})
	}, frameworkruntime.Registry{gate.Name(): gate.make}, node("n0", 8))
	l.create(podOf("a0", 4, inGang("a", 2)), podOf("a1", 4, inGang("a", 2)))
	a0 := types.UID("a0")
	l.expect("a0 waits for a1", func() bool { return l.plugin.handle.GetWaitingPod(a0) != nil })
	l.create(podOf("b", 8))
	l.expectMessage("b", "gpu")
	l.expectStays("a0:- a1:- b:-")
	l.delete("a1")
	l.expectPlaces("a0:- b:n0")
	l.expectMessage("a0", "gang")
}
