package adapt

import (
	"context"
	"strings"

	"github.com/situationd/situationd/mqengine/mqsc"
)

// Display runs a DISPLAY command with ALL and gives one map of attributes for
// each object that was found. None found is no error: MQ calls it one, a
// listing does not.
func Display(ctx context.Context, link *Link, noun, name string) ([]map[string]string, error) {
	cmd := &mqsc.Command{Verb: "DISPLAY", Noun: noun, Name: name, All: true, Text: "DISPLAY " + noun + "('" + name + "') ALL"}
	conn, _, err := link.Conn()
	if err != nil {
		return nil, err
	}
	result, err := conn.Command(ctx, cmd)
	if err != nil {
		return nil, unavailable(link, conn, err)
	}
	var rows []map[string]string
	for _, response := range result.Responses {
		if len(response.Fields) == 0 {
			continue
		}
		row := make(map[string]string, len(response.Fields))
		for _, f := range response.Fields {
			row[f.Key] = strings.Join(f.Values, ",")
		}
		rows = append(rows, row)
	}
	return rows, nil
}
