// Command cambrian-tcp-h2 is the endpoint of the endpoint contract
// (docs/reference/endpoint-contract.md) for HTTP/2 over TLS 1.3 over kernel TCP: Go's net/http on
// sockets whose congestion controller is the kernel's.
package main

import (
	"runtime"

	"cambrian/endpoint"
)

// heapBytes is the Go runtime's soft limit on all its memory.
const heapBytes = 48 << 20

func main() {
	endpoint.TuneRuntime(heapBytes)
	support := endpoint.Support{
		Name:        "tcp-h2",
		Version:     runtime.Version(),
		CCAs:        availableCCAs(),
		ServerALPNs: []string{endpoint.ALPNH2},
		ClientALPNs: []string{endpoint.ALPNH2},
		Notes:       "the kernel decides which CCAs there are",
	}
	endpoint.Program{Support: support, Server: serverOf(support), Client: clientOf(support)}.Main()
}
