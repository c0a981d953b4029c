package killtest

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/situationd/situationd/cmd/situationd/internal/proctest"
	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
)

// single is one queue manager under load: on UNITS everything happens in units
// of work that write down what they did; on PLAIN messages are put and got
// outside syncpoint, and the applications write down what they were answered.
type single struct {
	qm   *proctest.QMgr
	book *book
	got  *book // gets outside syncpoint, as units of one body; blank: the answer never came
}

const localQueues = "DEFINE QLOCAL(UNITS) MAXDEPTH(999999999)\nDEFINE QLOCAL(PLAIN) MAXDEPTH(999999999)\n" + logs

// load lets eight putters and eight getters work until the queue manager dies.
func (s *single) load(t *testing.T, r *rand.Rand, round int) *crew {
	traffic := &flow{most: 1000}
	c := newCrew(t, s.book, traffic)
	for i := range 8 {
		p := &putter{
			crew: c, name: fmt.Sprintf("r%dp%d", round, i), queue: "UNITS", plain: i%2 == 0,
			r: rand.New(rand.NewPCG(r.Uint64(), 2)),
		}
		if p.plain {
			p.queue = "PLAIN"
		}
		c.once(s.qm, p.name, p.session)
		if g := (&getter{crew: c, m: s.qm, queue: "UNITS", r: rand.New(rand.NewPCG(r.Uint64(), 3))}); i%2 == 0 {
			c.once(s.qm, fmt.Sprintf("g%d", i), g.session)
		} else {
			c.once(s.qm, fmt.Sprintf("g%d", i), func(conn mqengine.Conn) error { return s.plainGets(c, conn) })
		}
	}
	return c
}

// plainGets gets outside syncpoint: what was asked for when the queue manager
// died may be gone, one message for each such get.
func (s *single) plainGets(c *crew, conn mqengine.Conn) error {
	in, _, err := conn.Open(c.patient, mqi.OD{ObjectName: "PLAIN"}, mqi.MQOO_INPUT_SHARED)
	for err == nil && c.ctx.Err() == nil {
		u := s.got.openPut(true, "")
		var id string
		id, err = getOne(conn, in, mqi.MQGMO_NO_SYNCPOINT, 50)
		switch {
		case err == nil:
			u.bodies[0] = id
			s.got.settle(u, done)
			c.flow.got.Add(1)
		case mqi.ReasonOf(err) == mqi.MQRC_NO_MSG_AVAILABLE:
			s.got.settle(u, undone)
			err = nil
		}
	}
	return err
}

// balance compares what is on the queues after a restart with everything that was answered before.
func (s *single) balance(t *testing.T) *verdict {
	t.Helper()
	left := waiting(t, s.qm, "UNITS")
	units := &book{puts: s.book.puts, gets: s.book.gets}
	v := units.judge(logged(t, s.qm, putLog), map[string][]string{s.qm.Name: logged(t, s.qm, readLog)}, left)
	s.balancePlain(t, v)
	for queue, n := range map[string]int{"UNITS": len(left), "PLAIN": len(waiting(t, s.qm, "PLAIN"))} {
		r := s.qm.MQSC(t, "DISPLAY QSTATUS("+queue+") CURDEPTH UNCOM")[0]
		if got := fmt.Sprint(r.Fields); !strings.Contains(got, "CURDEPTH("+strconv.Itoa(n)+")") || !strings.Contains(got, "UNCOM(NO)") && !strings.Contains(got, "UNCOM(0)") {
			t.Errorf("%s after the restart: %s, but %d messages can be browsed", queue, got, n)
		}
	}
	return v
}

// balancePlain does the same for the queue without syncpoints: an answered put
// is there or was got; each get without an answer may have taken one with it.
func (s *single) balancePlain(t *testing.T, v *verdict) {
	t.Helper()
	seen, must, may := map[string]int{}, map[string]bool{}, map[string]bool{}
	for _, id := range waiting(t, s.qm, "PLAIN") {
		seen[id]++
	}
	taken := 0
	for _, u := range s.got.plain {
		switch u.fate {
		case done:
			seen[u.bodies[0]]++
			v.read++
		case unknown:
			taken++
		}
	}
	for _, u := range s.book.plain {
		must[u.bodies[0]] = u.fate == done
		may[u.bodies[0]] = true
	}
	var lost []string
	for id, answered := range must {
		if answered {
			v.put++
			if seen[id] == 0 {
				lost = append(lost, id)
			}
		} else {
			v.unknownBodies++
		}
	}
	sort.Strings(lost)
	if len(lost) > taken {
		v.lost = append(v.lost, lost...)
	}
	for id, n := range seen {
		if n > 1 {
			v.twice = append(v.twice, id)
		}
		if !may[id] {
			v.phantom = append(v.phantom, id)
		}
	}
}

// unanswered counts the puts and gets of all rounds whose answer never came.
func (s *single) unanswered() int {
	n := counts(s.book.puts, unknown) + counts(s.book.plain, unknown) + counts(s.got.plain, unknown)
	for _, units := range s.book.gets {
		n += counts(units, unknown)
	}
	return n
}

// freshRounds is how many rounds are balanced together before the books are
// begun anew: they grow, and each balance reads all of them.
const freshRounds = 10

// fresh empties the queues and begins new books.
func (s *single) fresh(t *testing.T) {
	t.Helper()
	for _, queue := range []string{"UNITS", "PLAIN", putLog, readLog} {
		s.qm.MQSC(t, "CLEAR QLOCAL("+queue+")")
	}
	s.book, s.got = newBook(), newBook()
}

// A queue manager is killed with SIGKILL in the middle of its work, again and
// again, and after every restart the ledger balances.
func TestKill_AnsweredWorkSurvivesLocally(t *testing.T) {
	t.Parallel()
	r := chance(t)
	s := &single{book: newBook(), got: newBook()}
	s.qm = proctest.NewQMgr(t, &program, dataFolder(t), "LOC1", localQueues, nil)
	s.qm.Start(t)
	kills, met, before := 0, 0, 0
	var v *verdict
	total := &verdict{}
	for round := range roundsOr(4) {
		c := s.load(t, r, round)
		pause(between(r, 20*time.Millisecond, 400*time.Millisecond))
		s.qm.Kill()
		c.stopNow()
		kills++
		if now := s.unanswered(); now > before {
			met, before = met+1, now
		}
		s.qm.Start(t)
		if v = s.balance(t); !v.ok() || t.Failed() {
			break
		}
		if round%freshRounds == freshRounds-1 {
			total.add(v)
			s.fresh(t)
			v, before = &verdict{}, 0
		}
	}
	total.add(v)
	v = total
	t.Logf("%d kills of a queue manager under load, %d of them with unanswered requests outstanding: acknowledged but missing %d, twice %d",
		kills, met, len(v.lost)+len(v.forgotten), len(v.twice))
	v.report(t)
	if kills >= 20 && met < kills*3/4 {
		t.Errorf("only %d of %d kills met unanswered requests, want three in four", met, kills)
	}
	if v.read == 0 || v.unknownBodies == 0 {
		t.Error("no message was read, or no kill met a put that waited for its answer: the test shows nothing")
	}
}
