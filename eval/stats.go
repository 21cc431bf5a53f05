package eval

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Confidence is the level of every printed interval.
const Confidence = 0.95

// Proportion is k of n with its exact two-sided 95 % interval (Clopper–Pearson). Its coverage is at least 95 %
// whatever the true rate.
type Proportion struct {
	K    int     `json:"k"`
	N    int     `json:"n"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// NewProportion returns k of n with its interval; with n = 0 nothing is known and the interval is all of 0…1.
func NewProportion(k, n int) Proportion {
	p := Proportion{K: k, N: n, Low: 0, High: 1}
	if n <= 0 || k < 0 || k > n {
		return p
	}
	tail := (1 - Confidence) / 2
	if k > 0 {
		p.Low = distuv.Beta{Alpha: float64(k), Beta: float64(n - k + 1)}.Quantile(tail)
	}
	if k < n {
		p.High = distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(1 - tail)
	}
	return p
}

// Rate is k/n, NaN when n is 0.
func (p Proportion) Rate() float64 { return float64(p.K) / float64(p.N) }

// String returns "0.43 (3/7) 0.10–0.82", or "–" when n is 0. A bound that two digits would show as 0 has more.
func (p Proportion) String() string {
	switch {
	case p.N == 0:
		return "–"
	case p.High < 0.01:
		return fmt.Sprintf("%.2f (%d/%d) %.2f–%.4f", p.Rate(), p.K, p.N, p.Low, p.High)
	}
	return fmt.Sprintf("%.2f (%d/%d) %.2f–%.2f", p.Rate(), p.K, p.N, p.Low, p.High)
}

// McNemar is the exact two-sided p-value for b pairs that changed one way and c the other.
func McNemar(b, c int) float64 {
	n := b + c
	if n <= 0 || b < 0 || c < 0 {
		return 1
	}
	tail := 0.0
	for k := range min(b, c) + 1 {
		tail += math.Exp(logChoose(n, k) - float64(n)*math.Ln2)
	}
	return min(1, 2*tail)
}

// PassK estimates without bias how likely k further tries all pass, from c passes in n tries: C(c,k)/C(n,k). It is
// NaN when fewer than k tries were made: nothing can be said then.
func PassK(n, c, k int) float64 {
	switch {
	case k < 1 || n < k || c < 0 || c > n:
		return math.NaN()
	case c < k:
		return 0
	}
	p := 1.0
	for i := range k {
		p *= float64(c-i) / float64(n-i)
	}
	return p
}

// logChoose is the logarithm of n over k.
func logChoose(n, k int) float64 {
	lg := func(x int) float64 { v, _ := math.Lgamma(float64(x + 1)); return v }
	return lg(n) - lg(k) - lg(n-k)
}
