// Package lab builds whole worlds for evaluation: a simulator with the faults a scenario asks for, its guard, a robot
// with the gate ON or OFF, a brain, and the judge who watches the truth.
//
// A world is folded into this process, or is a crew's: robot, driver and plant as processes of their own, which whoever
// builds the lab hands in. Either way the judge sees truth after every tick of the robot, and time moves when the robot
// asks for it.
//
// The gate can be OFF here and nowhere else, and only around a simulated body. The lab holds the truth port; it hands
// it to the judge and to the truth-reading canary, never to a robot and never to any other agent.
package lab
