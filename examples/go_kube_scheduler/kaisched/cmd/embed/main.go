// Embeds the scheduler in a Go program: describe a cluster with tables, run once, read decisions and reasons.
//
// Four nodes with 8 GPUs each and two queues. A service runs; a gang, notebooks that share GPUs and jobs that cannot
// start wait for a place. Then somebody asks what reclaim would do for one of them, which changes nothing.
package main

import (
	"fmt"
	"log"
	"time"

	"kaisched.example/go/kaisched"
)

const gib = int64(1) << 30

type job struct {
	name, queue string
	priority    int64
	pods        int
	milliGPUs   int64 // of each pod
	running     bool  // pod i runs on node i already
}

var jobs = []job{
	{"crawl", "research", 50, 3, 8000, true},     // holds more than the quota of its queue
	{"pretrain", "research", 50, 2, 8000, false}, // a gang of two whole nodes, where one is left
	{"notebook", "vision", 75, 3, 500, false},    // two pods share a GPU
	{"detector", "vision", 50, 2, 4000, false},   // one would fit, both do not
	{"giant", "vision", 50, 1, 16000, false},     // larger than any node
}

func nodes() kaisched.Table {
	var names []string
	var capacity [][]int64
	for i := range 4 {
		names = append(names, fmt.Sprintf("node-%d", i))
		capacity = append(capacity, []int64{kaisched.CPU: 128_000, kaisched.Memory: 1024 * gib, kaisched.GPU: 8 * kaisched.WholeDevice, kaisched.PodSlots: 110})
	}
	return kaisched.Add(kaisched.Nodes, kaisched.Texts(kaisched.NodeName, names), kaisched.Amounts(kaisched.NodeCapacity, capacity))
}

func queues() kaisched.Table {
	free := kaisched.Unlimited
	return kaisched.Add(kaisched.Queues,
		kaisched.Texts(kaisched.QueueName, []string{"research", "vision"}),
		kaisched.Amounts(kaisched.QueueQuota, [][]int64{{free, free, 16_000}, {free, free, 16_000}}))
}

func podGroups() kaisched.Table {
	var names, queues []string
	var priority, least, created []int64
	for i, j := range jobs {
		names, queues = append(names, j.name), append(queues, j.queue)
		priority, least = append(priority, j.priority), append(least, int64(j.pods))
		created = append(created, int64(i)*int64(time.Second))
	}
	return kaisched.Add(kaisched.PodGroups, kaisched.Texts(kaisched.PodGroupName, names), kaisched.Texts(kaisched.PodGroupQueue, queues),
		kaisched.Ints(kaisched.PodGroupPriority, priority), kaisched.Ints(kaisched.PodGroupMinMember, least),
		kaisched.Ints(kaisched.PodGroupCreated, created))
}

func pods() kaisched.Table {
	var names, groups, nodes []string
	var request [][]int64
	var status []int64
	for _, j := range jobs {
		for i := range j.pods {
			node, state := "", kaisched.Pending
			if j.running {
				node, state = fmt.Sprintf("node-%d", i), kaisched.Running
			}
			names, groups, nodes = append(names, fmt.Sprintf("%s-%d", j.name, i)), append(groups, j.name), append(nodes, node)
			request = append(request, []int64{8 * j.milliGPUs, j.milliGPUs * gib / 20, j.milliGPUs})
			status = append(status, state)
		}
	}
	return kaisched.Add(kaisched.Pods, kaisched.Texts(kaisched.PodName, names), kaisched.Texts(kaisched.PodGroup, groups),
		kaisched.Texts(kaisched.PodNode, nodes), kaisched.Amounts(kaisched.PodRequest, request), kaisched.Ints(kaisched.PodStatus, status))
}

func run() error {
	engine, err := kaisched.NewEngine(kaisched.Option{Name: "preset", Value: "kai"}, kaisched.Option{Name: "actions", Value: "allocate"})
	if err != nil {
		return err
	}
	defer engine.Close()
	cluster, err := kaisched.NewCluster()
	if err != nil {
		return err
	}
	defer cluster.Close()
	if err := cluster.Apply(nodes(), queues(), podGroups(), pods()); err != nil {
		return err
	}
	snapshot, err := cluster.Snapshot()
	if err != nil {
		return err
	}
	defer snapshot.Close()
	session, err := engine.Run(snapshot, int64(time.Minute))
	if err != nil {
		return err
	}
	defer session.Close()

	decisions, err := session.Decisions()
	if err != nil {
		return err
	}
	for _, d := range decisions {
		if d.Kind == kaisched.Bind {
			fmt.Printf("start %s on %s, %d of 1000 of GPU %v\n", d.Pod, d.Node, d.Share, d.Devices)
		}
	}
	reasons, err := session.Reasons()
	if err != nil {
		return err
	}
	for _, r := range reasons {
		fmt.Printf("wait %s (%s): %s\n", r.Group, r.Constraint, r.Text)
	}
	shares, err := session.QueueShares()
	if err != nil {
		return err
	}
	for _, q := range shares {
		fmt.Printf("queue %s holds %.1f GPUs, fair share %.1f\n", q.Queue, float64(q.Allocated[kaisched.GPU])/1000, float64(q.FairShare[kaisched.GPU])/1000)
	}

	detector, err := cluster.Find(kaisched.PodGroupEntity, "detector")
	if err != nil {
		return err
	}
	answers, err := session.Ask("reclaim", detector)
	if err != nil {
		return err
	}
	for _, d := range answers[0] {
		switch d.Kind {
		case kaisched.Evict:
			fmt.Printf("reclaim for detector would stop %s on %s\n", d.Pod, d.Node)
		case kaisched.Pipeline:
			fmt.Printf("reclaim for detector would promise %s a place on %s\n", d.Pod, d.Node)
		}
	}
	return nil
}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}
