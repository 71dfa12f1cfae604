// Package plugin is a plug-in of kube-scheduler that lets kaisched decide.
//
// The framework asks pod by pod; kaisched decides for the whole cluster. So a session runs when something has changed,
// and the extension points look up what it said: PreFilter gives the node of the pod, or why it waits; Reserve and
// Permit hold the places of a gang until all of its pods have theirs; PostFilter begins evictions.
package plugin

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// Name of the plug-in in the configuration of the scheduler.
const Name = "Kaisched"

// Plugin is the plug-in.
type Plugin struct {
	handle  fwk.Handle
	planner *planner
	wake    chan struct{}
	done    sync.WaitGroup
	synced  []cache.InformerSynced // the planner has seen what there was at the start
}

var (
	_ fwk.QueueSortPlugin   = &Plugin{}
	_ fwk.EnqueueExtensions = &Plugin{}
	_ fwk.PreFilterPlugin   = &Plugin{}
	_ fwk.FilterPlugin      = &Plugin{}
	_ fwk.PostFilterPlugin  = &Plugin{}
	_ fwk.ScorePlugin       = &Plugin{}
	_ fwk.ScoreExtensions   = &Plugin{}
	_ fwk.ReservePlugin     = &Plugin{}
	_ fwk.PermitPlugin      = &Plugin{}
	_ fwk.PreBindPlugin     = &Plugin{}
	_ fwk.BindPlugin        = &Plugin{}
)

// New makes the plug-in for one profile. It ends with ctx.
func New(ctx context.Context, arguments runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	var args Arguments
	if err := frameworkruntime.DecodeInto(arguments, &args); err != nil {
		return nil, fmt.Errorf("%s: %w", Name, err)
	}
	args.complete()
	planner, err := newPlanner(handle.ProfileName(), &args)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Name, err)
	}
	p := &Plugin{handle: handle, planner: planner, wake: make(chan struct{}, 1)}
	if err := p.watch(); err != nil {
		planner.close()
		return nil, err
	}
	go p.decide(ctx)
	return p, nil
}

func (p *Plugin) Name() string { return Name }

// ---- the cluster ----------------------------------------------------------------------------------------------------

func (p *Plugin) watch() error {
	factory := p.handle.SharedInformerFactory().Core().V1()
	nodes, err := factory.Nodes().Informer().AddEventHandler(handlers(func(node *v1.Node) {
		p.planner.setNode(node)
		p.changed()
	}, func(node *v1.Node) {
		p.do(context.Background(), p.planner.removeNode(node.Name))
		p.changed()
	}))
	if err != nil {
		return err
	}
	pods, err := factory.Pods().Informer().AddEventHandler(handlers(func(pod *v1.Pod) {
		p.do(context.Background(), p.planner.setPod(pod))
		p.changed()
	}, func(pod *v1.Pod) {
		p.do(context.Background(), p.planner.removePod(pod))
		p.changed()
	}))
	if err != nil {
		return err
	}
	p.synced = []cache.InformerSynced{nodes.HasSynced, pods.HasSynced}
	return nil
}

func handlers[Object any](set, remove func(*Object)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { set(object.(*Object)) },
		UpdateFunc: func(_, object any) { set(object.(*Object)) },
		DeleteFunc: func(object any) {
			if last, missed := object.(cache.DeletedFinalStateUnknown); missed {
				object = last.Obj
			}
			if gone, ok := object.(*Object); ok {
				remove(gone)
			}
		},
	}
}

func (p *Plugin) changed() {
	select {
	case p.wake <- struct{}{}:
	default: // the background has not looked since the last change
	}
}

// decide runs sessions as the cluster changes and lets the scheduler try the pods that have a place now. So nobody is
// tried because something happened somewhere, and nobody is missed.
func (p *Plugin) decide(ctx context.Context) {
	cache.WaitForCacheSync(ctx.Done(), p.synced...)
	tick := time.NewTicker(leastHold)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			p.done.Wait()
			p.planner.close()
			return
		case <-p.wake:
		case <-tick.C: // what waits for a time
		}
		work, err := p.planner.step()
		if err != nil {
			klog.FromContext(ctx).Error(err, "Deciding")
		}
		p.do(ctx, work)
	}
}

// do carries out what follows from a decision.
func (p *Plugin) do(ctx context.Context, work work) {
	logger := klog.FromContext(ctx)
	for _, pod := range work.allow {
		if waiting := p.handle.GetWaitingPod(pod.UID); waiting != nil {
			waiting.Allow(Name)
		}
	}
	for _, pod := range work.reject {
		if waiting := p.handle.GetWaitingPod(pod.UID); waiting != nil {
			waiting.Reject(Name, "the gang cannot start")
		}
	}
	for _, pod := range work.evict {
		p.done.Add(1)
		go func() { // like the scheduler's own preemption: the queue does not wait for the API server
			defer p.done.Done()
			p.evict(context.WithoutCancel(ctx), pod)
		}()
	}
	if len(work.activate) > 0 {
		pods := make(map[string]*v1.Pod, len(work.activate))
		for _, pod := range work.activate {
			pods[keyOf(pod)] = pod
		}
		p.handle.Activate(logger, pods)
	}
}

func (p *Plugin) evict(ctx context.Context, pod *v1.Pod) {
	options := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}}
	err := p.handle.ClientSet().CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, options)
	if err != nil && !apierrors.IsNotFound(err) {
		klog.FromContext(ctx).Error(err, "Evicting", "pod", klog.KObj(pod))
		p.planner.stays(pod)
		p.changed()
		return
	}
	if recorder := p.handle.EventRecorder(); recorder != nil {
		recorder.Eventf(pod, nil, v1.EventTypeNormal, "Preempted", "Evicting", "kaisched gives its place to a group that is more entitled to it")
	}
}

// ---- extension points -----------------------------------------------------------------------------------------------

// Less: the order in which the last session served groups.
func (p *Plugin) Less(a, b fwk.QueuedPodInfo) bool {
	return p.planner.less(a.GetPodInfo().GetPod(), b.GetPodInfo().GetPod(), a.GetTimestamp(), b.GetTimestamp())
}

// EventsToRegister is empty: the background knows which pods an event helps and activates them.
func (p *Plugin) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return nil, nil
}

// decision is where the pod of a cycle goes.
type decision string

func (d decision) Clone() fwk.StateData { return d }

func decided(state fwk.CycleState) (string, *fwk.Status) {
	data, err := state.Read(Name)
	if err != nil {
		return "", fwk.AsStatus(fmt.Errorf("%s is not enabled as preFilter: %w", Name, err))
	}
	return string(data.(decision)), nil
}

// PreFilter gives the one node that a session has decided, or the reason of kaisched why the pod waits.
func (p *Plugin) PreFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, _ []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	if !cache.WaitForCacheSync(ctx.Done(), p.synced...) { // who is seen first must not get the place for that
		return nil, fwk.AsStatus(ctx.Err())
	}
	node, why, work, err := p.planner.place(pod)
	p.do(ctx, work)
	if err != nil {
		return nil, fwk.AsStatus(err)
	}
	state.Write(Name, decision(node))
	if node == "" {
		return nil, fwk.NewStatus(fwk.Unschedulable, why)
	}
	return &fwk.PreFilterResult{NodeNames: sets.New(node)}, nil
}

// PreFilterExtensions are none: other pods do not change what was decided.
func (p *Plugin) PreFilterExtensions() fwk.PreFilterExtensions { return nil }

// Filter refuses all nodes but the one that was decided. It is asked about others where a pod is nominated.
func (p *Plugin) Filter(_ context.Context, state fwk.CycleState, _ *v1.Pod, on fwk.NodeInfo) *fwk.Status {
	node, status := decided(state)
	if status == nil && on.Node().Name != node {
		return fwk.NewStatus(fwk.Unschedulable, "kaisched decided for node "+node)
	}
	return status
}

// PostFilter begins the evictions that the group of the pod waits for, and nominates the pod. If it was another plug-in
// that refused the node, a later session looks for another one.
func (p *Plugin) PostFilter(ctx context.Context, state fwk.CycleState, pod *v1.Pod, statuses fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	everywhere := statuses.Get("") // what holds for nodes without a status of their own
	if other := everywhere.Plugin(); other != "" && other != Name {
		p.do(ctx, p.planner.refuse(pod, "", everywhere.Message()))
		p.changed()
		return nil, fwk.NewStatus(fwk.Unschedulable)
	}
	if node, status := decided(state); status == nil && node != "" {
		seen, err := p.handle.SnapshotSharedLister().NodeInfos().Get(node)
		if err != nil || p.planner.lags(node, seen.GetPods()) {
			p.do(ctx, work{activate: []*v1.Pod{pod}}) // the place is kept, and the pod tried again
		} else if refused := statuses.Get(node); refused.Plugin() != "" && refused.Plugin() != Name {
			p.do(ctx, p.planner.refuse(pod, node, refused.Message()))
			p.changed()
		}
		return nil, fwk.NewStatus(fwk.Unschedulable)
	}
	node, work, err := p.planner.makeRoom(pod)
	p.do(ctx, work)
	if err != nil {
		return nil, fwk.AsStatus(err)
	}
	if node == "" {
		return nil, fwk.NewStatus(fwk.Unschedulable)
	}
	p.changed() // who leaves is part of the next session
	return &fwk.PostFilterResult{NominatingInfo: &fwk.NominatingInfo{NominatingMode: fwk.ModeOverride, NominatedNodeName: node}}, nil
}

// Score prefers the node that was decided, for profiles in which kaisched does not filter.
func (p *Plugin) Score(_ context.Context, state fwk.CycleState, _ *v1.Pod, on fwk.NodeInfo) (int64, *fwk.Status) {
	node, status := decided(state)
	if status == nil && on.Node().Name == node {
		return 1, nil
	}
	return 0, status
}

func (p *Plugin) ScoreExtensions() fwk.ScoreExtensions { return p }

func (p *Plugin) NormalizeScore(_ context.Context, _ fwk.CycleState, _ *v1.Pod, scores fwk.NodeScoreList) *fwk.Status {
	for i := range scores {
		scores[i].Score *= fwk.MaxScore
	}
	return nil
}

// Reserve takes the place, unless it has been withdrawn since PreFilter.
func (p *Plugin) Reserve(_ context.Context, _ fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	if !p.planner.reserve(pod, node) {
		return fwk.NewStatus(fwk.Unschedulable, "kaisched has withdrawn the place on node "+node)
	}
	return nil
}

// Unreserve gives the place back. Who waits for the pod in Permit gives theirs back as well.
func (p *Plugin) Unreserve(ctx context.Context, _ fwk.CycleState, pod *v1.Pod, node string) {
	p.do(ctx, p.planner.unreserve(pod, node))
	p.changed()
}

// Permit lets a pod wait until all who start with it have their places.
func (p *Plugin) Permit(ctx context.Context, _ fwk.CycleState, pod *v1.Pod, node string) (*fwk.Status, time.Duration) {
	open, known, wait, work := p.planner.permit(pod)
	p.do(ctx, work)
	switch {
	case !known:
		return fwk.NewStatus(fwk.Unschedulable, "kaisched has withdrawn the place on node "+node), 0
	case open:
		return nil, 0
	}
	return fwk.NewStatus(fwk.Wait), wait
}

func (p *Plugin) PreBindPreFlight(context.Context, fwk.CycleState, *v1.Pod, string) (*fwk.PreBindPreFlightResult, *fwk.Status) {
	return nil, nil
}

// PreBind looks once more whether the place is still there: its node may have gone while the pod waited.
func (p *Plugin) PreBind(_ context.Context, _ fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	if _, ok := p.planner.promised(pod, node); !ok {
		return fwk.NewStatus(fwk.Unschedulable, "kaisched has withdrawn the place on node "+node)
	}
	return nil
}

// Bind binds the pod and says in annotations of the binding, which become the pod's, which devices it has.
func (p *Plugin) Bind(ctx context.Context, _ fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	place, ok := p.planner.promised(pod, node)
	if !ok {
		return fwk.NewStatus(fwk.Skip)
	}
	binding := &v1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Target:     v1.ObjectReference{Kind: "Node", Name: node},
	}
	if len(place.devices) > 0 {
		binding.Annotations = map[string]string{devicesAnnotation: devicesText(place.devices), shareAnnotation: strconv.FormatInt(place.share, 10)}
	}
	var err error
	if cacher := p.handle.APICacher(); cacher != nil { // the scheduler sends its calls through a queue
		var done <-chan error
		if done, err = cacher.BindPod(binding); err == nil {
			err = cacher.WaitOnFinish(ctx, done)
		}
	} else {
		err = p.handle.ClientSet().CoreV1().Pods(pod.Namespace).Bind(ctx, binding, metav1.CreateOptions{})
	}
	if err != nil {
		return fwk.AsStatus(err)
	}
	return nil
}
