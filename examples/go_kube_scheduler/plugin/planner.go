package plugin

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"kaisched.example/go/kaisched"
)

const (
	// How long a group is left alone after a failure, or a node is left out for a pod that another plug-in refused there:
	// at first, doubled each time, at most.
	leastHold = time.Second
	mostHold  = time.Minute
)

// planner decides for the whole cluster in one session, and remembers the outcome until the scheduler has asked for
// each pod. What starts is promised at once and for all pods of a commit: the mirror has them as pods that are being
// bound, so that no later session gives their places away while the scheduler goes through them one by one.
type planner struct {
	mu      sync.Mutex
	mirror  *mirror
	engine  *kaisched.Engine
	now     func() time.Time
	timeout time.Duration

	stale   bool // decisions are older than promises or times
	plan    plan
	ranks   atomic.Pointer[map[string]int64] // of groups: their order; read under the lock of the scheduler's queue
	timed   map[string]bool                  // pods that something ends for
	batches map[string][]*batch              // of groups, in the order in which they were decided
	holds   map[string]time.Duration
	count   int64 // of batches

	// What others have to hear about, collected under the lock and done without it.
	todo work
}

// plan is what the last session said about pods and groups that wait.
type plan struct {
	waits   map[string]*exchange // by pod: places that come free
	reasons map[string]string    // by group: sentences
	stands  map[string]string    // by group: what stands in its way, without the numbers of the sentences
}

// exchange is a commit in which pods wait for the places of others.
type exchange struct {
	nodes   map[string]string // by pod that waits
	victims []string
	begun   bool
}

// promise is a place that a pod has been given and does not have yet.
type promise struct {
	key      string
	node     string
	devices  []int64
	share    int64
	batch    *batch
	reserved bool
}

// batch is what starts together: the promises of one commit.
type batch struct {
	group    string
	number   int64
	promises map[string]*promise
	open     bool // all of it may be bound
	deadline time.Time
}

// work is what follows from changes of the plan, for those who can tell the scheduler and the API server.
type work struct {
	activate []*v1.Pod // have a place now, or somebody has to make one
	allow    []*v1.Pod // wait in Permit for others who are there now
	reject   []*v1.Pod // wait in Permit for others who will not come
	evict    []*v1.Pod
}

func newPlanner(scheduler string, arguments *Arguments) (*planner, error) {
	engine, err := arguments.engine()
	if err != nil {
		return nil, err
	}
	mirror, err := newMirror(scheduler, arguments)
	if err != nil {
		engine.Close()
		return nil, err
	}
	p := &planner{mirror: mirror, engine: engine, now: time.Now, timeout: arguments.GangTimeout.Duration, stale: true,
		timed: map[string]bool{}, batches: map[string][]*batch{}, holds: map[string]time.Duration{}}
	p.ranks.Store(&map[string]int64{})
	return p, nil
}

func (p *planner) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.engine.Close()
	p.mirror.cluster.Close()
}

// ---- what happens in the cluster ------------------------------------------------------------------------------------

func (p *planner) setNode(node *v1.Node) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mirror.setNode(node)
}

func (p *planner) removeNode(name string) work {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mirror.removeNode(name)
	for key, state := range p.mirror.pods {
		if state.told != nil && state.told.node == name {
			p.withdraw(key, "node "+name+" is gone")
		}
	}
	return p.take()
}

func (p *planner) setPod(pod *v1.Pod) work {
	p.mu.Lock()
	defer p.mu.Unlock()
	if replaced := p.setPodLocked(pod); replaced != nil {
		p.forget(replaced)
	}
	return p.take()
}

func (p *planner) setPodLocked(pod *v1.Pod) *podState {
	state, replaced := p.mirror.setPod(pod)
	if pod.Spec.NodeName != "" && state.told != nil { // the API server knows it now
		p.settle(state)
	}
	return replaced
}

func (p *planner) removePod(pod *v1.Pod) work {
	p.mu.Lock()
	defer p.mu.Unlock()
	if state := p.mirror.pods[keyOf(pod)]; state != nil && state.pod.UID == pod.UID {
		p.mirror.removePod(keyOf(pod))
		p.forget(state)
	}
	return p.take()
}

// forget a pod that is gone: a gang that was about to start lacks a member.
func (p *planner) forget(state *podState) {
	if state.told == nil {
		return
	}
	if of := state.told.batch; !of.open {
		p.drop(of, "pod "+keyOf(state.pod)+" is gone", false)
	} else {
		p.settle(state)
	}
}

// ---- deciding -------------------------------------------------------------------------------------------------------

// refresh runs a session if anything has changed since the last one.
func (p *planner) refresh() error {
	now := p.now()
	p.expire(now)
	changed, err := p.mirror.flush(now)
	if err != nil {
		return err
	}
	if !changed && !p.stale {
		return nil
	}
	snapshot, err := p.mirror.cluster.Snapshot()
	if err != nil {
		return err
	}
	defer snapshot.Close()
	if err := p.mirror.readQuarantine(snapshot); err != nil {
		return err
	}
	session, err := p.engine.Run(snapshot, now.UnixNano())
	if err != nil {
		return fmt.Errorf("deciding: %w", err)
	}
	defer session.Close()
	decisions, err := session.Decisions()
	if err != nil {
		return err
	}
	reasons, err := session.Reasons()
	if err != nil {
		return err
	}
	p.stale = false
	p.adopt(decisions, reasons, now)
	// What was promised and who leaves is part of the model from now on; the plan holds without another session.
	_, err = p.mirror.flush(now)
	return err
}

func (p *planner) adopt(decisions []kaisched.Decision, reasons []kaisched.Reason, now time.Time) {
	old := p.plan
	p.plan = plan{waits: map[string]*exchange{}, reasons: map[string]string{}, stands: map[string]string{}}
	ranks := map[string]int64{}
	for group, list := range p.batches { // who has a place already comes before those who get one now
		ranks[group] = list[0].number - p.count - 1
	}
	for from := 0; from < len(decisions); {
		to := from + 1
		for to < len(decisions) && decisions[from].Commit != 0 && decisions[to].Commit == decisions[from].Commit {
			to++
		}
		p.adoptCommit(decisions[from:to], now)
		from = to
	}
	for i, decision := range decisions {
		if _, ranked := ranks[decision.Group]; !ranked {
			ranks[decision.Group] = int64(i)
		}
	}
	p.ranks.Store(&ranks)
	for _, reason := range reasons {
		p.plan.stands[reason.Group] += reason.Constraint + " "
		if text := p.plan.reasons[reason.Group]; text != "" {
			p.plan.reasons[reason.Group] = text + "; " + reason.Text
		} else {
			p.plan.reasons[reason.Group] = reason.Text
		}
	}
	for group, now := range p.plan.stands { // who waits for another reason now should say so
		if before, waited := old.stands[group]; waited && before != now {
			for _, state := range p.mirror.members[group] {
				p.todo.activate = append(p.todo.activate, state.pod)
			}
		}
	}
	for key, wait := range p.plan.waits {
		before := old.waits[key]
		if len(wait.victims) > 0 || before == nil || before.nodes[key] != wait.nodes[key] {
			p.todo.activate = append(p.todo.activate, p.mirror.pods[key].pod)
		}
	}
}

func (p *planner) adoptCommit(commit []kaisched.Decision, now time.Time) {
	trade := &exchange{nodes: map[string]string{}}
	for _, decision := range commit {
		switch decision.Kind {
		case kaisched.Pipeline:
			trade.nodes[decision.Pod] = decision.Node
		case kaisched.Evict, kaisched.Move: // whoever owns a pod that moves makes a new one, which is placed then
			trade.victims = append(trade.victims, decision.Pod)
		}
	}
	if len(trade.nodes) == 0 {
		p.evict(trade.victims)
		p.promise(commit, now)
		return
	}
	// Some of the places come free later, and a commit stands or falls together: all of it waits.
	for key := range trade.nodes {
		p.plan.waits[key] = trade
	}
}

// promise makes batches of what starts: one for each group of the commit.
func (p *planner) promise(commit []kaisched.Decision, now time.Time) {
	made := map[string]*batch{}
	for _, decision := range commit {
		state := p.mirror.pods[decision.Pod]
		if decision.Kind != kaisched.Bind || state == nil || state.told != nil {
			continue
		}
		of := made[decision.Group]
		if of == nil {
			p.count++
			of = &batch{group: decision.Group, number: p.count, promises: map[string]*promise{}, deadline: now.Add(p.timeout)}
			made[decision.Group] = of
			p.batches[decision.Group] = append(p.batches[decision.Group], of)
		}
		state.told = &promise{key: decision.Pod, node: decision.Node, devices: decision.Devices, share: decision.Share, batch: of}
		of.promises[decision.Pod] = state.told
		p.mirror.dirtyPods[decision.Pod] = true
		p.todo.activate = append(p.todo.activate, state.pod)
	}
}

// evict marks pods as leaving. Who has a promise only loses that.
func (p *planner) evict(victims []string) {
	for _, key := range victims {
		state := p.mirror.pods[key]
		if state == nil {
			continue
		}
		if state.pod.Spec.NodeName == "" && state.told != nil && !state.told.batch.open {
			p.withdraw(key, "its place was taken by somebody who is more entitled to it")
			continue
		}
		if state.evicted || state.pod.DeletionTimestamp != nil || p.now().Before(state.staysUntil) {
			continue
		}
		state.evicted = true
		p.mirror.dirtyPods[key] = true
		p.todo.evict = append(p.todo.evict, state.pod)
	}
}

// stays: the API server has refused to delete the pod.
func (p *planner) stays(pod *v1.Pod) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if state := p.mirror.pods[keyOf(pod)]; state != nil && state.pod.UID == pod.UID {
		state.evicted, state.staysUntil = false, p.now().Add(mostHold)
		p.timed[keyOf(pod)] = true
		p.mirror.dirtyPods[keyOf(pod)] = true
	}
}

// ---- promises -------------------------------------------------------------------------------------------------------

// settle ends a promise: it has been kept, or its pod is gone.
func (p *planner) settle(state *podState) {
	of := state.told.batch
	delete(of.promises, state.told.key)
	state.told = nil
	if len(of.promises) == 0 {
		p.remove(of)
		if of.open {
			delete(p.holds, of.group)
		}
	}
	p.openBatches(of.group)
}

func (p *planner) remove(one *batch) {
	list := slices.DeleteFunc(p.batches[one.group], func(other *batch) bool { return other == one })
	if len(list) == 0 {
		delete(p.batches, one.group)
	} else {
		p.batches[one.group] = list
	}
}

// openBatches lets pods of a group go on, commit by commit, as soon as all pods of the commit have their places.
func (p *planner) openBatches(group string) {
	for _, one := range p.batches[group] {
		for _, promise := range one.promises {
			if !promise.reserved {
				return
			}
		}
		if !one.open {
			one.open = true
			for key := range one.promises {
				p.todo.allow = append(p.todo.allow, p.mirror.pods[key].pod)
			}
		}
	}
}

// withdraw takes back the place of one pod, and of all who were to start with it unless they are on their way.
func (p *planner) withdraw(key, why string) {
	state := p.mirror.pods[key]
	if state == nil || state.told == nil {
		return
	}
	if of := state.told.batch; of.open {
		p.settle(state)
		p.mirror.dirtyPods[key] = true
	} else {
		p.drop(of, why, false)
	}
}

// drop takes back the places of a batch and of those that were to follow it. A group that failed is left alone for a
// while, so that others get a chance and the scheduler does not turn in circles.
func (p *planner) drop(first *batch, why string, failed bool) {
	now := p.now()
	var until time.Time
	if failed {
		hold := min(max(2*p.holds[first.group], leastHold), mostHold)
		p.holds[first.group] = hold
		until = now.Add(hold)
		for key, state := range p.mirror.members[first.group] {
			state.heldUntil, state.heldFor = until, why
			p.timed[key] = true
			p.mirror.dirtyPods[key] = true
		}
	}
	for _, one := range slices.Clone(p.batches[first.group]) {
		if one.number < first.number || one.open {
			continue
		}
		for key, promise := range one.promises {
			state := p.mirror.pods[key]
			if state != nil && state.told == promise {
				state.told = nil
				p.mirror.dirtyPods[key] = true
				if promise.reserved {
					p.todo.reject = append(p.todo.reject, state.pod)
				}
			}
		}
		p.remove(one)
	}
	p.stale = true
}

// expire ends what has lasted too long.
func (p *planner) expire(now time.Time) {
	for _, list := range p.batches {
		for _, one := range slices.Clone(list) {
			if !one.open && now.After(one.deadline) {
				p.drop(one, "not all pods of the gang were reserved in time", true)
				break
			}
		}
	}
	for key := range p.timed {
		state := p.mirror.pods[key]
		if state == nil || !state.expire(now) {
			delete(p.timed, key)
			p.stale = true
		}
		p.mirror.dirtyPods[key] = true
	}
}

// expire ends what has lasted long enough and tells whether something is left.
func (s *podState) expire(now time.Time) bool {
	if !now.Before(s.heldUntil) {
		s.heldUntil, s.heldFor = time.Time{}, ""
	}
	if !now.Before(s.staysUntil) {
		s.staysUntil = time.Time{}
	}
	maps.DeleteFunc(s.refused, func(_ string, until time.Time) bool { return !now.Before(until) })
	return !s.heldUntil.IsZero() || !s.staysUntil.IsZero() || len(s.refused) > 0
}

func (p *planner) take() work {
	todo := p.todo
	p.todo = work{}
	return todo
}

// ---- what the scheduler asks ----------------------------------------------------------------------------------------

// place is the node for a pod, or "" and why there is none.
func (p *planner) place(pod *v1.Pod) (node, why string, work work, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if state := p.mirror.pods[keyOf(pod)]; state == nil || state.pod.UID != pod.UID { // the queue may know it before us
		if replaced := p.setPodLocked(pod); replaced != nil {
			p.forget(replaced)
		}
	}
	if err = p.refresh(); err != nil {
		return "", "", p.take(), err
	}
	if state := p.mirror.pods[keyOf(pod)]; state.told != nil {
		node = state.told.node
	} else {
		why = p.why(state)
	}
	work = p.take()
	work.activate = slices.DeleteFunc(work.activate, func(one *v1.Pod) bool { return one.UID == pod.UID })
	return
}

func (p *planner) why(state *podState) string {
	if !state.heldUntil.IsZero() {
		return "tried again later: " + state.heldFor
	}
	key := keyOf(state.pod)
	if wait := p.plan.waits[key]; wait != nil {
		return "a place comes free on node " + wait.nodes[key]
	}
	if left, bad := p.mirror.quarantine["pod "+key]; bad {
		return left.text
	}
	if left, bad := p.mirror.quarantine["pod_group "+state.group]; bad {
		return left.text
	}
	if row, known := p.mirror.groupRow(state.group); !known {
		return fmt.Sprintf("queue '%s' does not exist", row.queue)
	}
	if text := p.plan.reasons[state.group]; text != "" {
		return text
	}
	return "kaisched has not decided about the pod"
}

// reserve notes that the scheduler has taken the place of a pod.
func (p *planner) reserve(pod *v1.Pod, node string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	state := p.mirror.pods[keyOf(pod)]
	if state == nil || state.told == nil || state.pod.UID != pod.UID || state.told.node != node {
		return false
	}
	state.told.reserved = true
	return true
}

// unreserve gives the place back, and those of the gang.
func (p *planner) unreserve(pod *v1.Pod, node string) work {
	p.mu.Lock()
	defer p.mu.Unlock()
	state := p.mirror.pods[keyOf(pod)]
	if state != nil && state.told != nil && state.pod.UID == pod.UID && state.told.node == node && state.told.reserved {
		state.told.reserved = false // the scheduler has forgotten it already
		if of := state.told.batch; of.open {
			p.settle(state)
			p.mirror.dirtyPods[keyOf(pod)] = true
		} else {
			p.drop(of, "pod "+keyOf(pod)+" could not keep its place on node "+node, true)
		}
	}
	return p.take()
}

// permit tells whether a pod may be bound, or waits for its gang, and for how long.
func (p *planner) permit(pod *v1.Pod) (open, known bool, wait time.Duration, work work) {
	p.mu.Lock()
	defer p.mu.Unlock()
	state := p.mirror.pods[keyOf(pod)]
	if state == nil || state.told == nil || !state.told.reserved {
		return false, false, 0, work
	}
	p.openBatches(state.group)
	work = p.take()
	work.allow = slices.DeleteFunc(work.allow, func(one *v1.Pod) bool { return one.UID == pod.UID })
	return state.told.batch.open, true, max(state.told.batch.deadline.Sub(p.now()), time.Millisecond), work
}

// promised is the place of a pod that may be bound.
func (p *planner) promised(pod *v1.Pod, node string) (place promise, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	state := p.mirror.pods[keyOf(pod)]
	if state == nil || state.told == nil || state.pod.UID != pod.UID || state.told.node != node || !state.told.batch.open {
		return place, false
	}
	return *state.told, true
}

// lags tells whether the scheduler still sees pods on a node of which we know that they are gone. Each of us hears of
// events on its own, and what other plug-ins say about such a node is no refusal.
func (p *planner) lags(node string, seen []fwk.PodInfo) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range seen {
		pod := one.GetPod()
		state := p.mirror.pods[keyOf(pod)]
		if state == nil || state.pod.UID != pod.UID || isFinished(state.pod) || state.pod.Spec.NodeName != node && (state.told == nil || state.told.node != node) {
			return true
		}
	}
	return false
}

// refuse notes that another plug-in does not want the pod on the node it was promised, or nowhere at all (node = "").
func (p *planner) refuse(pod *v1.Pod, node, why string) work {
	p.mu.Lock()
	defer p.mu.Unlock()
	state := p.mirror.pods[keyOf(pod)]
	if state == nil || state.told == nil {
		return p.take()
	}
	if node != "" {
		if state.refused == nil {
			state.refused = map[string]time.Time{}
		}
		state.refusals++
		state.refused[node] = p.now().Add(min(leastHold<<min(state.refusals, 10), mostHold))
		p.timed[keyOf(pod)] = true
		p.mirror.dirtyPods[keyOf(pod)] = true
	}
	p.drop(state.told.batch, strings.TrimSpace("another plug-in refused "+keyOf(pod)+": "+why), node == "")
	return p.take()
}

// makeRoom begins the evictions that a pod waits for and gives the node where it will be; "" if it waits for none.
func (p *planner) makeRoom(pod *v1.Pod) (node string, work work, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err = p.refresh(); err != nil {
		return "", p.take(), err
	}
	if wait := p.plan.waits[keyOf(pod)]; wait != nil {
		node = wait.nodes[keyOf(pod)]
		if !wait.begun {
			wait.begun = true
			p.evict(wait.victims)
		}
	}
	return node, p.take(), nil
}

// less tells whether a comes before b in the order in which groups were served; those that no session has seen follow
// by priority and age.
func (p *planner) less(a, b *v1.Pod, aSince, bSince time.Time) bool {
	aGroup, bGroup := groupName(a), groupName(b)
	ranks := *p.ranks.Load()
	aRank, aKnown := ranks[aGroup]
	bRank, bKnown := ranks[bGroup]
	switch {
	case aKnown != bKnown:
		return aKnown
	case aKnown && aRank != bRank:
		return aRank < bRank
	case !aKnown && priorityOf(a) != priorityOf(b):
		return priorityOf(a) > priorityOf(b)
	case aGroup != bGroup && !aSince.Equal(bSince):
		return aSince.Before(bSince)
	case aGroup != bGroup:
		return aGroup < bGroup
	}
	return keyOf(a) < keyOf(b)
}

func priorityOf(pod *v1.Pod) int32 {
	if pod.Spec.Priority == nil {
		return 0
	}
	return *pod.Spec.Priority
}

// step is what the background does: it decides if something has changed.
func (p *planner) step() (work, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.refresh()
	return p.take(), err
}
