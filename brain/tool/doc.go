// Package tool is the registry of what a model may call: the robot's capabilities as its manifest lists them, Go
// functions of the application, and report_result, which closes a task with the model's claim.
//
// Every answer is data with a verdict: "ok" (the robot ran and answered; how the mission ended is in it), "rejected" (a
// condition, state or licence refused it) or "error" (the call itself is wrong, or our line failed). Nothing raises. An
// answer holds measured values, never "executed". The registry must never decide whether a call may run, change its
// arguments, choose another tool, or start a mission twice.
package tool
