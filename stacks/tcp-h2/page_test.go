package main

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"cambrian/endpoint"
	"cambrian/endpoint/endpointtest"
)

var testSupport = endpoint.Support{
	Name: "tcp-h2", CCAs: []string{"reno", "cubic"}, ServerALPNs: []string{endpoint.ALPNH2}, ClientALPNs: []string{endpoint.ALPNH2},
}

func TestPageLoad(t *testing.T) {
	endpointtest.PageLoad(t, "reno", endpoint.ALPNH2, serverOf(testSupport), clientOf(testSupport))
}

func TestBytesAndCCA(t *testing.T) {
	certificate, key := endpointtest.WriteCertificate(t)
	address := endpointtest.FreeAddress(t)
	var serverOut, clientOut endpointtest.Output
	stop := make(chan os.Signal, 1)
	served := make(chan error, 1)
	go func() {
		served <- serverOf(testSupport)([]string{"--listen", address, "--cca", "reno", "--cert", certificate, "--key", key},
			endpoint.NewEmitter(&serverOut), stop)
	}()
	serverOut.Await(t, "ready")
	err := clientOf(testSupport)([]string{"--connect", address, "--bytes", "3000001", "--set", "receive_buffer_bytes=1000000"},
		endpoint.NewEmitter(&clientOut), make(chan os.Signal))
	if err != nil {
		t.Fatal(err)
	}
	stop <- syscall.SIGTERM
	if err := <-served; err != nil {
		t.Fatal(err)
	}
	if cca := serverOut.Event(t, "cca"); cca["confirmed"] != "reno" {
		t.Errorf("cca event: %v", cca)
	}
	if done := clientOut.Event(t, "done"); done["bytes"] != 3_000_001.0 || done["complete"] != true {
		t.Errorf("done event: %v", done)
	}
	if stats := serverOut.Event(t, "stats"); stats["bytes_sent"].(float64) < 3_000_001 {
		t.Errorf("stats event: %v", stats)
	}
}

func TestAnUnknownCCAIsUnsupported(t *testing.T) {
	err := serverOf(testSupport)([]string{"--listen", "127.0.0.1:1", "--cca", "vegas9", "--cert", "c", "--key", "k"}, nil, nil)
	if _, unsupported := err.(endpoint.UnsupportedError); !unsupported || !strings.Contains(err.Error(), "reno, cubic") {
		t.Error(err)
	}
}
