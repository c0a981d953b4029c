package mqengine

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/situationd/situationd/mqengine/internal/wire"
	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/mqengine/workload"
)

// Explain tells where a message would go that were put now, and why. A name that
// leads nowhere is an *mqi.Error whose detail says what to do.
func (c *client) Explain(ctx context.Context, req qmgr.ExplainReq) (*qmgr.Explanation, error) {
	rep, err := c.do(ctx, "EXPLAIN", req.Queue, req)
	if err != nil {
		return nil, err
	}
	res, ok := rep.result.(*qmgr.Explanation)
	if !ok {
		return nil, noResult("EXPLAIN", req.Queue)
	}
	return res, nil
}

func appendExplain(b []byte, q *qmgr.ExplainReq) []byte {
	b = wire.AppendString(b, q.Queue)
	b = wire.AppendString(b, q.QMgr)
	b = wire.AppendInt(b, int64(q.Bind))
	return wire.AppendBool(wire.AppendBool(b, q.Arriving), q.Moving)
}

func readExplain(r *wire.Reader) qmgr.ExplainReq {
	return qmgr.ExplainReq{Queue: r.String(), QMgr: r.String(), Bind: r.Int32(), Arriving: r.Bool(), Moving: r.Bool()}
}

// appendExplanation sends the text that programs read anyway.
func appendExplanation(b []byte, res *qmgr.Explanation) ([]byte, error) {
	text, err := json.Marshal(res)
	if err != nil {
		return nil, fmt.Errorf("explanation: %w", err)
	}
	return wire.AppendBytes(b, text), nil
}

func readExplanation(r *wire.Reader) (*qmgr.Explanation, error) {
	text := r.Bytes()
	if err := r.Err(); err != nil {
		return nil, err
	}
	res := new(qmgr.Explanation)
	if err := json.Unmarshal(text, res); err != nil {
		return nil, fmt.Errorf("explanation: %w", err)
	}
	for i := range res.Steps {
		res.Steps[i].Step = workload.StepNumbered(res.Steps[i].Number)
	}
	return res, nil
}
