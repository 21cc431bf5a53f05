package skill

import (
	"cmp"
	"math"
	"slices"

	"interlock/arm"
	"interlock/contract"
	"interlock/reject"
	"interlock/units"
	"interlock/world"
)

// Distances on a place, metres: around a box in its spot, and from which on more distance is no better.
const (
	spotRoomM   = 0.02
	apartEnough = 0.08
	roundM      = 1e-6 // distances closer than this count as equal
)

// place sets the held object down on the place named by the call: over it, down, release, retreat.
func (d *draft) place() *reject.Rejection {
	field, name, given := d.argOf(contract.ArgPlace)
	if !given {
		return refuse(reject.MissingArgument, "target", Place+" needs the name of a place")
	}
	region, known := d.planner.contract.Place(name)
	if !known {
		return refuse(reject.NotInEnum, field, "no place is named "+name)
	}
	held, others, refusal := d.held()
	if refusal != nil {
		return refusal
	}
	size := d.heldSize(held)
	for _, spot := range spots(region, size, others) {
		p, ok := arm.PlanPlace(d.planner.chain, units.Vec3{spot[0], spot[1], 0}, size)
		if !ok {
			continue
		}
		d.raise()
		jaw := d.at[arm.Jaw]
		d.to("above", leastAbove, p.Above.With(jaw))
		d.to("down", leastDown, p.At.With(jaw))
		d.to("release", leastJaw, p.At.With(p.JawOpenRad))
		d.to("settle", leastHold, d.at)
		d.to("retreat", leastLift, p.Retreat.With(p.JawOpenRad))
		return nil
	}
	return refuse(reject.Unreachable, field, "no free spot on "+name+" is in reach")
}

// held returns the object bound to the call as the held one, and every other in sight.
func (d *draft) held() (held world.Object, others []world.Object, refusal *reject.Rejection) {
	label, field := "", "held"
	for _, b := range d.request.Capability.Binds {
		if v, bound := d.request.Args.Get(b.Arg); bound {
			label, field = v.Text, b.Arg
			break
		}
	}
	if label == "" {
		return held, nil, refuse(reject.NoSuchObject, field, "no object is known to be held")
	}
	seen, refusal := d.objects()
	if refusal != nil {
		return held, nil, refusal
	}
	if held, refusal = object(seen, field, label); refusal != nil {
		return held, nil, refusal
	}
	for _, o := range seen {
		if o.Label != label {
			others = append(others, o)
		}
	}
	return held, others, nil
}

// heldSize returns the edges of the held object as the hand sees them: along the jaw axis, across it, up.
func (d *draft) heldSize(o world.Object) units.Vec3 {
	b := arm.BoxOf(o.Pose, o.SizeM)
	_, hand := d.planner.chain.TipPose(d.at.Joints())
	jaw := hand.Column(0)
	if off := math.Remainder(math.Atan2(jaw[1], jaw[0])-b.YawRad, math.Pi); math.Abs(off) > math.Pi/4 {
		return units.Vec3{b.SizeM[1], b.SizeM[0], b.SizeM[2]}
	}
	return b.SizeM
}

// spots returns where on the place a box of the size may stand, the freest first, and of equally free ones that
// nearest to the middle: the place is divided into as many equal cells as fit, and a cell counts only if its middle is
// clear of the other objects.
func spots(region contract.PlaceDecl, size units.Vec3, others []world.Object) [][2]float64 {
	type spot struct {
		at         [2]float64
		apart, off float64
	}
	cell := math.Max(size[0], size[1]) + spotRoomM
	nx, ny := cells(region, 0, cell), cells(region, 1, cell)
	var free []spot
	for i := range nx * ny {
		at := [2]float64{middle(region, 0, i%nx, nx), middle(region, 1, i/nx, ny)}
		if apart := clearance(at, size, others); apart >= 0 {
			off := math.Hypot(at[0]-middle(region, 0, 0, 1), at[1]-middle(region, 1, 0, 1))
			free = append(free, spot{at, math.Min(apart, apartEnough), math.Round(off / roundM)})
		}
	}
	slices.SortStableFunc(free, func(a, b spot) int { return cmp.Or(cmp.Compare(b.apart, a.apart), cmp.Compare(a.off, b.off)) })
	out := make([][2]float64, len(free))
	for i := range free {
		out[i] = free[i].at
	}
	return out
}

// mostCells bounds the cells along one edge of a place.
const mostCells = 16

func cells(region contract.PlaceDecl, axis int, cell float64) int {
	n := (region.MaxM[axis] - region.MinM[axis]) / cell
	return int(math.Max(1, math.Min(mostCells, math.Floor(n+1e-9))))
}

func middle(region contract.PlaceDecl, axis, i, n int) float64 {
	return region.MinM[axis] + (float64(i)+0.5)*(region.MaxM[axis]-region.MinM[axis])/float64(n)
}

// clearance returns how far a box at the spot is from the nearest other object beyond touching it and room for the
// jaws; negative where there is no room.
func clearance(at [2]float64, size units.Vec3, others []world.Object) float64 {
	least := math.Inf(1)
	for _, o := range others {
		between := math.Hypot(o.Pose.Position[0]-at[0], o.Pose.Position[1]-at[1])
		touching := (math.Max(size[0], size[1]) + math.Max(o.SizeM[0], o.SizeM[1])) / 2
		least = math.Min(least, between-touching-spotRoomM/2)
	}
	return least
}
