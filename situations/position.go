package situations

// place is a stretch of a rule file.
type place struct {
	line, col, length int
}
