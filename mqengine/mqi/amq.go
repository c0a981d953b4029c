package mqi

import "strings"

// AMQ is the text of a message with its inserts put in place of %1, %2 ...
// Missing inserts become blank; an unknown id gives the inserts alone.
func AMQ(id string, inserts ...string) string {
	text, ok := amqTexts[id]
	if !ok {
		return strings.Join(inserts, " ")
	}
	return expand(text, inserts)
}

func expand(text string, inserts []string) string {
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
