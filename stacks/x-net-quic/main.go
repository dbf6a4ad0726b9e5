// Command cambrian-x-net-quic is the golang.org/x/net/quic endpoint of the endpoint
// contract (docs/reference/endpoint-contract.md), over hq-interop.
package main

import "cambrian/endpoint"

const (
	stackModule = "golang.org/x/net"
	// stackVersion is the release whose private fields readCCA knows.
	stackVersion = "v0.62.0"
	// heapBytes is the Go runtime's soft limit on all its memory; a write buffer is part of it.
	heapBytes = 48 << 20

	ccaReno = "reno"
)

var support = endpoint.Support{
	Name:        "x-net-quic",
	Version:     stackVersion[1:],
	CCAs:        []string{ccaReno},
	ServerALPNs: []string{endpoint.ALPNHQ},
	ClientALPNs: []string{endpoint.ALPNHQ},
}

func main() {
	endpoint.TuneRuntime(heapBytes)
	endpoint.Program{Support: support, Server: runServer, Client: runClient}.Main()
}
