package repository

import (
	"slices"
	"time"

	"github.com/situationd/situationd/mqengine/object"
)

// Known says how far the clusters have been asked for a name.
type Known int

// The states of a question.
const (
	KnownNo      Known = iota // asked, or nobody there to ask; no answer yet
	KnownAnswer               // every cluster's full repository has answered
	KnownNowhere              // this queue manager is in no cluster
)

// MaxAsked is how many names a partial repository asks for in all its clusters.
// A subscription lives for 30 days, and anybody who may open queues makes them.
const MaxAsked = 100_000

// Ask makes sure that a queue's or queue manager's name is known, as the first
// open does: where this is a partial repository it subscribes. The
// subscription stays in use, so it will be renewed. Nobody is asked for what is
// no name: a full repository would refuse the command, with every other name in it.
// Beyond MaxAsked no new name is asked for, and stays without an answer.
func (r *Repository) Ask(now time.Time, name string, fx *Effects) Known {
	clusters := r.Clusters()
	if len(clusters) == 0 {
		return KnownNowhere
	}
	known := KnownAnswer
	if object.CheckQueueName(name) != nil {
		return known
	}
	for _, c := range clusters {
		if r.IsFull(c) {
			continue
		}
		k := askKey{c, name}
		if r.asks[k] == nil && len(r.asks) >= MaxAsked || !r.ask(now, k, fx).answered {
			known = KnownNo
		}
	}
	return known
}

// Asked tells without asking.
func (r *Repository) Asked(name string) Known {
	clusters := r.Clusters()
	if len(clusters) == 0 {
		return KnownNowhere
	}
	if object.CheckQueueName(name) != nil {
		return KnownAnswer
	}
	for _, c := range clusters {
		if a := r.asks[askKey{c, name}]; !r.IsFull(c) && (a == nil || !a.answered) {
			return KnownNo
		}
	}
	return KnownAnswer
}

func (r *Repository) ask(now time.Time, k askKey, fx *Effects) *ask {
	if a := r.asks[k]; a != nil {
		if !a.used {
			a.used = true
			fx.Sets = append(fx.Sets, storeAsk(k, a))
		}
		return a
	}
	a := &ask{used: true}
	r.asks[k] = a
	r.subscribeFor(now, k.cluster, []string{k.name}, fx)
	return a
}

// subscribeFor sends subscriptions and starts their lives.
func (r *Repository) subscribeFor(now time.Time, cluster string, names []string, fx *Effects) {
	for _, name := range names {
		k := askKey{cluster, name}
		a := r.asks[k]
		a.renewAt, a.expires = now.Add(RenewAfter), now.Add(Lifetime)
		fx.Sets = append(fx.Sets, storeAsk(k, a))
		r.sweepAt = earliest(r.sweepAt, a.renewAt)
	}
	if r.IsFull(cluster) {
		return
	}
	for _, t := range r.targets(now, cluster) {
		if _, known := r.sent[t.key]; known {
			r.send(now, t, &Command{Op: OpSubscribe, Cluster: cluster, Names: names}, fx)
		}
	}
	r.reach(now, cluster, fx)
}

func (r *Repository) unask(k askKey, fx *Effects) {
	if _, ok := r.asks[k]; ok {
		delete(r.asks, k)
		fx.Deletes = append(fx.Deletes, keyAsk(k))
	}
}

func (r *Repository) askedNames(cluster string) []string {
	var names []string
	for k := range r.asks {
		if k.cluster == cluster {
			names = append(names, k.name)
		}
	}
	slices.Sort(names)
	return names
}

// answered ends the waiting for the names of an answer.
func (r *Repository) answered(c *Command, fx *Effects) {
	for _, name := range c.Names {
		k := askKey{c.Cluster, name}
		a := r.asks[k]
		if a == nil {
			continue
		}
		if !a.answered {
			a.answered = true
			fx.Sets = append(fx.Sets, storeAsk(k, a))
		}
		fx.Answered = append(fx.Answered, name)
	}
}
