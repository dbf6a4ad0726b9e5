package main

import (
	"fmt"
	"runtime/debug"
)

const (
	stackModule = "github.com/quic-go/quic-go"
	// stackVersion is the release whose private fields controller.go knows.
	stackVersion = "v0.65.0"
)

// checkStackVersion refuses to run on any other release than the one that controller.go was written for.
func checkStackVersion() error {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return fmt.Errorf("the binary carries no build information: build it with go build, in module mode")
	}
	for _, module := range info.Deps {
		if module.Path != stackModule {
			continue
		}
		if module.Version != stackVersion || module.Replace != nil {
			return fmt.Errorf("built with %s %s; controller.go knows %s: check its fields first",
				stackModule, module.Version, stackVersion)
		}
		return nil
	}
	return fmt.Errorf("the binary does not contain %s", stackModule)
}

func describe(emit *emitter) error {
	return emit.encoder.Encode(map[string]any{
		"name":    "quic-go",
		"version": stackVersion[1:],
		"ccas":    ccas,
		"roles":   []string{"server", "client"},
		"alpns":   []string{alpnHQ, alpnH3},
		"notes":   "h3 is for the client only",
	})
}
