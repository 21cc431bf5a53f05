package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"

	"interlock/body/remote"
)

// service is one listener of a process.
type service struct {
	flag    string // that names the address
	addr    string
	handler http.Handler
	person  bool // it is a person's line: a unix socket for this user alone
}

func (s *service) listen() (net.Listener, error) {
	if s.person {
		return remote.ListenPerson(s.addr)
	}
	return remote.Listen(s.addr)
}

func (s *service) serve(ctx context.Context, l net.Listener) error {
	if s.person {
		return remote.ServePerson(ctx, l, s.handler)
	}
	return remote.Serve(ctx, l, s.handler)
}

// together runs the services and the work until ctx ends, a person ends the process, or one of them fails; then it waits
// for all. Every listener is open before anything runs, and before ready says so to whoever waits for it.
func together(ctx context.Context, services []service, ready func() error, work ...func(context.Context) error) (err error) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	runs := work
	for _, s := range services {
		l, listenErr := s.listen()
		if listenErr != nil {
			return badInput(fmt.Errorf("%s %s: %w", s.flag, word(s.addr), listenErr))
		}
		defer func() { _ = l.Close() }()
		runs = append(runs, func(ctx context.Context) error { return s.serve(ctx, l) })
	}
	if err := ready(); err != nil {
		return err
	}
	var all sync.WaitGroup
	errs := make([]error, len(runs))
	for i, run := range runs {
		all.Go(func() {
			errs[i] = run(ctx)
			cancel()
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// runtimeAddr is where a process of this user listens if nobody says otherwise: a unix socket in the runtime folder.
func runtimeAddr(name string) (string, error) {
	dir, err := runtimeFolder()
	if err != nil {
		return "", err
	}
	return "unix:" + filepath.Join(dir, name+".sock"), nil
}

// runtimeFolder is a folder that only this user may enter, and that lasts as long as processes do.
func runtimeFolder() (string, error) {
	dir := os.Getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		dir = filepath.Join(os.TempDir(), "interlock-"+strconv.Itoa(os.Getuid()))
	} else {
		dir = filepath.Join(dir, "interlock")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !ok || int(owner.Uid) != os.Getuid() {
		return "", fmt.Errorf("%s is not a folder of this user alone", dir)
	}
	return dir, nil
}

// stateFile is where a process of this user keeps what must outlive it.
func stateFile(name string) (string, error) {
	dir := os.Getenv("XDG_STATE_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(home, ".local", "state")
	}
	dir = filepath.Join(dir, "interlock")
	return filepath.Join(dir, name), os.MkdirAll(dir, 0o700)
}

// orElse fills a flag that was not given.
func orElse(flag *string, make func(string) (string, error), name string) error {
	if *flag != "" {
		return nil
	}
	v, err := make(name)
	*flag = v
	return err
}
