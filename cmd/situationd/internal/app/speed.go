package app

import (
	"math"
	"time"

	"github.com/situationd/situationd/situations"
)

// faster gives the same rules with every duration divided by speed, and every
// rate as much higher.
func faster(rules *situations.RuleSet, speed float64) *situations.RuleSet {
	if speed == 1 {
		return rules
	}
	scale := func(d time.Duration) time.Duration { return time.Duration(float64(d) / speed) }
	scaleActions := func(list []situations.Action) []situations.Action {
		out := make([]situations.Action, len(list))
		for i, a := range list {
			a.Retry, a.Timeout, a.Rate = scale(a.Retry), scale(a.Timeout), int(math.Ceil(float64(a.Rate)*speed))
			out[i] = a
		}
		return out
	}
	out := *rules
	out.Situations = make([]*situations.Situation, len(rules.Situations))
	for i, s := range rules.Situations {
		c := *s
		c.Schedule.Every = scale(c.Schedule.Every)
		c.For.Duration, c.ClearFor.Duration = scale(c.For.Duration), scale(c.ClearFor.Duration)
		c.ActAgain.After, c.Until.After = scale(c.ActAgain.After), scale(c.Until.After)
		c.Guard.Dwell.Duration = scale(c.Guard.Dwell.Duration)
		c.Actions, c.OnClear = scaleActions(c.Actions), scaleActions(c.OnClear)
		out.Situations[i] = &c
	}
	return &out
}
