package mqengine

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"

	"github.com/situationd/situationd/mqengine/mqsc"
)

// shown is a field of the first record of a DISPLAY.
func shown(t *testing.T, c Conn, text, key string) string {
	t.Helper()
	for _, f := range run(t, c, text).Responses[0].Fields {
		if f.Key == key && len(f.Values) > 0 {
			return f.Values[0]
		}
	}
	return ""
}

// A port of which START LISTENER says that it is bound takes connections, one of
// which STOP LISTENER says that it is closed is free for the next. The address is
// the test's own, so that nobody else takes a port that is free for a moment.
func TestListeners_AnswerAndPortAgree(t *testing.T) {
	t.Parallel()
	_, c := member(t, "QM1", NoListener, nil)
	run(t, c, "DEFINE LISTENER(L1) TRPTYPE(TCP) IPADDR('127.77.0.1') PORT(0)")
	for range 20 {
		run(t, c, "START LISTENER(L1)")
		addr := net.JoinHostPort("127.77.0.1", shown(t, c, "DISPLAY LSSTATUS(L1) PORT", "PORT"))
		nc, err := net.DialTimeout("tcp", addr, within)
		if err != nil {
			t.Fatal(err)
		}
		run(t, c, "STOP LISTENER(L1)")
		again, err := net.Listen("tcp", addr)
		if err != nil {
			t.Fatalf("the port is not free after STOP LISTENER: %v", err)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
		_ = nc.Close() // the other side may have closed it
	}
}

// Listeners that come and go while their queue manager ends hold up nothing, and
// leave no port behind.
func TestListeners_StartedWhileItEnds(t *testing.T) {
	t.Parallel()
	for round := range 10 {
		q, c := member(t, "QM1", "127.0.0.1:0", nil)
		ports := make([]int, 4)
		var people sync.WaitGroup
		for i := range ports {
			name := fmt.Sprintf("L%d", i)
			l, err := net.Listen("tcp", "127.77.0.2:0")
			if err != nil {
				t.Fatal(err)
			}
			ports[i] = l.Addr().(*net.TCPAddr).Port
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			run(t, c, fmt.Sprintf("DEFINE LISTENER(%s) IPADDR('127.77.0.2') PORT(%d)", name, ports[i]))
			own := connectTo(t, q)
			people.Go(func() {
				for _, verb := range []string{"START", "STOP"} {
					cmd, bad := mqsc.Parse(verb + " LISTENER(" + name + ")")
					if bad != nil {
						t.Error(bad)
						return
					}
					if _, err := own.Command(testContext(t), cmd); err != nil {
						return // it ended
					}
				}
			})
		}
		if round%2 == 0 {
			run(t, c, "DISPLAY LISTENER(L0)") // some are under way by now
		}
		ctx, cancel := context.WithTimeout(context.Background(), within)
		if err := q.Stop(ctx); err != nil {
			t.Fatal(err)
		}
		cancel()
		people.Wait()
		for _, port := range ports {
			l, err := net.Listen("tcp", fmt.Sprintf("127.77.0.2:%d", port))
			if err != nil {
				t.Fatalf("a port is left behind: %v", err)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
