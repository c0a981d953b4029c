package qmgr

import (
	"time"

	"github.com/situationd/situationd/mqengine/mqsc"
)

func (m *Machine) commandCall(now time.Time, fx *Effects, c *conn, tag uint64, cmd *mqsc.Command) {
	res, _ := m.clusterCommand(now, fx, cmd)
	c.ok(fx, tag, res)
}
func (m *Machine) moveCall(now time.Time, fx *Effects, c *conn, tag uint64, req *MoveReq) {}
