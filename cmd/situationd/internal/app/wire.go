package app

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/situationd/situationd/actions"
	"github.com/situationd/situationd/cmd/situationd/internal/adapt"
	"github.com/situationd/situationd/cmd/situationd/internal/httpapi"
	"github.com/situationd/situationd/situations"
)

// wire builds the parts and joins them. Nothing works before Run.
func (a *App) wire(data, bin string, rules *situations.RuleSet) error {
	owner, err := ownerToken(a.dir)
	if err != nil {
		return err
	}
	a.grace = newGraceSampler(a)
	a.link = adapt.NewLink(adapt.LinkOptions{
		Dial: a.dialer(data, owner), Retry: a.reconnect, Logger: a.logger.Named("connection"), Up: a.grace.connected,
	})
	a.source = adapt.NewSource(a.link, a.qmgr, owner)
	if len(a.config.Peers) > 0 {
		a.peers = newPeers(a.config.Peers, a.peersEvery, a.peersFresh, a.peerTransport(), a.logger.Named("peers"))
		a.source.SetReaders(a.peers.readers)
	}
	a.samples = &sampleCounter{Source: a.source, changes: a.source.Changes}
	v6 := a.config.QueueManager.Hosted.Workload == "v6"
	ttl := time.Duration(float64(a.config.Limits.LedgerTTL) / a.speed)
	var others actions.Peers
	if a.peers != nil {
		others = a.peers
	}
	state, journal := a.disk()
	a.mover = adapt.NewMover(a.link, adapt.NewLedger(ttl, state))
	a.engine, err = actions.New(actions.Options{
		QMgr:     a.qmgr,
		Peers:    others,
		Manager:  adapt.NewManager(a.link),
		Mover:    a.mover,
		Programs: a.programs(data, bin, owner),
		Commands: adapt.NewCommander(a.link, a.config.MQSCAllow),
		Hooks:    actions.NewWebhooks(),
		Journal:  journal,
		Store:    state,
		Items:    items{a},
		Logger:   a.logger.Named("actions"),
		Observe:  a.observe,
		Budget:   a.config.Limits.Budget,
		Grace:    a.graceTime(),
		Breaker:  a.config.Limits.Breaker,
		V6:       v6,
	})
	if err != nil {
		return err
	}
	a.runner, err = situations.New(situations.Options{
		QMgr: a.qmgr, Source: a.samples, Store: state, Sink: sink{a}, Rules: rules,
		Logger: a.logger.Named("situations"),
	})
	if err != nil {
		return err
	}
	a.inForce(rules)
	a.reloads.note(nil)
	if err := a.wireAlerts(state); err != nil {
		return err
	}
	a.metrics = httpapi.NewMetrics(a.families)
	return nil
}

// disk is where the parts keep what must survive, and write what they do.
func (a *App) disk() (State, Recorder) {
	journal := &recorder{Journal: a.journal, warn: a.config.Journal.OnFailure == "warn", logger: a.logger.Named("journal")}
	if a.outside != nil {
		return a.outside.Disk(a.state, journal)
	}
	return a.state, journal
}

func (a *App) programs(data, bin, owner string) actions.Programs {
	if a.outside != nil {
		return a.outside.Programs
	}
	return actions.NewExec(a.execOptions(data, bin, owner))
}

// ownerToken is the token of this daemon, the same for its whole life on disk:
// programs that an earlier run left behind are still known as its own.
func ownerToken(dir string) (string, error) {
	path := filepath.Join(dir, "owner")
	if text, err := os.ReadFile(path); err == nil && len(strings.TrimSpace(string(text))) == 32 {
		return strings.TrimSpace(string(text)), nil
	}
	raw := make([]byte, 16)
	if _, err := rand.Read(raw); err != nil {
		return "", fmt.Errorf("owner token: %w", err)
	}
	token := hex.EncodeToString(raw)
	fresh := path + ".new"
	if err := os.WriteFile(fresh, []byte(token+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("owner token: %w", err)
	}
	if err := os.Rename(fresh, path); err != nil {
		return "", fmt.Errorf("owner token: %w", err)
	}
	return token, nil
}

func (a *App) execOptions(data, bin, owner string) actions.ExecOptions {
	home, err := os.UserHomeDir()
	if err != nil {
		home = "/"
	}
	return actions.ExecOptions{
		Allow: a.config.ExecAllow, BinDir: bin, Dir: a.dir, Data: data, Home: home, Lang: os.Getenv("LANG"), Owner: owner,
	}
}

// inForce tells the parts outside of the runner which rules hold now.
func (a *App) inForce(rules *situations.RuleSet) {
	a.rules.Store(rules)
	a.source.SetWatch(func(row *situations.Row) bool {
		for _, s := range rules.Situations {
			if s.Runs(a.qmgr) && (s.Watch.Match(row) || s.TakesAway(row)) {
				return true
			}
		}
		return false
	})
	// Also what no rule looks at any more, until it was given back.
	a.source.SetGroups(func(g situations.Group) bool { return rules.Watches(a.qmgr, g) || a.engine.Concerns(g) })
}

// reconnect is how long to wait between two tries to connect: the shortest
// sample interval, at least every five seconds.
func (a *App) reconnect() time.Duration {
	wait := adapt.MaxReconnect
	for _, s := range a.rules.Load().Situations {
		if s.Runs(a.qmgr) && s.Schedule.Every > 0 {
			wait = min(wait, s.Schedule.Every)
		}
	}
	return wait
}

// items lets the actions ask the runner, which is built after them.
type items struct{ app *App }

// Flapping says that an item changed too often lately.
func (i items) Flapping(key situations.Key) bool { return i.app.runner.Flapping(key) }

// Maintained says that a window of the item's situation is open.
func (i items) Maintained(key situations.Key) bool { return i.app.runner.Maintained(key) }

// Count is how many items a situation has.
func (i items) Count(situation string) int { return i.app.runner.Count(situation) }

// NeverRedistribute says that a rule forbids moving messages off the queue.
func (i items) NeverRedistribute(qmgr string, row *situations.Row) bool {
	return i.app.rules.Load().NeverRedistribute(qmgr, row)
}

// install puts rules in force and waits until the runner works by them.
func (a *App) install(ctx context.Context, rules *situations.RuleSet) (string, error) {
	select {
	case <-a.decided:
		return "", errNoReload
	default:
	}
	rules = faster(rules, a.speed)
	before := a.rules.Load()
	a.inForce(rules)
	a.runner.Reload(rules)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for a.runner.Snapshot().Revision != rules.Revision {
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("%w: the rules are handed on, and not in force yet: %w", httpapi.ErrUnavailable, ctx.Err())
		case <-a.decided:
			return "", errNoReload
		case <-tick.C:
		}
	}
	return changes(before, rules), nil
}

// changes says which situations came, went or are others than before.
func changes(before, after *situations.RuleSet) string {
	if before.Revision == after.Revision {
		return "nothing changed\n"
	}
	had := map[string]bool{}
	for _, s := range before.Situations {
		had[s.Name] = true
	}
	var added, kept, removed []string
	for _, s := range after.Situations {
		if had[s.Name] {
			kept = append(kept, s.Name)
		} else {
			added = append(added, s.Name)
		}
		delete(had, s.Name)
	}
	for _, s := range before.Situations {
		if had[s.Name] {
			removed = append(removed, s.Name)
		}
	}
	return fmt.Sprintf("revision %s: added %s, removed %s, kept %s\n", after.Revision, list(added), list(removed), list(kept))
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, " ")
}
