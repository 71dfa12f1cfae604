package plugin

import (
	"context"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
)

type (
	frameworkHandle = fwk.Handle
	frameworkPlugin = fwk.Plugin
)

// refuser is another plug-in of the profile: as long as it is on, it refuses a pod on one node, or everywhere.
type refuser struct {
	pod, node string
	on        atomic.Bool
	count     atomic.Int32
}

func (r *refuser) make(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) {
	return r, nil
}

func (r *refuser) Name() string { return "Refuser" }

func (r *refuser) refuse(pod *v1.Pod, node string) *fwk.Status {
	if r.on.Load() && pod.Name == r.pod && (r.node == "" || node == r.node) {
		r.count.Add(1)
		return fwk.NewStatus(fwk.Unschedulable, "refused by a test")
	}
	return nil
}

func (r *refuser) PreEnqueue(_ context.Context, pod *v1.Pod) *fwk.Status {
	return r.refuse(pod, r.node)
}

func (r *refuser) Filter(_ context.Context, _ fwk.CycleState, pod *v1.Pod, on fwk.NodeInfo) *fwk.Status {
	return r.refuse(pod, on.Node().Name)
}

func (r *refuser) Reserve(_ context.Context, _ fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	return r.refuse(pod, node)
}

func (r *refuser) Unreserve(context.Context, fwk.CycleState, *v1.Pod, string) {}
