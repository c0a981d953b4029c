package mqengine

import (
	"sync"

	"github.com/situationd/situationd/mqengine/transport"
)

// Bounds of what those can cost who have not said who they are.
const (
	// strangersMax is how many accepted links of one listener may be before their first frame.
	strangersMax = 256
	// firstFrameMax is the longest first frame: a hello is names and numbers.
	firstFrameMax = 32 << 10
	// receiveBudget is how many bytes of long frames one listener's links may be receiving.
	receiveBudget = 256 << 20
)

// strangers are the accepted links on which nothing was said yet. When there are
// too many the one that was silent for longest has to go: a partner says hello at
// once, so those that keep silent cannot keep it out.
type strangers struct {
	mu    sync.Mutex
	links []transport.Link // by age
}

// enter notes a new link, and gives one that is to be closed for it, or nil.
func (s *strangers) enter(link transport.Link) (tooMany transport.Link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.links = append(s.links, link)
	if len(s.links) <= strangersMax {
		return nil
	}
	tooMany = s.links[0]
	s.links = append(s.links[:0], s.links[1:]...)
	return tooMany
}

// leave forgets a link that spoke or ended; false if it had to go before.
func (s *strangers) leave(link transport.Link) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, l := range s.links {
		if l == link {
			s.links = append(s.links[:i], s.links[i+1:]...)
			return true
		}
	}
	return false
}

// count is how many there are.
func (s *strangers) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.links)
}
