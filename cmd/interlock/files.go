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
func loadContract(name string) (*contract.Contract, error) {
	src, err := readFile(name, "robots", robots.Files)
	if err != nil {
		return nil, badInput(fmt.Errorf("contract: %w", err))
	}
	return contract.Load(name, src)
}

// loadSuite loads a suite and the contract that it, or the caller, names.
func loadSuite(name, contractName string) (eval.Suite, *contract.Contract, error) {
	src, err := readFile(name, "suites", suites.Files)
	if err != nil {
		return eval.Suite{}, nil, badInput(fmt.Errorf("suite: %w", err))
	}
	if contractName == "" {
		if contractName, err = eval.ContractOf(name, src); err != nil {
			return eval.Suite{}, nil, badInput(err)
		}
	}
	c, err := loadContract(contractName)
	if err != nil {
		return eval.Suite{}, nil, err
	}
	suite, err := eval.Load(name, src, lab.Checks(c))
	if err != nil {
		return eval.Suite{}, nil, badInput(err)
	}
	return suite, c, nil
}
