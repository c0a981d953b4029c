package qmgr

import "time"

// sweepStep is how many messages one turn looks at; the rest waits for the next.
const sweepStep = 2000

// expirySweep looks for expired messages that nobody gets. As in MQ they count
// in CURDEPTH until it, or a get, finds them.
type expirySweep struct {
	timer timer
	todo  []*queue // still to be looked at in this round
	at    position // in todo[0]
}

// timeout begins a round, or goes on with one.
func (s *expirySweep) timeout(m *Machine, now time.Time, fx *Effects) {
	if len(s.todo) == 0 {
		s.todo, s.at = m.expiringQueues(), headOfQueue
	}
	ms := now.UnixMilli()
	for budget := sweepStep; len(s.todo) > 0 && budget > 0; {
		q := s.todo[0]
		var msg *message
		if q.expiring > 0 {
			msg = q.next(s.at)
		}
		budget--
		if msg == nil {
			s.todo[0] = nil
			s.todo, s.at = s.todo[1:], headOfQueue
			continue
		}
		s.at = msg.position()
		if msg.available() && msg.expired(ms) {
			m.expire(now, fx, q, msg)
		}
	}
	if len(s.todo) > 0 {
		m.timers.set(&s.timer, now.UnixNano()+int64(time.Millisecond))
		return
	}
	s.todo = nil
	m.timers.set(&s.timer, now.Add(m.cfg.ExpiryInterval).UnixNano())
}

// expiringQueues are the queues with messages that can expire, by name.
func (m *Machine) expiringQueues() []*queue {
	var out []*queue
	for _, q := range m.catalog.sortedQueues() {
		if q.expiring > 0 {
			out = append(out, q)
		}
	}
	return out
}
