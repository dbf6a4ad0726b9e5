package main

import (
	"testing"

	"cambrian/endpoint"
	"cambrian/endpoint/endpointtest"
)

func TestPageLoad(t *testing.T) {
	endpointtest.PageLoad(t, ccaCubic, endpoint.ALPNH3, runServer, runClient)
}
