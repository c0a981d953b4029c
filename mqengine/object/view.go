package object

// View is one form of a status display: what DISPLAY shows of something that
// is not a stored definition.
type View uint8

// The views.
const (
	ViewQueueStatus  View = iota + 1 // QSTATUS TYPE(QUEUE)
	ViewHandleStatus                 // QSTATUS TYPE(HANDLE)
	ViewQCluster                     // QCLUSTER
	ViewClusQMgr                     // CLUSQMGR
	ViewChStatus                     // CHSTATUS
	ViewConn                         // CONN TYPE(CONN)
	ViewConnHandle                   // CONN TYPE(HANDLE)
	ViewQMStatus                     // QMSTATUS
	ViewLsStatus                     // LSSTATUS
	viewEnd
)

// ViewSet is a set of views.
type ViewSet uint16

func viewsOf(views ...View) ViewSet {
	var s ViewSet
	for _, v := range views {
		s |= 1 << v
	}
	return s
}

// Has reports whether v is in the set.
func (s ViewSet) Has(v View) bool { return s&(1<<v) != 0 }

// Views lists the set in ascending order.
func (s ViewSet) Views() []View {
	var out []View
	for v := ViewQueueStatus; v < viewEnd; v++ {
		if s.Has(v) {
			out = append(out, v)
		}
	}
	return out
}

// Attr finds an attribute of this view. Nil if it has none.
func (v View) Attr(keyword string) *Attr {
	if t := tables.views[v]; t != nil {
		return t.byWord[keyword]
	}
	return nil
}

// Attrs lists the attributes of a view in DISPLAY order.
func (v View) Attrs() []*Attr {
	if t := tables.views[v]; t != nil {
		return t.display
	}
	return nil
}
