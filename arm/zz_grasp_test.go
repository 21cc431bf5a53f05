package arm

import (
	"fmt"
	"interlock/units"
	"math"
	"testing"
	"time"
)

func TestProbeGrasp(t *testing.T) {
	c := SO101()
	var okNs, badNs []int64
	sum := 0.0
	for r := 0.10; r <= 0.6; r += 0.01 {
		for az := -60.0; az <= 60; az += 20 {
			for yaw := 0.0; yaw <= 80; yaw += 20 {
				s, co := math.Sincos(az * math.Pi / 180)
				b := Box{Centre: units.Vec3{r * co, r * s, .015}, SizeM: units.Vec3{.03, .03, .03}, YawRad: yaw * math.Pi / 180}
				t0 := time.Now()
				g, ok := PlanGrasp(c, b, 0)
				d := time.Since(t0).Nanoseconds()
				if ok {
					okNs = append(okNs, d)
					sum += g.PitchRad + g.MissM*100 + g.At[WristRoll]*.01
				} else {
					badNs = append(badNs, d)
				}
			}
		}
	}
	fmt.Println("ok", len(okNs), quant(okNs))
	fmt.Println("bad", len(badNs), quant(badNs))
	fmt.Println(sum)
}
