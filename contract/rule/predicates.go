package rule

import "slices"

// PredicateComplaint is a complaint about one predicate. Without a place in its text it is about the predicate itself.
type PredicateComplaint struct {
	Predicate *Predicate
	Complaint
	Whole bool
}

// CheckPredicates types every predicate's body and refuses recursion. Conditions can be compiled once it finds nothing.
func (l *Language) CheckPredicates() (list []PredicateComplaint, err error) {
	scope, err := l.Scope(nil)
	if err != nil {
		return nil, err
	}
	uses := map[*Predicate][]*Predicate{}
	for _, p := range l.vocabulary.Predicates {
		body, complaints := l.parse(p.That)
		if body != nil && len(complaints) == 0 {
			t := scope.typing(l.vocabulary, body, p.Params, true, &complaints)
			if v := t.of(body.root); v.sort != SortFlag && v.sort != SortNone {
				t.problem(body.root, "wrong-type", "compare it with something", "a predicate is true or false, this is %s", v.sort)
			}
			uses[p], p.body = t.calls, body
		}
		for _, c := range complaints {
			list = append(list, PredicateComplaint{p, c, false})
		}
	}
	for _, p := range l.vocabulary.Predicates {
		if reaches(p, p, uses, map[*Predicate]bool{}) {
			list = append(list, PredicateComplaint{p, Complaint{Code: "recursion", Message: "the predicate uses itself"}, true})
		}
	}
	return list, nil
}

// reaches reports whether from uses target, at any depth.
func reaches(from, target *Predicate, uses map[*Predicate][]*Predicate, seen map[*Predicate]bool) bool {
	for _, p := range uses[from] {
		if p == target {
			return true
		}
		if !seen[p] {
			seen[p] = true
			if reaches(p, target, uses, seen) {
				return true
			}
		}
	}
	return false
}

// Reads returns the facts a predicate reads, at any depth.
func (v *Vocabulary) Reads(p *Predicate) []string { return v.reads(p, map[*Predicate]bool{}) }

func (v *Vocabulary) reads(p *Predicate, seen map[*Predicate]bool) (facts []string) {
	seen[p] = true
	for _, word := range p.words() {
		if _, ok := v.Fact(word); ok && !slices.Contains(facts, word) {
			facts = append(facts, word)
		}
		if other := v.Predicate(word); other != nil && !seen[other] {
			facts = append(facts, v.reads(other, seen)...)
		}
	}
	return facts
}
