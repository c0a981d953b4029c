package situations

// nearest finds the candidate that a word was most likely meant to be, or
// nothing if none is near enough to be worth naming.
func nearest(word string, candidates []string) string {
	best, bestDistance := "", 1+max(1, min(3, len(word)/3))
	for _, c := range candidates {
		if d := editDistance(word, c); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// editDistance counts insertions, deletions, replacements and swaps of
// neighbours. Words beyond 64 characters are not compared.
func editDistance(a, b string) int {
	x, y := []rune(a), []rune(b)
	if len(x) > 64 || len(y) > 64 {
		return max(len(x), len(y))
	}
	var before, last []int
	cur := make([]int, len(y)+1)
	for j := range cur {
		cur[j] = j
	}
	for i := 1; i <= len(x); i++ {
		before, last, cur = last, cur, make([]int, len(y)+1)
		cur[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			cur[j] = min(last[j]+1, cur[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
	}
	return cur[len(y)]
}
