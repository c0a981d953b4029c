package mqi

import (
	"slices"
	"strings"
)

// AMQ is the text of a message with its inserts put in place of %1, %2 ...
// Missing inserts become blank. An id that the table does not know gives the
// inserts alone: a log line is better than none.
func AMQ(id string, inserts ...string) string {
	text, ok := amqTexts[id]
	if !ok {
		return strings.Join(inserts, " ")
	}
	return expand(text, inserts)
}

// KnownAMQ reports whether the table has the id, severity letter included.
func KnownAMQ(id string) bool {
	_, ok := amqTexts[id]
	return ok
}

// AMQIDs lists the ids of the table in ascending order.
func AMQIDs() []string {
	ids := make([]string, 0, len(amqTexts))
	for id := range amqTexts {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// AMQSeverity is the letter of an id: I, W, E, S or T; 0 if it has none.
func AMQSeverity(id string) byte {
	if len(id) == 8 && id[7] >= 'A' && id[7] <= 'Z' {
		return id[7]
	}
	return 0
}

func expand(text string, inserts []string) string {
	if !strings.Contains(text, "%") {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '%' || i+1 == len(text) || text[i+1] < '1' || text[i+1] > '9' {
			b.WriteByte(text[i])
			continue
		}
		i++
		if n := int(text[i] - '1'); n < len(inserts) {
			b.WriteString(inserts[n])
		}
	}
	return b.String()
}
