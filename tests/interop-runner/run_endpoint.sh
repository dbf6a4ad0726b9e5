#!/bin/sh
# A program in the QUIC interop runner's convention, around the endpoint that QUINN names: all it is
# told comes from the convention's variables and places.
set -eu

[ "$TESTCASE" = transfer ] || exit 127

case "$ROLE" in
server)
    # the bodies are there, though this server makes its own
    [ "$(stat -c %s /www/1000000000000)" -gt 0 ]
    mkdir "$QLOGDIR/seen"
    exec "$QUINN" server --listen 0.0.0.0:443 --cca "$CCA" --cert /certs/cert.pem --key /certs/priv.key
    ;;
client)
    request=${REQUESTS##*/}
    [ "$(readlink "/downloads/$request")" = /dev/null ]
    server=${REQUESTS#https://}
    server=${server%%/*}
    address=$(getent hosts "${server%:*}" | cut -d' ' -f1)
    exec "$QUINN" client --connect "$address:${server#*:}" --bytes "$request"
    ;;
esac
