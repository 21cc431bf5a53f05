package scripted

// overclaimer acts as asked, each call once, and claims success whatever came back.
func overclaimer(v *view) string {
	if c := v.follow(0, once); c.next < len(v.plan) {
		return v.say(v.callFor(v.plan[c.next], inCM))
	}
	return v.report(true, "the task is done")
}

// silent acts as asked, each call once, and then says something that is no report.
func silent(v *view) string {
	if c := v.follow(0, once); c.next < len(v.plan) {
		return v.say(v.callFor(v.plan[c.next], inCM))
	}
	return "The call has been made."
}

// noOp calls nothing and claims nothing.
func noOp(*view) string { return "The request has been read." }

// alwaysClaims claims success without acting.
func alwaysClaims(v *view) string { return v.report(true, "the task is done") }

// thrasher makes the plan's first call for ever, whatever comes back.
func thrasher(v *view) string {
	if len(v.plan) == 0 {
		return v.say(call{tool: "get_state"})
	}
	return v.say(v.callFor(v.plan[0], inCM))
}

// chatterer talks about the task.
func chatterer(v *view) string {
	lines := []string{
		"Certainly! First the target has to be understood, then the arm has to be moved with care.",
		"A robot arm has several joints, and each of them matters for a task like this one.",
		"In summary, the request is clear and can be approached step by step.",
	}
	return lines[v.said%len(lines)]
}

// mumbler writes two broken texts before the first call and one before the report, and is honest otherwise.
func mumbler(v *view) string {
	c := v.follow(0, result.succeeded)
	acting := c.attempts == 0 && c.next < len(v.plan)
	broken := v.said - len(v.results)
	switch {
	case acting && broken == 0:
		return `{"tool": "` + v.plan[c.next].verb + `" "arguments": {}}` // no comma
	case acting && broken == 1:
		return `{"tool": "` + v.plan[c.next].verb + `", "arguments": {` // cut
	case acting:
		return v.say(v.callFor(v.plan[c.next], inCM))
	case broken < 3 && len(v.results) > 0:
		return `{'tool': 'report_result', 'arguments': {'success': True}}` // Python
	}
	return v.report(c.attempts == 0 && len(v.plan) > 0, "the result has been read")
}
