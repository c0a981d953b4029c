package app

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/situationd/situationd/actions"
	"github.com/situationd/situationd/cmd/situationd/internal/httpapi"
	"github.com/situationd/situationd/situations"
)

var _ httpapi.Operator = (*App)(nil)

// Bounds of what a person asks for.
const (
	longestHold   = 366 * 24 * time.Hour
	longestReason = 1000
	revertTimeout = 8 * time.Second
	mostExplained = 100
)

// errEnding refuses what a daemon that ends takes on no more.
var errEnding = fmt.Errorf("%w: %w; say it again when it has ended", httpapi.ErrUnavailable, actions.ErrEnding)

var holdName = regexp.MustCompile(`^([A-Za-z0-9./_%*?]{1,48}|(CHANNEL|QMGR)\([A-Za-z0-9./_%*?]{1,48}\))$`)

func badRequest(format string, args ...any) error {
	return fmt.Errorf("%w: %s", httpapi.ErrBadRequest, fmt.Sprintf(format, args...))
}

// Hold keeps everything from being done to a queue, or to those of a pattern.
func (a *App) Hold(by string, r httpapi.HoldRequest) (httpapi.Held, error) {
	until := time.Time{}
	switch {
	case !holdName.MatchString(r.Queue):
		return httpapi.Held{}, badRequest("hold names a queue, CHANNEL(NAME) or QMGR(NAME), or a pattern of them, not %q", r.Queue)
	case len(r.Reason) > longestReason:
		return httpapi.Held{}, badRequest("the reason has more than %d characters", longestReason)
	case r.For != "":
		d, err := situations.ParseDuration(r.For)
		if err != nil || d <= 0 || d > longestHold {
			return httpapi.Held{}, badRequest("a hold lasts as long as 30m or 2h say, at most %d days, not %s", int(longestHold.Hours()/24), r.For)
		}
		until = time.Now().Add(d).UTC()
	}
	if err := a.engine.Hold(by, r.Queue, r.Reason, until); err != nil {
		return httpapi.Held{}, err
	}
	for _, h := range a.engine.Holds() {
		if h.Queue == r.Queue {
			held := heldOf(&h)
			held.Note = a.coversNothing(&h)
			return held, nil
		}
	}
	return httpapi.Held{}, errors.New("the hold is not there")
}

// coversNothing says that no rule watches what a hold names: whoever mistypes a
// name under pressure takes the queue for held.
func (a *App) coversNothing(h *actions.PersonHold) string {
	items, names := a.runner.Snapshot().Items, situations.NewNames(h.Queue)
	if len(items) == 0 || slices.ContainsFunc(items, func(i situations.ItemStatus) bool { return names.Match(i.Key.Queue) }) {
		return ""
	}
	return fmt.Sprintf("no rule of %s watches %s now; names are told apart by case", a.qmgr, h.Queue)
}

func heldOf(h *actions.PersonHold) httpapi.Held {
	out := httpapi.Held{Queue: h.Queue, By: h.By, Reason: h.Reason, Since: h.Since}
	if !h.Until.IsZero() {
		out.Until = &h.Until
	}
	return out
}

// Release ends a hold, or closes a breaker.
func (a *App) Release(by string, r httpapi.ReleaseRequest) (httpapi.Released, error) {
	out := httpapi.Released{Holds: []httpapi.Held{}}
	var err error
	switch {
	case r.Queue == "" && r.Situation == "" || r.Queue != "" && r.Situation != "":
		return out, badRequest("release names a queue as hold did, or a situation whose breaker is open")
	case r.Situation != "":
		err = a.engine.ReleaseBreaker(by, r.Situation)
	default:
		var gone []actions.PersonHold
		gone, err = a.engine.Release(by, r.Queue)
		for i := range gone {
			out.Holds = append(out.Holds, heldOf(&gone[i]))
		}
	}
	if errors.Is(err, actions.ErrNothingHeld) {
		return out, fmt.Errorf("%w: %w", httpapi.ErrNotFound, err)
	}
	a.runner.SampleSoon() // what waited is decided on a fresh sample
	return out, err
}

// Lowered lists what is out: what this daemon lowered, and which of the queues
// that its rules watch somebody else disabled.
func (a *App) Lowered() httpapi.Lowered {
	out := httpapi.Lowered{Lowered: a.imagined(standingItems(a.engine.Lowered()))}
	latest := a.source.Latest()
	if latest == nil {
		return out
	}
	rules := a.rules.Load()
	for i := range latest.Observation.Rows {
		row := &latest.Observation.Rows[i]
		env, ok := row.Env.(situations.Attributes)
		if !a.engine.Touched(row.Queue).Before(latest.Observation.At) {
			continue // the sample says nothing of what we did since
		}
		if ok && env.PUT == "DISABLED" && watched(rules, a.qmgr, row) {
			out.Lowered = appendOther(out.Lowered, a.qmgr, row.Queue)
		}
	}
	return out
}

// imagined marks what a daemon that only observes goes on as if it had lowered.
func (a *App) imagined(list []httpapi.LoweredItem) []httpapi.LoweredItem {
	for i := range list {
		if a.observe {
			list[i].Back = httpapi.BackWould
		}
	}
	return list
}

func watched(rules *situations.RuleSet, qmgr string, row *situations.Row) bool {
	for _, s := range rules.Situations {
		if s.Runs(qmgr) && s.Watch.Match(row) {
			return true
		}
	}
	return false
}

// appendOther adds a disabled queue that is not ours.
func appendOther(list []httpapi.LoweredItem, qmgr, queue string) []httpapi.LoweredItem {
	for i := range list {
		if list[i].Queue == queue && list[i].Attribute == "PUT" {
			return list
		}
	}
	return append(list, httpapi.LoweredItem{QMgr: qmgr, Queue: queue, Attribute: "PUT", Value: "DISABLED", By: "other", Back: "nobody"})
}

func standingItems(list []actions.Standing) []httpapi.LoweredItem {
	out := []httpapi.LoweredItem{}
	for i := range list {
		s := &list[i]
		item := httpapi.LoweredItem{
			QMgr: s.Target.QMgr, Queue: situations.QueueOf(s.Target.Queue), Channel: situations.ChannelOf(s.Target.Queue), Attribute: s.Attr, Value: s.After, Before: &s.Before,
			Situation: strings.Join(s.Rules, " "), Action: s.Action, ID: s.ID, By: "rule", Back: "edge",
		}
		if s.Program {
			item.By = "program"
		}
		if s.Claimed {
			item.Back = "clear"
		}
		if !s.At.IsZero() {
			at := s.At.UTC()
			item.Since = &at
		}
		out = append(out, item)
	}
	return out
}

// Revert gives back what the daemon lowered.
func (a *App) Revert(ctx context.Context, by string, r httpapi.RevertRequest) (httpapi.Reverted, error) {
	switch {
	case r.All == (r.Queue != ""):
		return httpapi.Reverted{}, badRequest("revert names a queue, or says that it is for all")
	case a.observe:
		return httpapi.Reverted{}, fmt.Errorf("%w: this daemon only observes; it has changed nothing", httpapi.ErrRefused)
	}
	ctx, cancel := context.WithTimeout(ctx, revertTimeout)
	defer cancel()
	var sampling sync.WaitGroup
	sampling.Go(func() { a.keepSampling(ctx) })
	wanted, err := a.engine.Revert(ctx, by, r.Queue)
	cancel()
	sampling.Wait()
	if wanted == nil && errors.Is(err, actions.ErrEnding) {
		return httpapi.Reverted{}, errEnding
	}
	out := httpapi.Reverted{Reverted: standingItems(wanted), Left: standingItems(onlyQueue(a.engine.Lowered(), r.Queue))}
	switch {
	case errors.Is(err, actions.ErrEnding):
		out.Reason = "it is not done yet, and goes on when the daemon runs again"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		out.Reason = "it is not done yet and goes on"
		if snap := a.runner.Snapshot(); snap.SampleErr != "" {
			out.Reason += "; the queue manager does not answer: " + snap.SampleErr
		}
	case err != nil:
		return out, err
	}
	return out, nil
}

func onlyQueue(list []actions.Standing, queue string) []actions.Standing {
	var out []actions.Standing
	for _, s := range list {
		if queue == "" || s.Target.Queue == queue {
			out = append(out, s)
		}
	}
	return out
}

// keepSampling asks for samples until ctx ends: giving back is decided on a
// fresh one, however long the interval.
func (a *App) keepSampling(ctx context.Context) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		a.runner.SampleSoon()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Explain tells why the items of a situation are as they are.
func (a *App) Explain(name, queue string) ([]httpapi.Explanation, error) {
	if name == "" {
		return nil, badRequest("explain names a situation")
	}
	found, near := a.rules.Load().Known(name)
	if len(found) == 0 {
		if near != "" {
			near = "; did you mean " + near + "?"
		}
		return nil, fmt.Errorf("%w: no situation is called %s%s", httpapi.ErrNotFound, name, near)
	}
	items := a.runner.Explain(name, queue)
	switch {
	case len(items) > mostExplained:
		return nil, fmt.Errorf("%w: %s has %d items; name a queue", httpapi.ErrBadRequest, name, len(items))
	case len(items) > 0:
	case !found[0].Enabled:
		return nil, fmt.Errorf("%w: %s is not enabled", httpapi.ErrNotFound, name)
	case !found[0].Runs(a.qmgr):
		return nil, fmt.Errorf("%w: %s is not distributed to %s", httpapi.ErrNotFound, name, a.qmgr)
	case queue != "":
		return nil, fmt.Errorf("%w: %s does not watch %s of %s", httpapi.ErrNotFound, name, queue, a.qmgr)
	case a.runner.Snapshot().SampledAt.IsZero():
		return nil, fmt.Errorf("%w: %s was not sampled yet", httpapi.ErrNotFound, a.qmgr)
	default:
		return nil, fmt.Errorf("%w: %s watches nothing that %s has", httpapi.ErrNotFound, name, a.qmgr)
	}
	engine, lowered := a.engine.Snapshot(), a.engine.Lowered()
	out := make([]httpapi.Explanation, 0, len(items))
	for i := range items {
		x := explained(&items[i], engine.Items[items[i].Key], onlyQueue(lowered, items[i].Key.Queue))
		x.Lowered = a.imagined(x.Lowered)
		out = append(out, x)
	}
	return out, nil
}

func explained(x *situations.Explained, engine actions.ItemState, lowered []actions.Standing) httpapi.Explanation {
	out := httpapi.Explanation{
		Situation: x.Key.Situation, QMgr: x.Key.QMgr, Queue: situations.QueueOf(x.Key.Queue), Channel: situations.ChannelOf(x.Key.Queue), State: x.Phase.String(), Verdict: x.Verdict.String(),
		Since: moment(x.Since), Opened: moment(x.Opened), Sampled: moment(x.Sampled), Acted: moment(x.LastActed),
		Formula:  explainedFormula(x.Formula, x.Result, x.Parts),
		Progress: x.Progress, Intent: engine.Intent, Held: []httpapi.ExplainHold{}, Failure: engine.Failure,
		Remarks: remarks(x), Lowered: standingItems(lowered),
	}
	if x.Recovery != nil {
		recovery := explainedFormula(x.Recovery, x.RecoveryResult, x.RecoveryParts)
		out.Recovery = &recovery
	}
	for _, h := range engine.Holds {
		out.Held = append(out.Held, httpapi.ExplainHold{Guard: string(h.Code), Reason: h.Text})
	}
	if len(x.Suppressed) > 0 && out.Intent == "" {
		out.Intent = x.Suppressed[0].String()
		out.Held = append(out.Held, httpapi.ExplainHold{Guard: string(actions.HoldMaintenance), Reason: "a maintenance window is open"})
	}
	return out
}

func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func explainedFormula(f *situations.Formula, result situations.Verdict, parts []situations.Part) httpapi.ExplainedFormula {
	out := httpapi.ExplainedFormula{Text: f.String(), Result: result.String(), Parts: []httpapi.ExplainedTip{}}
	for _, p := range parts {
		out.Parts = append(out.Parts, httpapi.ExplainedTip{Text: p.Text, Values: p.Values, Result: p.Result.String()})
	}
	return out
}

// remarks are what else a person has to know of an item.
func remarks(x *situations.Explained) []string {
	out := []string{}
	add := func(yes bool, text string) {
		if yes {
			out = append(out, text)
		}
	}
	add(x.Blind, "no sample decided anything for three intervals or more")
	add(x.Flapping, "it changes too often; lowering is held until it changes less")
	add(x.Disarmed, "until ended it; it opens again after its formula was false once")
	add(x.Maintained, "a maintenance window is open in which it does not act")
	add(x.Verdict == situations.Unknown && !x.Blind, "the last sample decided nothing")
	add(x.Expected && x.Sampled.IsZero(), "it must exist, and does not")
	return out
}
