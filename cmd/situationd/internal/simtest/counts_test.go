package simtest

// counts say how much of what can happen did happen. All of them have to.
type counts struct {
	Samples, Puts, Reads, Addressed, Bound                       int
	Lowerings, Raisings, PutBacks, WithdrawnToPeers              int
	Moved, MoveRuns, LeftAddressed, LeftBound, StoppedForReaders int
	UnknownMoves, LoweredAlone, HeardAlone                       int
	DaemonKilled, DaemonDiedWriting, DaemonStopped, HostsLost    int
	QMgrCrashes, QMgrCrashesInRelease                            int
	RefusedToStart                                               int
	InDoubt, FoundAfterRestart, Superseded, NoChange, Failed     int
	ReadersCame, ReadersWent, ReadersDied                        int
	Reloads, BrokenReloads, PersonsChanges, PersonsKept          int
	Deleted, Triggers, Holds, Releases, Reverts                  int
	Cuts, QuietCuts, Suspensions, ChannelStops, ClockJumps       int
	PeersCut, AlertmanagersDown, AlertsSent, AlertsRefused       int
	JournalsFull, Programs, Events                               int
	HeldGrace, HeldJournal, HeldPerson, HeldMaintenance          int
	HeldBudget, HeldBreaker, HeldConflict, HeldTrigger           int
	HeldFlapping, HeldDwell, HeldRepository, HeldLastInstance    int
	HeldPeers                                                    int
}

// held maps the codes of holds to their counts.
func (c *counts) held(code string) *int {
	switch code {
	case "grace":
		return &c.HeldGrace
	case "journal":
		return &c.HeldJournal
	case "hold":
		return &c.HeldPerson
	case "maintenance":
		return &c.HeldMaintenance
	case "budget":
		return &c.HeldBudget
	case "breaker":
		return &c.HeldBreaker
	case "trigger":
		return &c.HeldTrigger
	case "flapping":
		return &c.HeldFlapping
	case "dwell":
		return &c.HeldDwell
	case "repository stale":
		return &c.HeldRepository
	case "last_instance":
		return &c.HeldLastInstance
	case "peers":
		return &c.HeldPeers
	}
	return nil
}
