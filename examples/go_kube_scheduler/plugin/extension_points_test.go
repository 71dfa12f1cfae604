package plugin

import (
	"context"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

// bench is the framework with the plug-in alone: the test plays the scheduler and calls the extension points itself.
type bench struct {
	*testing.T
	ctx    context.Context
	client *fake.Clientset
	framework.Framework
	plugin *Plugin
	nodes  []fwk.NodeInfo
	ahead  time.Duration // of the clock
}

type nobodyActive struct{}

func (nobodyActive) Activate(klog.Logger, map[string]*v1.Pod) {}

func newBench(t *testing.T, arguments string, objects ...runtime.Object) *bench {
	t.Helper()
	metrics.Register()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	b := &bench{T: t, ctx: ctx, client: fake.NewClientset(objects...)}
	factory := informers.NewSharedInformerFactory(b.client, 0)
	var nodes []*v1.Node
	var pods, placed []*v1.Pod
	for _, object := range objects {
		switch object := object.(type) {
		case *v1.Node:
			nodes = append(nodes, object)
		case *v1.Pod:
			pods = append(pods, object)
			if object.Spec.NodeName != "" {
				placed = append(placed, object)
			}
		}
	}
	snapshot := internalcache.NewSnapshot(placed, nodes)
	profile := &config.KubeSchedulerProfile{SchedulerName: "kaisched",
		Plugins:      &config.Plugins{MultiPoint: config.PluginSet{Enabled: []config.Plugin{{Name: Name, Weight: 1}}}},
		PluginConfig: []config.PluginConfig{{Name: Name, Args: &runtime.Unknown{Raw: []byte(arguments), ContentType: runtime.ContentTypeJSON}}}}
	var err error
	b.Framework, err = frameworkruntime.NewFramework(ctx, frameworkruntime.Registry{Name: func(ctx context.Context, arguments runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
		made, err := New(ctx, arguments, handle)
		if err == nil {
			b.plugin = made.(*Plugin)
		}
		return made, err
	}}, profile, frameworkruntime.WithClientSet(b.client), frameworkruntime.WithInformerFactory(factory), frameworkruntime.WithSnapshotSharedLister(snapshot),
		frameworkruntime.WithWaitingPods(frameworkruntime.NewWaitingPodsMap()), frameworkruntime.WithPodsInPreBind(frameworkruntime.NewPodsInPreBindMap()),
		frameworkruntime.WithPodActivator(nobodyActive{}))
	if err != nil {
		t.Fatal(err)
	}
	b.plugin.planner.mu.Lock()
	b.plugin.planner.now = func() time.Time { return time.Now().Add(b.ahead) } // under the planner's lock
	b.plugin.planner.mu.Unlock()
	b.nodes, _ = snapshot.NodeInfos().List()
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	b.until("the plug-in knows the cluster", func() bool {
		mirror := b.plugin.planner.mirror
		return len(mirror.nodes) == len(nodes) && len(mirror.pods) == len(pods)
	})
	return b
}

func (b *bench) until(what string, is func() bool) {
	b.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		b.plugin.planner.mu.Lock()
		reached := is()
		b.plugin.planner.mu.Unlock()
		if reached {
			return
		}
		if time.Now().After(end) {
			b.Fatal("not so: " + what)
		}
	}
}

// pass lets time pass.
func (b *bench) pass(time time.Duration) {
	b.plugin.planner.mu.Lock()
	defer b.plugin.planner.mu.Unlock()
	b.ahead += time
}

func (b *bench) info(name string) fwk.NodeInfo {
	for _, one := range b.nodes {
		if one.Node().Name == name {
			return one
		}
	}
	b.Fatal("no node " + name)
	return nil
}

// place runs PreFilter and gives the node, or the reason.
func (b *bench) place(pod *v1.Pod) (state fwk.CycleState, node, why string) {
	b.Helper()
	state = framework.NewCycleState()
	result, status, _ := b.RunPreFilterPlugins(b.ctx, state, pod)
	if status.IsSuccess() {
		return state, result.NodeNames.UnsortedList()[0], ""
	}
	if !status.IsRejected() {
		b.Fatalf("%s: %v", pod.Name, status)
	}
	return state, "", status.Message()
}

func (b *bench) want(what string, status *fwk.Status, code fwk.Code, part string) {
	b.Helper()
	if status.Code() != code || !strings.Contains(status.Message(), part) {
		b.Fatalf("%s: %v %q, want %v with %q", what, status.Code(), status.Message(), code, part)
	}
}

// waited is how waiting in Permit ends; it should not last.
func (b *bench) waited(pod *v1.Pod) *fwk.Status {
	b.Helper()
	ended := make(chan *fwk.Status, 1)
	go func() { ended <- b.WaitOnPermit(b.ctx, pod) }()
	select {
	case status := <-ended:
		return status
	case <-time.After(20 * time.Second):
		b.Fatal(pod.Name + " still waits")
		return nil
	}
}

// gang places a gang of two on two nodes and reserves its first pod, which waits in Permit.
func (b *bench) gang(a0, a1 *v1.Pod) (first, second fwk.CycleState, x, y string) {
	b.Helper()
	first, x, _ = b.place(a0)
	second, y, _ = b.place(a1)
	if x == "" || y == "" || x == y {
		b.Fatalf("a0 on %q, a1 on %q", x, y)
	}
	b.want("reserve", b.RunReservePluginsReserve(b.ctx, first, a0, x), fwk.Success, "")
	wait, permit := b.RunPermitPlugins(b.ctx, first, a0, x)
	b.want("permit", permit, fwk.Wait, "")
	b.AddWaitingPod(a0, wait)
	return
}

func gangOfTwo() (*v1.Pod, *v1.Pod) {
	return podOf("a0", 8, inGang("a", 2)), podOf("a1", 8, inGang("a", 2))
}

func TestExtensionPoints(t *testing.T) {
	a0, a1 := gangOfTwo()
	other := podOf("b", 1)
	b := newBench(t, `{}`, node("n0", 8), node("n1", 8), a0, a1, other)
	first, second, x, y := b.gang(a0, a1)

	b.want("the node", b.RunFilterPlugins(b.ctx, first, a0, b.info(x)), fwk.Success, "")
	b.want("the other node", b.RunFilterPlugins(b.ctx, first, a0, b.info(y)), fwk.Unschedulable, "kaisched decided for node "+x)
	scores, status := b.RunScorePlugins(b.ctx, first, a0, b.nodes)
	b.want("score", status, fwk.Success, "")
	for _, score := range scores {
		want := map[string]int64{x: fwk.MaxScore, y: 0}[score.Name]
		if score.TotalScore != want {
			t.Errorf("%s scores %d, want %d", score.Name, score.TotalScore, want)
		}
	}
	if _, node, why := b.place(other); node != "" || !strings.Contains(why, "gpu") {
		t.Errorf("the places of a gang are given away: %s, %q", node, why)
	}

	b.want("reserve elsewhere", b.RunReservePluginsReserve(b.ctx, second, a1, x), fwk.Unschedulable, "withdrawn")
	b.want("bind before the gang is complete", b.RunPreBindPlugins(b.ctx, first, a0, x), fwk.Unschedulable, "withdrawn")
	b.want("reserve", b.RunReservePluginsReserve(b.ctx, second, a1, y), fwk.Success, "")
	_, status = b.RunPermitPlugins(b.ctx, second, a1, y)
	b.want("permit", status, fwk.Success, "")
	b.want("the other one goes on", b.waited(a0), fwk.Success, "")

	b.want("preBind", b.RunPreBindPlugins(b.ctx, first, a0, x), fwk.Success, "")
	b.want("bind", b.RunBindPlugins(b.ctx, first, a0, x), fwk.Success, "")
	var binding *v1.Binding
	for _, action := range b.client.Actions() {
		if create, ok := action.(clienttesting.CreateAction); ok && create.GetSubresource() == "binding" {
			binding = create.GetObject().(*v1.Binding)
		}
	}
	if binding == nil || binding.UID != a0.UID || binding.Target.Name != x || binding.Annotations[devicesAnnotation] != "0,1,2,3,4,5,6,7" {
		t.Errorf("binding: %+v", binding)
	}
}

// Unreserve gives the places of the whole gang back at once; the gang is tried again after a while.
func TestUnreserve(t *testing.T) {
	a0, a1 := gangOfTwo()
	other := podOf("b", 8)
	b := newBench(t, `{}`, node("n0", 8), node("n1", 8), a0, a1, other)
	_, second, _, y := b.gang(a0, a1)
	b.want("reserve", b.RunReservePluginsReserve(b.ctx, second, a1, y), fwk.Success, "")
	b.RunReservePluginsUnreserve(b.ctx, second, a1, y)
	b.want("who waited", b.waited(a0), fwk.Unschedulable, "the gang cannot start")
	_, node, why := b.place(other)
	if node == "" {
		t.Fatalf("b has no place: %s", why)
	}
	if _, node, why := b.place(a0); node != "" || !strings.Contains(why, "tried again later: pod default/a1 could not keep its place") {
		t.Errorf("a0 is on %q: %s", node, why)
	}
	if err := b.client.CoreV1().Pods("default").Delete(b.ctx, other.Name, deleteNow); err != nil {
		t.Fatal(err)
	}
	b.until("b is gone", func() bool { return b.plugin.planner.mirror.pods["default/b"] == nil })
	b.pass(2 * leastHold)
	b.gang(a0, a1)
}

// A gang whose second pod never comes gives its places back when its time is up.
func TestGangTimeout(t *testing.T) {
	a0, a1 := gangOfTwo()
	other := podOf("b", 8)
	b := newBench(t, `{"gangTimeout": "10m"}`, node("n0", 8), node("n1", 8), a0, a1, other)
	b.gang(a0, a1)
	b.pass(9 * time.Minute)
	if _, node, _ := b.place(other); node != "" {
		t.Fatal("the place was given away too early")
	}
	b.pass(2 * time.Minute)
	if _, node, why := b.place(other); node == "" {
		t.Errorf("b has no place: %s", why)
	}
	b.want("who waited", b.waited(a0), fwk.Unschedulable, "the gang cannot start")
}

// The order of the queue is that of the engine: a group of a queue that has less comes first, whatever is older.
func TestOrder(t *testing.T) {
	older, younger := podOf("older", 8, inQueue("much")), podOf("younger", 8, inQueue("little"))
	urgent := podOf("urgent", 8, inQueue("much"), withPriority(90))
	b := newBench(t, `{"queues": [{"name": "much"}, {"name": "little"}]}`, node("n0", 16),
		podOf("runs", 8, inQueue("much"), onNode("n0")), older, younger, urgent)
	// The decisions of the background may be there or not; take the plan as it is before the first session.
	ranked := *b.plugin.planner.ranks.Load()
	b.plugin.planner.ranks.Store(&map[string]int64{})
	now := time.Now()
	queued := func(pod *v1.Pod, since time.Duration) fwk.QueuedPodInfo {
		info, err := framework.NewPodInfo(pod)
		if err != nil {
			t.Fatal(err)
		}
		return &framework.QueuedPodInfo{PodInfo: info, Timestamp: now.Add(since)}
	}
	order := func(pods ...fwk.QueuedPodInfo) {
		t.Helper()
		less := b.QueueSortFunc()
		for i := range pods {
			for j := range pods {
				if less(pods[i], pods[j]) != (i < j) {
					t.Errorf("%s before %s: %v", pods[i].GetPodInfo().GetPod().Name, pods[j].GetPodInfo().GetPod().Name, i >= j)
				}
			}
		}
	}
	first, second, third := queued(older, 0), queued(younger, time.Second), queued(urgent, 2*time.Second)
	order(third, first, second)
	b.plugin.planner.ranks.Store(&ranked)
	if _, node, why := b.place(younger); node == "" {
		t.Fatalf("younger has no place: %s", why)
	}
	order(second, third, first)
}

// What another plug-in refuses is looked for elsewhere: unless the scheduler only has not seen yet that the place is
// free, because it hears of events on its own.
func TestRefusals(t *testing.T) {
	refused := func(by string) *fwk.Status { return fwk.NewStatus(fwk.Unschedulable, "not here").WithPlugin(by) }
	for what, one := range map[string]struct {
		gone  bool // a pod that the snapshot of the scheduler still has
		tell  func(*framework.NodeToStatus)
		again string
		why   string
	}{
		"the node":                {false, func(to *framework.NodeToStatus) { to.Set("n0", refused("Volumes")) }, "n1", ""},
		"the node, too early":     {true, func(to *framework.NodeToStatus) { to.Set("n0", refused("Volumes")) }, "n0", ""},
		"everywhere":              {false, func(to *framework.NodeToStatus) { to.SetAbsentNodesStatus(refused("Volumes")) }, "", "tried again later: another plug-in refused default/a: not here"},
		"by nobody in particular": {false, func(*framework.NodeToStatus) {}, "n0", ""},
	} {
		t.Run(what, func(t *testing.T) {
			a, runs := podOf("a", 8), podOf("runs", 8, onNode("n0"))
			objects := []runtime.Object{node("n0", 8), node("n1", 8), a}
			if one.gone { // and there is no other node, so that a waits for it
				objects = []runtime.Object{node("n0", 8), a, runs}
			}
			b := newBench(t, `{}`, objects...)
			if one.gone {
				if err := b.client.CoreV1().Pods("default").Delete(b.ctx, runs.Name, deleteNow); err != nil {
					t.Fatal(err)
				}
				b.until("the pod is gone", func() bool { return b.plugin.planner.mirror.pods["default/runs"] == nil })
			}
			state, node, why := b.place(a)
			if node != "n0" {
				t.Fatalf("a is on %q: %s", node, why)
			}
			statuses := framework.NewDefaultNodeToStatus()
			one.tell(statuses)
			_, status := b.RunPostFilterPlugins(b.ctx, state, a, statuses)
			b.want("postFilter", status, fwk.Unschedulable, "")
			if _, node, why = b.place(a); node != one.again || !strings.Contains(why, one.why) {
				t.Errorf("a is on %q: %s; want %q: %s", node, why, one.again, one.why)
			}
		})
	}
}
