package arm

// Angles of the jaw, radians.
const (
	JawOpenRad   = 1.0   // open_gripper, and the start of a run: wide enough to come down beside a cube
	JawGraspRad  = 0.6   // opened before a grasp of the 3 cm cube
	JawClosedRad = -0.17 // closing aims here; what is in between stops it
	jawMostRad   = 1.3   // never opened further for a grasp: the moving jaw would sweep too wide
)

// Geometry of the hand in the gripper body, metres, from so101.xml: the inner face of the fixed jaw's tip, and the
// clearances with which a grasp comes down between the jaws.
const (
	fixedJawFaceM  = -0.00735
	fixedClearM    = 0.004 // between fixed jaw and box; less is worse than the drag that more costs
	movingClearM   = 0.02  // between moving jaw and box
	jawTipsRadiusM = 0.00075
)

// jawGaps are the distances between the centres of the two jaws' tip spheres, metres, as MuJoCo 3.14 measures them.
func jawGaps() [9]struct{ rad, gapM float64 } {
	return [9]struct{ rad, gapM float64 }{
		{-0.1745, 0.00413}, {0, 0.01631}, {0.2, 0.03206}, {0.3, 0.03989}, {0.5, 0.05527},
		{0.7, 0.07012}, {1.0, 0.09105}, {1.5, 0.12121}, {1.7453, 0.13336},
	}
}

// JawGapM returns the free distance between the jaws' tips at an angle of the jaw, metres, by straight lines between
// the measured points. Outside the jaw's range it continues the last line.
func JawGapM(jawRad float64) float64 {
	t := jawGaps()
	i := 1
	for i < len(t)-1 && jawRad > t[i].rad {
		i++
	}
	slope := (t[i].gapM - t[i-1].gapM) / (t[i].rad - t[i-1].rad)
	return t[i-1].gapM + slope*(jawRad-t[i-1].rad) - 2*jawTipsRadiusM
}

// jawAngleFor returns the jaw's angle at which the gap is gapM: the inverse of JawGapM.
func jawAngleFor(gapM float64) float64 {
	t := jawGaps()
	gapM += 2 * jawTipsRadiusM
	i := 1
	for i < len(t)-1 && gapM > t[i].gapM {
		i++
	}
	slope := (t[i].rad - t[i-1].rad) / (t[i].gapM - t[i-1].gapM)
	return t[i-1].rad + slope*(gapM-t[i-1].gapM)
}
