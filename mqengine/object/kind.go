package object

import "strings"

// KindSet is a set of kinds.
type KindSet uint32

// Of builds a set.
func Of(kinds ...Kind) KindSet {
	var s KindSet
	for _, k := range kinds {
		s |= 1 << k
	}
	return s
}

// Has reports whether k is in the set.
func (s KindSet) Has(k Kind) bool { return s&(1<<k) != 0 }

// Kinds lists the set in ascending order.
func (s KindSet) Kinds() []Kind {
	var out []Kind
	for k := QLocal; k <= QMgr; k++ {
		if s.Has(k) {
			out = append(out, k)
		}
	}
	return out
}

// kindWords has, per kind, the word of TYPE or CHLTYPE, or the noun where the
// object has neither.
var kindWords = [...]string{
	QLocal: "QLOCAL", QAlias: "QALIAS", QRemote: "QREMOTE", QModel: "QMODEL",
	Sender: "SDR", Receiver: "RCVR", ClusSdr: "CLUSSDR", ClusRcvr: "CLUSRCVR", SvrConn: "SVRCONN",
	Namelist: "NAMELIST", Process: "PROCESS", Listener: "LISTENER", QMgr: "QMGR",
}

// String is MQ's word: QLOCAL, SDR, NAMELIST; empty for KindNone.
func (k Kind) String() string {
	if int(k) < len(kindWords) {
		return kindWords[k]
	}
	return ""
}

// ParseKind finds a kind by its word (String), in any case; KindNone if there is none.
func ParseKind(word string) Kind {
	word = strings.ToUpper(word)
	for k := QLocal; k <= QMgr; k++ {
		if kindWords[k] == word {
			return k
		}
	}
	return KindNone
}

// Noun is the MQSC noun that names objects of this kind: QLOCAL, CHANNEL, QMGR.
func (k Kind) Noun() string {
	if k.IsChannel() {
		return "CHANNEL"
	}
	return k.String()
}

// NameKeyword is the key under which DISPLAY shows the object's name: QUEUE, CHANNEL, QMNAME.
func (k Kind) NameKeyword() string {
	switch {
	case k.IsQueue():
		return "QUEUE"
	case k.IsChannel():
		return "CHANNEL"
	case k == QMgr:
		return "QMNAME"
	}
	return k.String()
}

// MaxNameLen is the longest name an object of this kind may have.
func (k Kind) MaxNameLen() int {
	if k.IsChannel() {
		return MaxChannelName
	}
	return MaxName
}
