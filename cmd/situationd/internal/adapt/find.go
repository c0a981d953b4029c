package adapt

import (
	"context"
	"fmt"
	"time"

	"github.com/situationd/situationd/situations"
)

// Find looks for one queue by name: its row without instances, nil if there is
// no such local queue or clustered alias, and the names of those that there are.
func (l *Link) Find(ctx context.Context, qmgrName, queue string) (*situations.Row, []string, error) {
	conn, _, err := l.Conn()
	if err != nil {
		return nil, nil, err
	}
	all, err := conn.Sample(ctx, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("look for %s: %w", queue, unavailable(l, conn, err))
	}
	source := Source{qmgr: qmgrName}
	names := make([]string, 0, len(all.Queues))
	for i := range all.Queues {
		if all.Queues[i].Name == queue {
			row := source.row(all.Queues[i], time.Now())
			return &row, nil, nil
		}
		names = append(names, all.Queues[i].Name)
	}
	return nil, names, nil
}
