package rule

import (
	"fmt"
	"strings"
)

// Nearest returns "did you mean …" for the known name closest to word, or "" when none is close.
func Nearest(word string, known []string) string {
	best, bestAt := 1+len(word)/3, ""
	for _, k := range known {
		d := distance(strings.ToLower(word), strings.ToLower(k))
		if strings.HasPrefix(k, word+"_") { // a unit was forgotten
			d = 1
		}
		if d <= best && (bestAt == "" || d < best) {
			best, bestAt = d, k
		}
	}
	if bestAt == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %q?", bestAt)
}

// distance is the Levenshtein distance of two words, which it cuts at 64 bytes.
func distance(a, b string) int {
	a, b = a[:min(len(a), 64)], b[:min(len(b), 64)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			above := row[j+1]
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(above+1, row[j]+1, diagonal+cost)
			diagonal = above
		}
	}
	return row[len(b)]
}
