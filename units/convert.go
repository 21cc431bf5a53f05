package units

import "math"

// MetresFromCm converts centimetres to metres.
func MetresFromCm(cm float64) float64 { return cm / 100 }

// CmFromMetres converts metres to centimetres.
func CmFromMetres(m float64) float64 { return m * 100 }

// MetresFromMm converts millimetres to metres.
func MetresFromMm(mm float64) float64 { return mm / 1000 }

// MmFromMetres converts metres to millimetres.
func MmFromMetres(m float64) float64 { return m * 1000 }

// RadFromDeg converts degrees to radians.
func RadFromDeg(deg float64) float64 { return deg * math.Pi / 180 }

// DegFromRad converts radians to degrees.
func DegFromRad(rad float64) float64 { return rad * 180 / math.Pi }

// Finite reports whether every value is a number and not infinite.
func Finite(vs ...float64) bool {
	for _, v := range vs {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}
