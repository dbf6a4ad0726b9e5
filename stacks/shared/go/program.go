// Package endpoint is what the laboratory's endpoints in Go share: the command line, the
// event lines, the transport log and the hq-interop transfers of the endpoint contract
// (docs/reference/endpoint-contract.md). A stack adds its connections.
package endpoint

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// Exit statuses of the endpoint contract.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitUnsupported = 127
)

// UsageError is a command line that the program cannot read.
type UsageError struct{ Reason string }

func (e UsageError) Error() string { return e.Reason }

// UnsupportedError is a request that the contract allows and the stack cannot meet.
type UnsupportedError struct{ Reason string }

func (e UnsupportedError) Error() string { return e.Reason }

// Support is what a stack can do: `describe` prints it, and options are checked against it.
type Support struct {
	Name        string
	Version     string
	CCAs        []string // none for a program that leaves the choice to the system
	ServerALPNs []string
	ClientALPNs []string
	Notes       string
}

// Side runs one role to its end: until its work is done or stop delivers a signal.
type Side func(arguments []string, emit *Emitter, stop <-chan os.Signal) error

// Program is an endpoint; a side that it lacks is nil.
type Program struct {
	Support Support
	Server  Side
	Client  Side
}

// Main runs the command line and ends the process with the contract's exit status.
func (p Program) Main() {
	err := p.run(os.Args[1:])
	if err == nil {
		return
	}
	fmt.Fprintf(os.Stderr, "cambrian-%s: %v\n", p.Support.Name, err)
	switch {
	case errors.As(err, new(UsageError)):
		os.Exit(exitUsage)
	case errors.As(err, new(UnsupportedError)):
		os.Exit(exitUnsupported)
	default:
		os.Exit(exitFailed)
	}
}

func (p Program) run(arguments []string) error {
	if len(arguments) == 0 {
		return UsageError{"say server, client or describe"}
	}
	emit := NewEmitter(os.Stdout)
	var side Side
	switch arguments[0] {
	case "server":
		side = p.Server
	case "client":
		side = p.Client
	case "describe":
		return emit.encoder.Encode(p.description())
	default:
		return UnsupportedError{fmt.Sprintf("no role %q; there are: server, client, describe", arguments[0])}
	}
	if side == nil {
		return UnsupportedError{fmt.Sprintf("role %q: this stack has no such side", arguments[0])}
	}
	return side(arguments[1:], emit, terminationSignal())
}

func (p Program) description() map[string]any {
	roles := []string{}
	if p.Server != nil {
		roles = append(roles, "server")
	}
	if p.Client != nil {
		roles = append(roles, "client")
	}
	alpns := slices.Concat(p.Support.ServerALPNs, p.Support.ClientALPNs)
	slices.Sort(alpns)
	description := map[string]any{
		"name":    p.Support.Name,
		"version": p.Support.Version,
		"ccas":    slices.Concat([]string{}, p.Support.CCAs),
		"roles":   roles,
		"alpns":   slices.Compact(alpns),
	}
	if p.Support.Notes != "" {
		description["notes"] = p.Support.Notes
	}
	return description
}

// terminationSignal delivers SIGTERM (the end of a trial) and SIGINT.
func terminationSignal() <-chan os.Signal {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	return signals
}
