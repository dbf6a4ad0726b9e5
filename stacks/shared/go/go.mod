module cambrian/endpoint

go 1.26.0
