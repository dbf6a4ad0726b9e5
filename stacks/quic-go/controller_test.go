package main

import (
	"net"
	"os"
	"strings"
	"testing"

	"cambrian/endpoint"
	"cambrian/endpoint/endpointtest"
	"github.com/quic-go/quic-go"
)

func TestFindControllerNamesTheMissingField(t *testing.T) {
	if _, err := findController(new(quic.Conn)); err == nil || !strings.Contains(err.Error(), "sentPacketHandler") {
		t.Errorf("a connection without a handler gave %v", err)
	}
}

func TestTransfer(t *testing.T) {
	for _, cca := range support.CCAs {
		t.Run(cca, func(t *testing.T) { endpointtest.HQTransfer(t, cca, runServer, runClient) })
	}
}

// movingRelay stands between a client and its server, to which the client moves after some datagrams.
func movingRelay(t *testing.T, server string) string {
	t.Helper()
	listen := func() *net.UDPConn {
		socket, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { socket.Close() })
		return socket
	}
	to, err := net.ResolveUDPAddr("udp4", server)
	if err != nil {
		t.Fatal(err)
	}
	front, backs := listen(), []*net.UDPConn{listen(), listen()}
	answer := func(back *net.UDPConn, client *net.UDPAddr) {
		datagram := make([]byte, 65536)
		for {
			size, _, err := back.ReadFromUDP(datagram)
			if err != nil {
				return
			}
			_, _ = front.WriteToUDP(datagram[:size], client)
		}
	}
	go func() {
		datagram := make([]byte, 65536)
		for count := 0; ; count++ {
			size, client, err := front.ReadFromUDP(datagram)
			if err != nil {
				return
			}
			if count == 0 {
				go answer(backs[0], client)
				go answer(backs[1], client)
			}
			_, _ = backs[min(count/30, 1)].WriteToUDP(datagram[:size], to)
		}
	}()
	return front.LocalAddr().String()
}

func TestANewPathsControllerIsSelectedAndReadBack(t *testing.T) {
	for _, cca := range support.CCAs {
		moving := func(arguments []string, emit *endpoint.Emitter, stop <-chan os.Signal) error {
			arguments[1] = movingRelay(t, arguments[1])
			return runClient(arguments, emit, stop)
		}
		said := endpointtest.HQTransfer(t, cca, runServer, moving).Events(t, "cca")
		if len(said) != 2 || said[1]["confirmed"] != cca {
			t.Errorf("%s: cca events: %v", cca, said)
		}
	}
}
