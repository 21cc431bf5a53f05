package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"interlock/contract"
	"interlock/eval"
	"interlock/eval/lab"
	"interlock/robots"
	"interlock/suites"
)

// What a saved run's folder holds besides eval's own files.
const (
	suiteCopy    = "suite.yaml"
	contractCopy = "contract.yaml"
	tracesFolder = "traces"
)

// readFile reads a file, or, where there is none of the name, the shipped one that the path names ("robots/x.yaml").
func readFile(name string, folder string, shipped embed.FS) ([]byte, error) {
	src, err := os.ReadFile(name)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return src, err
	}
	if dir, base := path.Split(filepath.ToSlash(name)); path.Clean(dir) == folder || dir == "" {
		if src, shippedErr := shipped.ReadFile(base); shippedErr == nil {
			return src, nil
		}
	}
	return nil, err
}

// loadContract loads and checks a contract file.
func loadContract(name string) (*contract.Contract, []byte, error) {
	src, err := readFile(name, "robots", robots.Files)
	if err != nil {
		return nil, nil, badInput(fmt.Errorf("contract: %w", err))
	}
	c, err := contract.Load(name, src)
	return c, src, err
}

// trial is a suite with its contract, and both as they were written.
type trial struct {
	suite                  eval.Suite
	contract               *contract.Contract
	suiteText, contractTxt []byte
}

// loadTrial loads a suite and the contract that it, or the caller, names.
func loadTrial(name, contractName string) (t trial, err error) {
	if t.suiteText, err = readFile(name, "suites", suites.Files); err != nil {
		return trial{}, badInput(fmt.Errorf("suite: %w", err))
	}
	if contractName == "" {
		if contractName, err = eval.ContractOf(name, t.suiteText); err != nil {
			return trial{}, badInput(err)
		}
	}
	if t.contract, t.contractTxt, err = loadContract(contractName); err != nil {
		return trial{}, err
	}
	if t.suite, err = eval.Load(name, t.suiteText, lab.Checks(t.contract)); err != nil {
		return trial{}, badInput(err)
	}
	return t, nil
}

// keep writes the trial's files into a run's folder, so that the run can be replayed whatever becomes of the originals.
func (t *trial) keep(dir string) error {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return badInput(fmt.Errorf("--out: %s is not empty; a run is saved in a folder of its own", dir))
	}
	if err := os.MkdirAll(filepath.Join(dir, tracesFolder), 0o755); err != nil {
		return badInput(fmt.Errorf("--out: %w", err))
	}
	return errors.Join(
		os.WriteFile(filepath.Join(dir, suiteCopy), t.suiteText, 0o644),
		os.WriteFile(filepath.Join(dir, contractCopy), t.contractTxt, 0o644),
	)
}
