package qmgr

import "time"

// repositoryWait is how long an open waits for the full repositories.
const repositoryWait = 10 * time.Second

// parked is an MQOPEN or MQPUT1 that waits until the repository knows a name.
type parked struct {
	conn  *conn
	tag   uint64
	req   Request
	name  string
	timer timer
}

// park keeps a call. It waits once: when its time is over perform gets last.
func (m *Machine) park(now time.Time, c *conn, tag uint64, req Request, name string) {
	p := &parked{conn: c, tag: tag, req: req, name: name}
	p.timer.what = p
	c.parked = p
	m.waiting = append(m.waiting, p)
	m.timers.set(&p.timer, now.Add(repositoryWait).UnixNano())
}

func (m *Machine) unpark(p *parked) {
	m.timers.stop(&p.timer)
	m.waiting = without(m.waiting, p)
	p.conn.parked = nil
}

// timeout tries once more, and no waiting is allowed then.
func (p *parked) timeout(m *Machine, now time.Time, fx *Effects) {
	m.retry(now, fx, p, true)
}

func (m *Machine) retry(now time.Time, fx *Effects, p *parked, last bool) {
	until := p.timer.when
	m.unpark(p)
	m.perform(now, fx, p.conn, p.tag, p.req, last)
	if again := p.conn.parked; again != nil {
		// It waits for another name now, or still: the ten seconds are those of the call.
		m.timers.set(&again.timer, until)
		return
	}
	m.runQueued(now, fx, p.conn)
}

// resumeOpens tries again the calls that wait for the repository to know
// queueName; blank for all that wait.
func (m *Machine) resumeOpens(now time.Time, fx *Effects, queueName string) {
	var ready []*parked
	for _, p := range m.waiting {
		if queueName == "" || p.name == queueName {
			ready = append(ready, p)
		}
	}
	for _, p := range ready {
		if p.conn.parked == p {
			m.retry(now, fx, p, false)
		}
	}
}
