package main

import (
	"strings"
	"testing"
)

func TestKnobs(t *testing.T) {
	server, err := parseServerOptions([]string{"--listen", "127.0.0.1:4433", "--cca", "cubic", "--cert", "c", "--key", "k",
		"--set", "initial_udp_payload_bytes=1300", "--set", "path_mtu_discovery=false"})
	if err != nil {
		t.Fatal(err)
	}
	if server.transport.initialUDPPayloadBytes != 1300 || server.transport.pathMTUDiscovery {
		t.Errorf("got %+v", server)
	}
	client, err := parseClientOptions([]string{"--connect", "127.0.0.1:4433", "--alpn", "h3"})
	if err != nil {
		t.Fatal(err)
	}
	if !client.transport.pathMTUDiscovery || client.Path != "" {
		t.Errorf("got %+v", client)
	}
}

func TestKnobsOutOfRange(t *testing.T) {
	for _, knob := range []string{"initial_udp_payload_bytes=1453", "path_mtu_discovery=maybe"} {
		_, err := parseClientOptions([]string{"--connect", "127.0.0.1:4433", "--alpn", "h3", "--set", knob})
		if name, _, _ := strings.Cut(knob, "="); err == nil || !(strings.Contains(err.Error(), name)) {
			t.Errorf("%s gave %v", knob, err)
		}
	}
}
