package plugin

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kaisched.example/go/kaisched"
)

// Arguments are the `args` of the plug-in's `pluginConfig`.
type Arguments struct {
	metav1.TypeMeta `json:",inline"`

	// Preset and options of the engine, as `kaisched options` lists them. Unless `actions` is among them, sessions run
	// allocate, reclaim and preempt.
	Preset  string            `json:"preset,omitempty"`
	Options map[string]string `json:"options,omitempty"`

	// Queues by name; DefaultQueue takes groups that name none.
	Queues       []Queue `json:"queues,omitempty"`
	DefaultQueue string  `json:"defaultQueue,omitempty"`

	// How long pods of a gang wait for each other with their places held.
	GangTimeout metav1.Duration `json:"gangTimeout,omitempty"`
}

// Queue is one queue. Resources that quota or limit do not name are unlimited.
type Queue struct {
	Name     string                       `json:"name"`
	Parent   string                       `json:"parent,omitempty"`
	Priority *int64                       `json:"priority,omitempty"`
	Quota    map[string]resource.Quantity `json:"quota,omitempty"`
	Limit    map[string]resource.Quantity `json:"limit,omitempty"`
	Weight   *float64                     `json:"overQuotaWeight,omitempty"`
}

func (a *Arguments) complete() {
	if a.Preset == "" {
		a.Preset = "kai"
	}
	if a.DefaultQueue == "" {
		a.DefaultQueue = "default-queue"
	}
	if !slices.ContainsFunc(a.Queues, func(q Queue) bool { return q.Name == a.DefaultQueue }) {
		a.Queues = append(a.Queues, Queue{Name: a.DefaultQueue})
	}
	if a.GangTimeout.Duration <= 0 {
		a.GangTimeout.Duration = time.Minute
	}
}

func (a *Arguments) engine() (*kaisched.Engine, error) {
	options := []kaisched.Option{{Name: "preset", Value: a.Preset}, {Name: "actions", Value: "allocate,reclaim,preempt"}}
	names := make([]string, 0, len(a.Options))
	for name := range a.Options {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if name == "preset" {
			return nil, fmt.Errorf("preset is not an option here: it replaces all others, so it stands beside options")
		}
		options = append(options, kaisched.Option{Name: name, Value: a.Options[name]})
	}
	return kaisched.NewEngine(options...)
}

// queueTable has parents before children in any order of the arguments: within one table the library sorts that out.
func (a *Arguments) queueTable() (kaisched.Table, error) {
	var names, parents []string
	var priorities []int64
	var weights []float64
	var quotas, limits [][]int64
	for _, queue := range a.Queues {
		quota, err := queueAmounts(queue.Name, queue.Quota)
		if err != nil {
			return kaisched.Table{}, err
		}
		limit, err := queueAmounts(queue.Name, queue.Limit)
		if err != nil {
			return kaisched.Table{}, err
		}
		priority, weight := int64(100), 1.0
		if queue.Priority != nil {
			priority = *queue.Priority
		}
		if queue.Weight != nil {
			weight = *queue.Weight
		}
		names, parents, priorities = append(names, queue.Name), append(parents, queue.Parent), append(priorities, priority)
		quotas, limits = append(quotas, quota), append(limits, limit)
		weights = append(weights, weight, weight, weight)
	}
	return kaisched.Add(kaisched.Queues, kaisched.Texts(kaisched.QueueName, names), kaisched.Texts(kaisched.QueueParent, parents),
		kaisched.Ints(kaisched.QueuePriority, priorities), kaisched.Amounts(kaisched.QueueQuota, quotas),
		kaisched.Amounts(kaisched.QueueLimit, limits), kaisched.Floats(kaisched.QueueOverQuotaWeight, 3, weights)), nil
}

func queueAmounts(queue string, from map[string]resource.Quantity) ([]int64, error) {
	amounts := []int64{kaisched.CPU: kaisched.Unlimited, kaisched.Memory: kaisched.Unlimited, kaisched.GPU: kaisched.Unlimited}
	for name, quantity := range from {
		switch name {
		case "cpu":
			amounts[kaisched.CPU] = quantity.MilliValue()
		case "memory":
			amounts[kaisched.Memory] = quantity.Value()
		case "gpu":
			amounts[kaisched.GPU] = quantity.MilliValue()
		default:
			return nil, fmt.Errorf("queue %s: queues have amounts of cpu, memory and gpu, not of %s", queue, name)
		}
	}
	return amounts, nil
}
