package repository

import (
	"fmt"
	"strings"
)

// alike are the attributes of a cluster queue that every instance should have
// in common: MQINQ and MQOPEN take them from whichever instance they meet.
var alike = []string{"DEFBIND", "DEFPRTY", "DEFPSIST", "DEFPRESP"}

// compareInstances reports a queue whose instances are not defined alike, once
// for each change that makes them differ.
func (r *Repository) compareInstances(rec, old *Record, fx *Effects) {
	if rec.Kind != QueueRecord || rec.Deleted || rec.QMgrAlias() {
		return
	}
	changed := func(attr string) bool {
		return old == nil || old.Deleted || old.Object.Str(attr) != rec.Object.Str(attr)
	}
	for _, other := range r.queues[rec.Name] {
		if other.Cluster != rec.Cluster || other.QMID == rec.QMID || other.QMgrAlias() {
			continue
		}
		var differ []string
		for _, attr := range alike {
			if mine, theirs := rec.Object.Str(attr), other.Object.Str(attr); mine != theirs && changed(attr) {
				differ = append(differ, fmt.Sprintf("%s is %s at queue manager '%s' and %s at '%s'", attr, mine, rec.QMgr, theirs, other.QMgr))
			}
		}
		if len(differ) > 0 {
			fx.Log = append(fx.Log, Log{"AMQ9407W", fmt.Sprintf("Cluster queue '%s' is defined inconsistently in cluster '%s': %s. What MQOPEN and MQINQ find depends on the instance that is chosen.",
				rec.Name, rec.Cluster, strings.Join(differ, ", "))})
			return
		}
	}
}
