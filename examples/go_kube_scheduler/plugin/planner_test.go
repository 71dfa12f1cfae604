package plugin

import (
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func newTestPlanner(t *testing.T, change func(*Arguments)) *planner {
	t.Helper()
	var arguments Arguments
	if change != nil {
		change(&arguments)
	}
	arguments.complete()
	p, err := newPlanner("kaisched", &arguments)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.close)
	return p
}

func (p *planner) expect(t *testing.T, pod *v1.Pod, node, why string) {
	t.Helper()
	got, reason, _, err := p.place(pod)
	if err != nil || got != node || !strings.Contains(reason, why) {
		t.Errorf("%s: %q because of %q, want %q because of %q: %v", pod.Name, got, reason, node, why, err)
	}
}

// A pod of the same name as one that is gone is another pod, whether or not somebody told that the old one went.
func TestPodThatComesAgain(t *testing.T) {
	p := newTestPlanner(t, nil)
	p.setNode(node("n0", 8))
	old := podOf("a", 8, onNode("n0"))
	p.setPod(old)
	b := podOf("b", 8)
	p.expect(t, b, "", "gpu")
	p.removePod(b)
	again := podOf("a", 8)
	again.UID = types.UID("another")
	p.expect(t, again, "n0", "")
	p.removePod(old) // comes late and is about the old one
	c := podOf("c", 8)
	p.expect(t, c, "", "gpu")
	p.expect(t, again, "n0", "")
	third := podOf("a", 2) // the promise was to another pod
	third.UID, third.Spec.NodeSelector = types.UID("third"), map[string]string{"zone": "nowhere"}
	p.expect(t, third, "", "labels")
	p.expect(t, c, "n0", "") // who waited since
}

// Who has to leave is asked once, and its place counts as coming free; if the API server does not want that, the place
// is not promised to anybody, and the question comes again later.
func TestVictims(t *testing.T) {
	p := newTestPlanner(t, nil)
	now := time.Now()
	p.now = func() time.Time { return now }
	p.setNode(node("n0", 8))
	low, high := podOf("low", 8, onNode("n0"), withPriority(40)), podOf("high", 8, withPriority(90))
	p.setPod(low)
	evicts := func(want int) {
		t.Helper()
		p.expect(t, high, "", "a place comes free on node n0")
		node, work, err := p.makeRoom(high)
		if err != nil || node != "n0" || len(work.evict) != want || want == 1 && work.evict[0].Name != "low" {
			t.Errorf("room on %q by evicting %v, want %d: %v", node, work.evict, want, err)
		}
	}
	evicts(1)
	evicts(0)
	if len(p.plan.waits["default/high"].victims) != 0 {
		t.Error("a pod that leaves is a victim again")
	}
	p.stays(low)
	evicts(0)
	now = now.Add(mostHold)
	evicts(1)
	low = low.DeepCopy()
	deleted := metav1.Now()
	low.DeletionTimestamp = &deleted
	p.setPod(low)
	evicts(0)
	p.removePod(low)
	p.expect(t, high, "n0", "")
}

// An object that kaisched cannot take stops nobody else, and counts as soon as it is repaired.
func TestBadObject(t *testing.T) {
	p := newTestPlanner(t, nil)
	p.setNode(node("n0", 1))
	bad := node("n1", 8)
	bad.Status.Allocatable["memory"] = resource.MustParse("7Ei")
	p.setNode(bad)
	small, large := podOf("small", 1), podOf("large", 8)
	p.expect(t, small, "n0", "")
	p.expect(t, large, "", "the largest node has 1 GPU")
	stuck := podOf("stuck", 1, onNode("n1")) // its node is not there yet, for kaisched
	p.setPod(stuck)
	huge := podOf("huge", 0)
	huge.Spec.Containers[0].Resources.Requests["memory"] = resource.MustParse("7Ei")
	p.expect(t, huge, "", "is not in 0 .. 2^52")
	p.setNode(node("n1", 9))
	p.expect(t, large, "n1", "")
	p.expect(t, podOf("one", 1), "", "gpu") // the ninth is that of the pod that was stuck
}

// Nodes that come and go, with what is on them.
func TestNodeThatGoes(t *testing.T) {
	p := newTestPlanner(t, nil)
	p.setNode(node("n0", 8))
	runs, waits := podOf("runs", 4, onNode("n0")), podOf("waits", 4)
	p.setPod(runs)
	p.expect(t, waits, "n0", "")
	p.removeNode("n0")
	p.expect(t, waits, "", "")
	p.setNode(node("n0", 8))
	p.expect(t, waits, "n0", "")
	p.expect(t, podOf("third", 4), "", "gpu")
}

func TestArguments(t *testing.T) {
	for what, change := range map[string]func(*Arguments){
		"unknown preset":   func(a *Arguments) { a.Preset = "nothing" },
		"unknown option":   func(a *Arguments) { a.Options = map[string]string{"colour": "red"} },
		"preset as option": func(a *Arguments) { a.Options = map[string]string{"preset": "kai"} },
		"amount of a queue": func(a *Arguments) {
			a.Queues = []Queue{{Name: "q", Quota: map[string]resource.Quantity{"pods": resource.MustParse("1")}}}
		},
		"queue twice":    func(a *Arguments) { a.Queues = []Queue{{Name: "q"}, {Name: "q"}} },
		"unknown parent": func(a *Arguments) { a.Queues = []Queue{{Name: "q", Parent: "nobody"}} },
	} {
		var arguments Arguments
		change(&arguments)
		arguments.complete()
		if p, err := newPlanner("kaisched", &arguments); err == nil {
			p.close()
			t.Errorf("%s is accepted", what)
		}
	}
}

// A limit of a queue counts in GPUs, and its name and numbers come through.
func TestQueueLimit(t *testing.T) {
	p := newTestPlanner(t, func(a *Arguments) {
		a.Queues = []Queue{{Name: "q", Parent: "top", Limit: map[string]resource.Quantity{"gpu": resource.MustParse("2")}}, {Name: "top"}}
	})
	p.setNode(node("n0", 8))
	p.expect(t, podOf("a", 2, inQueue("q")), "n0", "")
	p.expect(t, podOf("b", 1, inQueue("q")), "", "queue 'q' would pass its limit: asks for 1 GPU, 0 GPU left")
	p.expect(t, podOf("c", 1, inQueue("top")), "", "") // only queues without children hold groups
}
