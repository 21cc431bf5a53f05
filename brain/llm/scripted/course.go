package scripted

// course is how far a plan has come, told from the results.
type course struct {
	next     int    // index of the first intent that is not yet done; len(plan): all are
	attempts int    // calls already made for it
	last     result // of the last of them
	looked   *result
}

// follow walks the results along the plan. Results of looks after the plan's end are kept as looked; skip first results
// belong to no intent.
func (v *view) follow(skip int, good func(result) bool) course {
	var c course
	for _, r := range v.results[min(skip, len(v.results)):] {
		switch {
		case c.next == len(v.plan):
			if looks(r.tool) {
				c.looked = &r
			}
		case good(r):
			c.next, c.attempts, c.last = c.next+1, 0, r
		default:
			c.attempts, c.last = c.attempts+1, r
		}
	}
	return c
}

// once counts every answered call as done with.
func once(result) bool { return true }
