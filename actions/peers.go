package actions

import (
	"fmt"
	"strings"
)

// peerStep is what a published intent comes to after every peer was read.
type peerStep int

const (
	peersGo       peerStep = iota // nobody else wants it: lower
	peersWait                     // somebody with a higher QMID wants it too; he withdraws when he sees ours
	peersTooFew                   // the peers' own word: too few others would be left
	peersWithdraw                 // somebody with a lower QMID wants it: unpublish and let him
)

// weigh compares our intent for a queue with those that the peers show.
//
// A daemon publishes first and reads then, so of two that lower at once at least
// one sees the other. Neither goes on while it sees one: the higher QMID
// withdraws, the lower looks again at the next sample. So they never both lower.
func weigh(qmid, queue string, seen []PeerIntent) (peerStep, string) {
	step, why := peersGo, ""
	for _, p := range seen {
		if p.Queue != queue || p.QMID == qmid {
			continue
		}
		if strings.Compare(p.QMID, qmid) < 0 {
			return peersWithdraw, fmt.Sprintf("the daemon of %s lowers %s first", p.QMgr, queue)
		}
		step, why = peersWait, fmt.Sprintf("the daemon of %s also wants to lower %s", p.QMgr, queue)
	}
	return step, why
}
