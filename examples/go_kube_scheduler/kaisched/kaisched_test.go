package kaisched_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	ks "kaisched.example/go/kaisched"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Nodes n0, n1, ... of 8 GPUs, one queue, and for each job its pods, all of which must start together.
func clusterOf(t *testing.T, nodes int, gpus map[string][]int64) *ks.Cluster {
	t.Helper()
	cluster, err := ks.NewCluster()
	check(t, err)
	t.Cleanup(cluster.Close)
	var names []string
	var capacity [][]int64
	for i := range nodes {
		names = append(names, fmt.Sprint("n", i))
		capacity = append(capacity, []int64{64_000, 1 << 40, 8_000, 110})
	}
	var groups, queues, pods, of []string
	var least []int64
	var request [][]int64
	for group, list := range gpus {
		groups, queues, least = append(groups, group), append(queues, "team"), append(least, int64(len(list)))
		for i, gpu := range list {
			pods, of = append(pods, fmt.Sprint(group, "-", i)), append(of, group)
			request = append(request, []int64{1000, 1 << 30, gpu})
		}
	}
	check(t, cluster.Apply(
		ks.Add(ks.Nodes, ks.Texts(ks.NodeName, names), ks.Amounts(ks.NodeCapacity, capacity)),
		ks.Add(ks.Queues, ks.Texts(ks.QueueName, []string{"team"})),
		ks.Add(ks.PodGroups, ks.Texts(ks.PodGroupName, groups), ks.Texts(ks.PodGroupQueue, queues), ks.Ints(ks.PodGroupMinMember, least)),
		ks.Add(ks.Pods, ks.Texts(ks.PodName, pods), ks.Texts(ks.PodGroup, of), ks.Amounts(ks.PodRequest, request))))
	return cluster
}

func sessionOf(t *testing.T, cluster *ks.Cluster, options ...ks.Option) *ks.Session {
	t.Helper()
	engine, err := ks.NewEngine(options...)
	check(t, err)
	defer engine.Close()
	snapshot, err := cluster.Snapshot()
	check(t, err)
	defer snapshot.Close()
	session, err := engine.Open(snapshot, 0)
	check(t, err)
	t.Cleanup(session.Close) // a session outlives its engine and its snapshot
	return session
}

func placesOf(t *testing.T, session *ks.Session) map[string]string {
	t.Helper()
	decisions, err := session.Decisions()
	check(t, err)
	places := map[string]string{}
	for _, d := range decisions {
		if d.Kind == ks.Bind {
			places[d.Pod] = d.Node
		}
	}
	return places
}

// Texts, lists, numbers of every width and type come back as they were given.
func TestTablesComeBack(t *testing.T) {
	cluster, err := ks.NewCluster()
	check(t, err)
	defer cluster.Close()
	check(t, cluster.Apply(
		ks.Add(ks.Resources, ks.Texts(ks.ResourceName, []string{"example.com/wafer"})),
		ks.Add(ks.Nodes, ks.Texts(ks.NodeName, []string{"b", "ä"}), ks.Amounts(ks.NodeCapacity, [][]int64{{1, 2, 3000, 4, 5}, {6, 7}}),
			ks.Flags(ks.NodeReady, []bool{true, false}), ks.TextLists(ks.NodeLabels, [][]string{{"zone", "x", "empty", ""}, nil})),
		ks.Add(ks.Queues, ks.Texts(ks.QueueName, []string{"q"}), ks.Floats(ks.QueueOverQuotaWeight, 3, []float64{0.5, 1, 2})),
		ks.Add(ks.PodGroups, ks.Texts(ks.PodGroupName, []string{"g"}), ks.Texts(ks.PodGroupQueue, []string{"q"})),
		ks.Add(ks.Pods, ks.Texts(ks.PodName, []string{"p"}), ks.Texts(ks.PodGroup, []string{"g"}), ks.Amounts(ks.PodRequest, [][]int64{{1}}),
			ks.Texts(ks.PodNode, []string{"b"}), ks.Ints(ks.PodStatus, []int64{ks.Running}), ks.IntLists(ks.PodDevices, [][]int64{{-1}}),
			ks.Ints(ks.PodDeviceCount, []int64{0}))))
	snapshot, err := cluster.Snapshot()
	check(t, err)
	defer snapshot.Close()
	nodes, err := snapshot.Table(ks.Nodes)
	check(t, err)
	queues, err := snapshot.Table(ks.Queues)
	check(t, err)
	for _, one := range []struct{ got, want any }{
		{nodes.Rows, 2},
		{nodes.Texts(ks.NodeName), []string{"b", "ä"}},
		{nodes.Ints(ks.NodeCapacity), []int64{1, 2, 3000, 4, 5, 6, 7, 0, 0, 0}},
		{nodes.Ints(ks.NodeReady), []int64{1, 0}},
		{nodes.TextLists(ks.NodeLabels)[0], []string{"empty", "", "zone", "x"}},
		{len(nodes.TextLists(ks.NodeLabels)[1]), 0},
		{queues.Floats(ks.QueueOverQuotaWeight), []float64{0.5, 1, 2}},
		{nodes.Floats(ks.NodeName) == nil, true},
	} {
		if !reflect.DeepEqual(one.got, one.want) {
			t.Errorf("got %v, want %v", one.got, one.want)
		}
	}

	bytes, err := snapshot.Save()
	check(t, err)
	again, err := ks.LoadSnapshot(bytes)
	check(t, err)
	defer again.Close()
	first, err := snapshot.Digest()
	check(t, err)
	second, err := again.Digest()
	check(t, err)
	if first != second || len(first) != 64 {
		t.Errorf("digest %q became %q", first, second)
	}
	if _, err := ks.LoadSnapshot(bytes[:len(bytes)/2]); !errors.Is(err, ks.Argument) {
		t.Errorf("half a snapshot: %v", err)
	}
}

func TestErrors(t *testing.T) {
	cluster := clusterOf(t, 1, nil)
	name := func(kind ks.Kind, column ks.Column, values ...string) ks.Table {
		return ks.Add(kind, ks.Texts(column, values))
	}
	for what, one := range map[string]struct {
		err  error
		code ks.Code
		says string
	}{
		"a queue twice":      {cluster.Apply(name(ks.Queues, ks.QueueName, "team")), ks.Duplicate, "team"},
		"a missing column":   {cluster.Apply(name(ks.Nodes, ks.NodeName, "n")), ks.Argument, "capacity"},
		"an unknown column":  {cluster.Apply(ks.Add(ks.Queues, ks.Ints(4711, []int64{1}))), ks.Unsupported, ""},
		"an output table":    {cluster.Apply(ks.Add(ks.Decisions)), ks.Unsupported, ""},
		"texts for numbers":  {cluster.Apply(ks.Add(ks.Queues, ks.Texts(ks.QueuePriority, []string{"high"}))), ks.Argument, ""},
		"fractions":          {cluster.Apply(ks.Add(ks.Queues, ks.Texts(ks.QueueName, []string{"x"}), ks.Floats(ks.QueuePriority, 1, []float64{0.5}))), ks.Argument, ""},
		"300 in a byte":      {cluster.Apply(ks.Change(ks.Nodes, ks.Texts(ks.NodeName, []string{"n0"}), ks.Ints(ks.NodeReady, []int64{300}))), ks.Limit, "300"},
		"-1 in a byte":       {cluster.Apply(ks.Change(ks.Nodes, ks.Texts(ks.NodeName, []string{"n0"}), ks.Ints(ks.NodeReady, []int64{-1}))), ks.Limit, "-1"},
		"rows of two counts": {cluster.Apply(ks.Add(ks.Queues, ks.Texts(ks.QueueName, []string{"x"}), ks.Ints(ks.QueuePriority, []int64{1, 2}))), ks.Argument, "rows"},
		"an unknown option":  {cluster.SetOption(ks.Option{Name: "colour", Value: "red"}), ks.NotFound, "colour"},
	} {
		var failure *ks.Error
		if !errors.As(one.err, &failure) || failure.Code != one.code || !errors.Is(one.err, one.code) || !strings.Contains(one.err.Error(), one.says) {
			t.Errorf("%s: %v, want %v with %q", what, one.err, one.code, one.says)
		}
	}
	if _, err := ks.NewEngine(ks.Option{Name: "preset", Value: "nothing"}); !errors.Is(err, ks.Argument) && !errors.Is(err, ks.NotFound) {
		t.Errorf("an unknown preset: %v", err)
	}
	if _, err := cluster.Find(ks.PodEntity, "nobody"); !errors.Is(err, ks.NotFound) {
		t.Errorf("an unknown pod: %v", err)
	}
	if ks.NotFound.Error() != "not_found" {
		t.Errorf("a code is called %q", ks.NotFound.Error())
	}
}

// Calls on what was closed are errors, and closing twice is none.
func TestClosed(t *testing.T) {
	cluster := clusterOf(t, 1, map[string][]int64{"job": {1000}})
	engine, err := ks.NewEngine()
	check(t, err)
	snapshot, err := cluster.Snapshot()
	check(t, err)
	session, err := engine.Run(snapshot, 0)
	check(t, err)
	for range 2 {
		session.Close()
		snapshot.Close()
		engine.Close()
		cluster.Close()
	}
	_, decisions := session.Decisions()
	_, digest := snapshot.Digest()
	_, preset := engine.Get("preset")
	for what, err := range map[string]error{"session": decisions, "snapshot": digest, "engine": preset, "cluster": cluster.Apply(), "run": session.Run("")} {
		if !errors.Is(err, ks.Argument) {
			t.Errorf("%s that was closed: %v", what, err)
		}
	}
}

func TestDeltas(t *testing.T) {
	cluster := clusterOf(t, 1, map[string][]int64{"pair": {8000, 8000}})
	session := sessionOf(t, cluster)
	check(t, session.Run(""))
	reasons, err := session.Reasons()
	check(t, err)
	if len(placesOf(t, session)) != 0 || len(reasons) == 0 || reasons[0].Group != "pair" || reasons[0].Text == "" {
		t.Errorf("a gang of two started on one node: %v, %v", placesOf(t, session), reasons)
	}
	check(t, cluster.Apply(ks.Add(ks.Nodes, ks.Texts(ks.NodeName, []string{"n1"}), ks.Amounts(ks.NodeCapacity, [][]int64{{64_000, 1 << 40, 8_000, 110}}))))
	session = sessionOf(t, cluster)
	check(t, session.Run(""))
	if got := placesOf(t, session); len(got) != 2 || got["pair-0"] == got["pair-1"] {
		t.Errorf("a gang of two on two nodes: %v", got)
	}
	group, err := cluster.Find(ks.PodGroupEntity, "pair") // identifiers stand for names of others
	check(t, err)
	check(t, cluster.Apply(ks.Add(ks.Pods, ks.Texts(ks.PodName, []string{"pair-2"}), ks.IDs(ks.PodGroup, []ks.ID{group}), ks.Amounts(ks.PodRequest, [][]int64{{1}}))))
	session = sessionOf(t, cluster)
	check(t, session.Run(""))
	if got := placesOf(t, session); len(got) != 3 || got["pair-2"] == "" {
		t.Errorf("with a third pod: %v", got)
	}
	check(t, cluster.Apply(ks.Remove(ks.Pods, ks.Texts(ks.PodName, []string{"pair-0", "pair-1", "pair-2"})), ks.Remove(ks.PodGroups, ks.Texts(ks.PodGroupName, []string{"pair"}))))
	session = sessionOf(t, cluster)
	check(t, session.Run(""))
	if got, err := session.Decisions(); err != nil || len(got) != 0 {
		t.Errorf("decisions about nobody: %v, %v", got, err)
	}
}

// Operations by hand: what was undone leaves nothing, what was committed is decided.
func TestStatement(t *testing.T) {
	cluster := clusterOf(t, 2, map[string][]int64{"a": {8000}, "b": {8000}})
	id := func(kind ks.EntityKind, name string) ks.ID {
		found, err := cluster.Find(kind, name)
		check(t, err)
		return found
	}
	session := sessionOf(t, cluster)
	mark, err := session.Mark()
	check(t, err)
	place := func(pod, node string) bool {
		placed, err := session.Allocate(id(ks.PodEntity, pod), id(ks.NodeEntity, node))
		check(t, err)
		return placed
	}
	if !place("a-0", "n0") || place("b-0", "n0") {
		t.Error("n0 takes one pod, and one only")
	}
	check(t, session.Rollback(mark))
	if !place("b-0", "n0") {
		t.Error("n0 is not free after the rollback")
	}
	check(t, session.Commit())
	if err := session.Rollback(mark); !errors.Is(err, ks.State) {
		t.Errorf("a checkpoint of a statement that was committed: %v", err)
	}
	if got := placesOf(t, session); len(got) != 1 || got["b-0"] != "n0" {
		t.Errorf("decided: %v", got)
	}
}

// Forks and questions change nothing, from several goroutines at once.
func TestQuestions(t *testing.T) {
	cluster := clusterOf(t, 2, map[string][]int64{"a": {8000}, "b": {8000, 8000}, "c": {4000, 4000, 4000}})
	session := sessionOf(t, cluster)
	before, err := session.Digest()
	check(t, err)
	var groups []ks.ID
	for _, name := range []string{"a", "b", "c"} {
		id, err := cluster.Find(ks.PodGroupEntity, name)
		check(t, err)
		groups = append(groups, id)
	}
	want, err := session.Ask("allocate", groups...)
	check(t, err)
	if len(want[0]) != 1 || len(want[1]) != 2 || len(want[2]) != 3 || want[1][0].Group != "b" {
		t.Errorf("each alone could start: %v", want)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			for i, group := range groups {
				fork, err := session.Fork()
				if err != nil {
					t.Error(err)
					return
				}
				if err := fork.RunGroup("allocate", group); err != nil {
					t.Error(err)
				}
				got, err := fork.Decisions()
				if i := slices.IndexFunc(got, func(d ks.Decision) bool { return d.Kind == ks.Unschedulable }); i >= 0 {
					got = got[:i] // the others wait; questions do not mention them
				}
				if err != nil || !reflect.DeepEqual(got, want[i]) {
					t.Errorf("a fork decides %v, the question said %v: %v", got, want[i], err)
				}
				fork.Close()
			}
		}()
	}
	all.Wait()
	if after, err := session.Digest(); err != nil || after != before {
		t.Errorf("questions changed the session: %s, %s, %v", before, after, err)
	}
}

func TestCancel(t *testing.T) {
	session := sessionOf(t, clusterOf(t, 1, map[string][]int64{"a": {1000}}))
	session.Cancel()
	if err := session.Run(""); !errors.Is(err, ks.Cancelled) {
		t.Errorf("after Cancel: %v", err)
	}
	check(t, session.Run(""))
	if len(placesOf(t, session)) != 1 {
		t.Error("the run after the cancelled one decides nothing")
	}
}

func TestObjects(t *testing.T) {
	const text = `
{"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "8", "memory": "64Gi", "nvidia.com/gpu": 1, "pods": 110}}}
{"kind": "Node", "metadata": {"name": "broken"}, "status": {"allocatable": {"cpu": "eight"}}}
{"kind": "Pod", "metadata": {"name": "p", "namespace": "team"}, "spec": {"schedulerName": "ours",
  "containers": [{"name": "main", "resources": {"requests": {"nvidia.com/gpu": 1}}}]}}`
	objects, err := ks.ReadObjects([]byte(text), ks.Option{Name: "scheduler", Value: "ours"}, ks.Option{Name: "now", Value: "5"})
	check(t, err)
	defer objects.Close()
	now, err := objects.Now()
	check(t, err)
	faults, err := objects.Faults()
	check(t, err)
	if now != 5 || len(faults) != 1 || !strings.Contains(faults[0], "eight") {
		t.Errorf("now %d, faults %q", now, faults)
	}
	cluster, err := ks.NewCluster()
	check(t, err)
	defer cluster.Close()
	check(t, cluster.SetOption(ks.Option{Name: "on_invalid", Value: "quarantine"}))
	check(t, objects.Apply(cluster))
	session := sessionOf(t, cluster)
	check(t, session.Run(""))
	actions, err := objects.Actions(session, "kubernetes")
	check(t, err)
	if !strings.Contains(actions, `"Binding"`) || !strings.HasSuffix(strings.TrimSpace(actions), "}") {
		t.Errorf("actions: %s", actions)
	}
	if _, err := ks.ReadObjects([]byte("{"), ks.Option{}); err == nil {
		t.Error("no JSON is no error")
	}
}
