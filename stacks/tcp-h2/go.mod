module cambrian/stacks/tcp-h2

go 1.26.0

require (
	cambrian/endpoint v0.0.0
	golang.org/x/sys v0.47.0
)

replace cambrian/endpoint => ../shared/go
