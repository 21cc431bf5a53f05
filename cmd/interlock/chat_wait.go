package main

import (
	"context"
	"slices"
	"time"

	contractv1 "interlock/contract/v1"
	"interlock/reject"
)

// How long a call that a person may allow waits for one, and how often it is made again in the meantime. At the robot it
// waits 5 minutes; made after that it would be another one, for which nobody waits here.
const (
	allowWithin = 5*time.Minute - lineWithin
	allowEvery  = 500 * time.Millisecond
)

// aPersons reports whether a refusal asks for a person's word, which may still come.
func aPersons(r *contractv1.Rejection) bool {
	needs := r.GetCode() == string(reject.NeedsApproval) || r.GetCode() == string(reject.NotLicensed)
	return needs && r.GetRetry() == string(reject.AfterOperator)
}

// passing reports whether a refusal passes by itself: a stale reading, a busy or crowded robot. A person's no, which may be
// asked for again later, does not.
func passing(code, retry string) bool {
	return retry == string(reject.Later) && code != string(reject.NeedsApproval) && code != string(reject.NotLicensed)
}

// onlyAPerson reports whether nothing but a person's word is missing, and there is somebody to give it.
func onlyAPerson(ack *contractv1.MissionAck) bool {
	return len(ack.GetRejections()) > 0 && !slices.ContainsFunc(ack.GetRejections(), func(r *contractv1.Rejection) bool { return !aPersons(r) })
}

// stillWaits reports whether an answer leaves a call waiting: for a person, or for what passes.
func stillWaits(ack *contractv1.MissionAck, err error) bool {
	if l, refused := refusals(err); refused {
		return !slices.ContainsFunc(l, func(r reject.Rejection) bool { return !passing(string(r.Code), string(r.Retry)) })
	}
	return err == nil && len(ack.GetRejections()) > 0 && !slices.ContainsFunc(ack.GetRejections(), func(r *contractv1.Rejection) bool {
		return !aPersons(r) && !passing(r.GetCode(), r.GetRetry())
	})
}

// startOnceAllowed makes the call again until a person has allowed it or denied it, something refuses it that does not
// pass, or nobody came: then the answer is the one that asked for a person.
func (x *exchange) startOnceAllowed(ctx context.Context, q *contractv1.StartRequest, asked *contractv1.MissionAck) (*contractv1.MissionAck, error) {
	waiting, done := context.WithTimeout(ctx, allowWithin)
	defer done()
	for {
		select {
		case <-time.After(allowEvery):
		case <-waiting.Done():
			return asked, ctx.Err()
		}
		ack, err := x.Client.Start(ctx, q)
		switch {
		case !stillWaits(ack, err):
			return ack, err
		case err == nil && onlyAPerson(ack):
			asked = ack
		}
	}
}
