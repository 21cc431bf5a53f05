package contract

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"interlock/contract/rule"
)

// hashOf returns the SHA-256 of the canonical form, hex.
func hashOf(n *node) string {
	var b strings.Builder
	canonical(&b, n)
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:])
}

// canonical writes a node as JSON with sorted keys and shortest numbers.
func canonical(b *strings.Builder, n *node) {
	switch n.kind {
	case kindNull:
		b.WriteString("null")
	case kindText:
		b.WriteString(rule.Quote(n.text))
	case kindNumber:
		b.WriteString(rule.NumberJSON(n.number))
	case kindFlag:
		if n.flag {
			b.WriteString("true")
		} else {
			b.WriteString("false")
		}
	case kindList:
		b.WriteByte('[')
		for i, item := range n.items {
			if i > 0 {
				b.WriteByte(',')
			}
			canonical(b, item)
		}
		b.WriteByte(']')
	case kindMap:
		sorted := slices.Clone(n.members)
		slices.SortFunc(sorted, func(x, y member) int { return strings.Compare(x.name, y.name) })
		b.WriteByte('{')
		for i, m := range sorted {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(rule.Quote(m.name) + ":")
			canonical(b, m.value)
		}
		b.WriteByte('}')
	}
}
