package contract_test

import (
	"testing"

	"interlock/contract"
)

const robotFile = "../robots/so101-tabletop.yaml"

func load(t testing.TB) *contract.Contract {
	t.Helper()
	c, err := contract.LoadFile(robotFile)
	if err != nil {
		t.Fatalf("%s does not load:\n%v", robotFile, err)
	}
	return c
}

func TestLoadsRobot(t *testing.T) { load(t) }
