package main

import (
	"testing"

	"cambrian/endpoint/endpointtest"
	"golang.org/x/net/quic"
)

func TestTransfer(t *testing.T) {
	endpointtest.HQTransfer(t, ccaReno, runServer, runClient)
}

func TestReadCCANeedsAController(t *testing.T) {
	if name, err := readCCA(new(quic.Conn)); err == nil {
		t.Errorf("a connection without a controller was read as %s", name)
	}
}

func TestSendBufferKnob(t *testing.T) {
	var options transportOptions
	set := options.knobs()["send_buffer_bytes"]
	if options.sendBufferBytes != defaultSendBufferBytes {
		t.Errorf("default %d", options.sendBufferBytes)
	}
	if err := set("1024"); err != nil || options.sendBufferBytes != 1024 {
		t.Errorf("got %d, %v", options.sendBufferBytes, err)
	}
	for _, bad := range []string{"0", "-1", "many"} {
		if set(bad) == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}
