package main

import (
	"strings"
	"testing"

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
