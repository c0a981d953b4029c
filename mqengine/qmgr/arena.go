package qmgr

// arenaSize is how much memory for headers is taken at a time.
const arenaSize = 16 << 10

// arena cuts message headers from larger pieces, so that a put does not
// allocate one each. A piece lives as long as any header of it is in use, which
// is until its unit is applied.
type arena struct{ free []byte }

// header encodes the message's header.
func (a *arena) header(msg *message) []byte {
	if need := msg.headerSize(); need > cap(a.free)-len(a.free) {
		a.free = make([]byte, 0, max(arenaSize, need))
	}
	start := len(a.free)
	a.free = appendHeader(a.free, msg)
	return a.free[start:len(a.free):len(a.free)]
}
